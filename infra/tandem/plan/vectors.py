"""The one type of vectors: the planner computes every candidate at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def array(*values: float) -> Array:
    """A vector of these numbers."""
    return np.array(values, dtype=np.float64)

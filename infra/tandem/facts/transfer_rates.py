"""What a network gives one engine for KV. As of 2026-12-01."""

from __future__ import annotations

from typing import Final

TCP_FLOW_GBPS: Final = 5.0
"""EC2's limit of one TCP flow outside a placement group (EC2 user guide, instance network bandwidth). A prompt's KV
goes over one connection between two engines, so a wider node does not help one request."""
EFA_SHARE: Final = 0.5
"""Part of an EFA interface's rate that one request's KV is counted on to get. Half is cautious: nothing is measured."""

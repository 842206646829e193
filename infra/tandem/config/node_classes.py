"""Which instance types may serve as which class of node: by their numbers, not by their names.

    compute    GPUs that hold a model (memory) and read prompts fast (dense BF16 rate)
    bandwidth  GPUs whose memory answers fast (bandwidth), in nodes with memory for KV that waits
    system     no GPU: a GPU that nobody uses costs the same

A type may be good for more than one class. The bounds stand in `limits`.
"""

from __future__ import annotations

import difflib

from tandem import limits
from tandem.config.base import NodeClass
from tandem.facts.instances import Instance, instances


def misfit(instance: Instance, node_class: NodeClass) -> str | None:
    """Why the type cannot be of the class; None where it can."""
    gpu = instance.accelerator
    if node_class is NodeClass.SYSTEM:
        if gpu is not None:
            return f"a system node needs no GPU, and this type has {instance.gpus} {gpu.name}"
        if instance.vcpus < limits.SYSTEM_NODE_VCPUS_MIN:
            return f"a system node needs {limits.SYSTEM_NODE_VCPUS_MIN} vCPUs, and this type has {instance.vcpus}"
        return None
    if gpu is None:
        return f"a {node_class} node needs GPUs, and this type has none"
    if node_class is NodeClass.COMPUTE:
        if gpu.memory_gib < limits.COMPUTE_GPU_MEMORY_GIB_MIN:
            least = limits.COMPUTE_GPU_MEMORY_GIB_MIN
            return f"a compute GPU needs {least} GiB of memory, and {gpu.name} has {gpu.memory_gib:g}"
        if (gpu.bf16_tflops or 0) < limits.COMPUTE_GPU_TFLOPS_MIN:
            least, known = limits.COMPUTE_GPU_TFLOPS_MIN, f"{gpu.bf16_tflops:g}" if gpu.bf16_tflops else "none known"
            return f"a compute GPU needs {least} BF16 TFLOPS, and {gpu.name} has {known}"
        return None
    if (gpu.bandwidth_gb_per_second or 0) < limits.BANDWIDTH_GPU_GB_PER_SECOND_MIN:
        least = limits.BANDWIDTH_GPU_GB_PER_SECOND_MIN
        known = f"{gpu.bandwidth_gb_per_second:g}" if gpu.bandwidth_gb_per_second else "none known"
        return f"a bandwidth GPU needs {least} GB/s of memory bandwidth, and {gpu.name} has {known}"
    if instance.memory_gib < limits.BANDWIDTH_NODE_MEMORY_GIB_MIN:
        least = limits.BANDWIDTH_NODE_MEMORY_GIB_MIN
        return f"a bandwidth node needs {least} GiB of memory, and this type has {instance.memory_gib:g}"
    return None


def fitting(node_class: NodeClass) -> tuple[str, ...]:
    """The types that may be of the class."""
    return tuple(name for name, instance in instances().items() if misfit(instance, node_class) is None)


def nearest(given: str, node_class: NodeClass) -> str:
    """The type of the class that is written most like `given`."""
    known = fitting(node_class)
    close = difflib.get_close_matches(given, known, n=1, cutoff=0.0)
    return close[0] if close else known[0]

"""Times and sizes of the container runtime, each with its reason."""

from __future__ import annotations

from typing import Final

START_SECONDS: Final = 60.0
"""Longest wait for a shim to say that its program runs. It takes 0.05 s on an idle machine; a starved one must not
lose pods for it."""
KILL_SECONDS: Final = 20.0
"""Longest wait for processes to vanish after SIGKILL. Only one that is stuck in the kernel takes longer, and that is
an error to report."""
SANDBOX_STOP_SECONDS: Final = 2.0
"""Grace of containers that still run when their sandbox is stopped: the kubelet has stopped them with the pod's own
grace before."""
DRAIN_SECONDS: Final = 1.0
"""Longest wait for the output of an executed command after its end: a child that it left behind may hold the pipe
for ever."""
MEMORY_CHECK_SECONDS: Final = 1.0
"""Between looks at memory use, which no event tells of. A look costs about 10 microseconds for each process of the
machine."""
STREAM_TOKEN_SECONDS: Final = 60.0
"""How long the address that Exec, Attach or PortForward returned may be used; the kubelet uses it at once."""
STREAM_OPEN_SECONDS: Final = 30.0
"""Longest wait for a client to open all the streams it announced."""

EXEC_OUTPUT_BYTES_MAX: Final = 8 * 1024 * 1024 - 4096
"""Of each of an ExecSync's two streams: both together must fit into the 16 MiB message that a kubelet accepts."""
MESSAGE_BYTES_MAX: Final = 64 * 1024 * 1024
"""gRPC messages: a list of all containers with their annotations must fit."""
SHM_BYTES: Final = 64 * 1024 * 1024
"""/dev/shm of a pod, as other runtimes size it. A pod that needs more mounts an emptyDir with medium Memory there,
here as elsewhere."""

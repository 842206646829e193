"""The last steps in the process that becomes a container's program, or a command executed in a container."""

# pathlib would cost each container 1 MB and 5 ms.
# ruff: noqa: PTH103

from __future__ import annotations

import fcntl
import os
import signal
import stat
import termios

from local import linux
from local.kubernetes.runtime import credentials, rootfs
from local.kubernetes.runtime.launch import Launch


class ExecuteFailed(OSError):
    """The program could not be executed; the text names it and says why."""

    def __str__(self) -> str:
        return str(self.strerror)


READY = b"\x01"
"""Sent when everything but the program itself is set up."""


def take_streams(stdin: int, stdout: int, stderr: int, *, terminal: bool) -> None:
    """Make these descriptors the standard streams, and a terminal the controlling one."""
    # Above the targets first: a descriptor that is itself 0, 1 or 2 would be overwritten before it is used.
    sources = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10) for descriptor in (stdin, stdout, stderr)]
    for target, source in enumerate(sources):
        os.dup2(source, target)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def enter_own_namespaces(launch: Launch, root: str) -> None:
    """Give this process, the first of its process namespace, its own view of the machine. Raises OSError."""
    if launch["network"] is not None:
        descriptor = os.open(launch["network"], os.O_RDONLY | os.O_CLOEXEC)
        linux.setns(descriptor, linux.CLONE_NEWNET)
        os.close(descriptor)
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC)
    linux.sethostname(launch["hostname"])
    _write("/proc/self/oom_score_adj", str(launch["oom_score_adj"]), needed=False)
    for key, value in launch["sysctls"].items():
        _write(f"/proc/sys/{key.replace('.', '/')}", value, needed=True)
    rootfs.build(root, launch["system_paths"], launch["binds"], launch["shm"], readonly_root=launch["readonly_root"])


def become(launch: Launch) -> None:
    """Take on identity and working folder, and have the kernel end this process with its parent. Raises OSError."""
    os.umask(0o022)
    os.makedirs(launch["cwd"], exist_ok=True)
    os.chdir(launch["cwd"])
    if launch["identity"]["apply"]:
        _hand_over_streams(launch["identity"]["uid"])
    credentials.assume(launch["identity"])
    # After the change of identity, which would undo it.
    linux.die_with_parent()
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _hand_over_streams(uid: int) -> None:
    """Let that user open its own streams again by /dev/stdout, as programs and images do that log to a file."""
    for descriptor in (0, 1, 2):
        mode = os.fstat(descriptor).st_mode
        # Not /dev/null, which belongs to everyone.
        if stat.S_ISFIFO(mode) or os.isatty(descriptor):
            os.fchown(descriptor, uid, -1)


def execute(argv: list[str], env: dict[str, str]) -> None:
    """Become the program; returns only by raising OSError that names it."""
    try:
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        raise ExecuteFailed(error.errno, f"{argv[0]}: {error.strerror}") from error


def _write(path: str, text: str, *, needed: bool) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        if needed:
            raise OSError(error.errno, f"{path} = {text}: {error.strerror}") from error

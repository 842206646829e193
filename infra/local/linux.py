"""The system calls of Linux that Python 3.11 has no function for, and the numbers that go with them."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_SHARED = 1 << 20
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38

_SYS_MOUNT_SETATTR = 442
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_AT_RECURSIVE = 0x8000
_AT_FDCWD = -100
_MOUNT_ATTR_RDONLY = 1


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """mount(2). Raises OSError naming `target`."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _check(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"mount on {target}")


def bind(source: str, target: str, *, readonly: bool = False) -> None:
    """Make `source`, and what is mounted below it, appear at `target` too. Raises OSError."""
    # Recursively: an unprivileged user may not take a tree without the mounts that cover parts of it.
    mount(source, target, None, MS_BIND | MS_REC)
    mount("none", target, None, MS_REC | MS_PRIVATE)
    if readonly:
        make_readonly(target)


def make_readonly(target: str) -> None:
    """Make the mount at `target`, and all below it, read-only. Raises OSError."""
    # struct mount_attr: attr_set, attr_clr, propagation, userns_fd.
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    arguments = (ctypes.c_int(_AT_FDCWD), os.fsencode(target), ctypes.c_uint(_AT_RECURSIVE), attributes)
    _check(_libc.syscall(_SYS_MOUNT_SETATTR, *arguments, ctypes.c_size_t(32)), f"read-only mount on {target}")


def unmount(target: str) -> None:
    """Detach the mount at `target` with all below it. Raises OSError."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def pivot_root(new_root: str) -> None:
    """Make the mount at `new_root` the root of this mount namespace and let go of the old one. Raises OSError."""
    os.chdir(new_root)
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    # "." twice stacks the old root on the new one, where it can be detached without a folder to put it in.
    _check(_libc.syscall(number, b".", b"."), f"pivot_root to {new_root}")
    _check(_libc.umount2(b".", MNT_DETACH), "detach the old root")
    os.chdir("/")


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _check(_libc.unshare(flags), f"unshare {flags:#x}")


def setns(descriptor: int, flags: int) -> None:
    """setns(2); `descriptor` is a namespace file or a pidfd. Raises OSError."""
    _check(_libc.setns(descriptor, flags), f"setns {flags:#x}")


def enter_network(file: Path) -> None:
    """Move this thread, and it alone, into the network namespace that `file` holds. Raises OSError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        setns(descriptor, CLONE_NEWNET)
    finally:
        os.close(descriptor)


def sethostname(name: str) -> None:
    """sethostname(2). Raises OSError."""
    text = os.fsencode(name)
    _check(_libc.sethostname(text, len(text)), f"sethostname {name}")


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that forked it ends. A change of credentials undoes it."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl PDEATHSIG")


def refuse_new_privileges() -> None:
    """Keep set-uid files from giving more rights. Raises OSError."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl NO_NEW_PRIVS")


def drop_capability(number: int) -> None:
    """Take one capability from what this process and its children may ever have. Raises OSError."""
    _check(_libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0), f"prctl CAPBSET_DROP {number}")


def _check(code: int, where: str) -> None:
    if code < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{where}: {os.strerror(number)}")

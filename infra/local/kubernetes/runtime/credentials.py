"""Who a container's process is: user, groups and capabilities."""

from __future__ import annotations

import os

from local import linux
from local.kubernetes.runtime.launch import Identity

CAPABILITIES = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
]
"""Every capability, at the place of its number."""

DEFAULT = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FSETID",
    "FOWNER",
    "MKNOD",
    "NET_RAW",
    "SETGID",
    "SETUID",
    "SETFCAP",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "SYS_CHROOT",
    "KILL",
    "AUDIT_WRITE",
]
"""What container runtimes leave to a container that asks for nothing."""


def remaining(added: list[str], dropped: list[str]) -> list[int]:
    """Numbers of the capabilities a container keeps. Raises ValueError for a name that does not exist."""
    add, drop = ([name.upper().removeprefix("CAP_") for name in names] for names in (added, dropped))
    for name in (*add, *drop):
        if name not in (*CAPABILITIES, "ALL"):
            raise ValueError(f"capability {name} does not exist; use a name of capabilities(7) such as NET_ADMIN")
    kept = set() if "ALL" in drop else set(CAPABILITIES if "ALL" in add else DEFAULT)
    kept.update(name for name in add if name != "ALL")
    kept.difference_update(drop)
    return sorted(CAPABILITIES.index(name) for name in kept)


def assume(identity: Identity) -> None:
    """Make this process, and what it executes, that identity for good. Raises OSError."""
    keep = identity["capabilities"]
    if keep is not None:
        for number in range(len(CAPABILITIES)):
            if number not in keep:
                _drop(number)
    if identity["no_new_privileges"]:
        linux.refuse_new_privileges()
    if not identity["apply"]:
        return
    os.setgroups(identity["groups"])
    os.setresgid(identity["gid"], identity["gid"], identity["gid"])
    os.setresuid(identity["uid"], identity["uid"], identity["uid"])


def _drop(number: int) -> None:
    try:
        linux.drop_capability(number)
    except OSError as error:
        # A kernel older than the capability does not know its number, so there is nothing to drop.
        if error.errno != 22:
            raise

"""Decides who a container's process is, from the pod's security context and the image's USER."""

from __future__ import annotations

import grp
import pwd
from pathlib import Path
from typing import Any

from local.kubernetes.runtime import credentials
from local.kubernetes.runtime.faults import refused
from local.kubernetes.runtime.launch import Identity


def in_user_namespace() -> bool:
    """Whether this process is root of a user namespace only, where no other users exist."""
    fields = Path("/proc/self/uid_map").read_text(encoding="utf-8").split()
    return fields != ["0", "0", "4294967295"]


def resolve(context: Any, image_user: str, image_name: str, *, user_namespace: bool) -> tuple[Identity, list[str]]:
    """The identity, and notes about what of it is not honoured. `context` is a LinuxContainerSecurityContext.

    Raises RuntimeFault for a user, group or capability that does not exist.
    """
    user, _, group = image_user.partition(":")
    if context.HasField("run_as_user"):
        user, group = str(context.run_as_user.value), ""
    elif context.run_as_username:
        user, group = context.run_as_username, ""
    where = f"image {image_name}: USER {image_user}" if image_user else "pod"
    uid, gid = _user(user, where)
    if context.HasField("run_as_group"):
        gid = context.run_as_group.value
    elif group:
        gid = _group(group, where)
    groups = sorted({gid, *context.supplemental_groups})
    identity: Identity = {
        "apply": not user_namespace,
        "uid": uid,
        "gid": gid,
        "groups": groups,
        "capabilities": None if context.privileged else _capabilities(context),
        "no_new_privileges": context.no_new_privs,
    }
    notes = []
    if user_namespace and (uid, gid) != (0, 0):
        notes.append(
            f"simulated: it runs as root of a user namespace, not as {uid}:{gid}; "
            "start the local cloud as root to honour that"
        )
    return identity, notes


def home_of(uid: int) -> str:
    """The home folder of a user; `/` for one this machine does not know, as other runtimes do."""
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return "/"


def _capabilities(context: Any) -> list[int]:
    try:
        return credentials.remaining(
            list(context.capabilities.add_capabilities), list(context.capabilities.drop_capabilities)
        )
    except ValueError as error:
        raise refused(f"securityContext.capabilities: {error}") from error


def _user(user: str, where: str) -> tuple[int, int]:
    if not user:
        return 0, 0
    if user.isdigit():
        try:
            return int(user), pwd.getpwuid(int(user)).pw_gid
        except KeyError:
            return int(user), 0
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise refused(
            f"{where}: user {user} - this machine knows no such user. Write its number, which works everywhere."
        ) from None
    return entry.pw_uid, entry.pw_gid


def _group(group: str, where: str) -> int:
    if group.isdigit():
        return int(group)
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        raise refused(
            f"{where}: group {group} - this machine knows no such group. Write its number, which works everywhere."
        ) from None

"""The file system a container sees, built in the container's own mount namespace just before its program starts.

The root is an empty tmpfs. The node's programs and libraries appear in it read-only, since an image here brings only
its program and its Python environment. /etc is a folder of links to the node's /etc, so that files and mounts of the
container can take any place in it.
"""

# pathlib would cost each container 1 MB and 5 ms.
# ruff: noqa: PTH101, PTH102, PTH103, PTH108, PTH112, PTH114, PTH115, PTH118, PTH120, PTH208, PTH211

from __future__ import annotations

import os

from local import linux
from local.kubernetes.runtime.launch import Bind

HOST_ETC = "/.node/etc"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "var/tmp", "var/log", "var/cache", "root", "home", "opt", "mnt", "etc")


def build(root: str, system_paths: list[str], binds: list[Bind], shm: str, *, readonly_root: bool) -> None:
    """Build the container's root at the folder `root` and make it this process's root.

    Must run in a mount namespace and a process namespace of its own. Raises OSError that names the path.
    """
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NODEV, "mode=755")
    for name in _FOLDERS:
        os.makedirs(f"{root}/{name}", exist_ok=True)
    for name in ("tmp", "var/tmp"):
        os.chmod(f"{root}/{name}", 0o1777)
    for path in system_paths:
        _show_system_path(root, path)
    _fill_etc(root)
    _fill_dev(root, shm)
    linux.mount("proc", f"{root}/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    linux.bind("/sys", f"{root}/sys", readonly=True)
    for bind in binds:
        _bind(root, bind)
    linux.pivot_root(root)
    if readonly_root:
        linux.mount("none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NODEV)


def _show_system_path(root: str, path: str) -> None:
    target = root + path
    if os.path.lexists(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
    elif os.path.isdir(path):
        os.mkdir(target)
        linux.bind(path, target, readonly=True)


def _fill_etc(root: str) -> None:
    os.makedirs(root + HOST_ETC)
    linux.bind("/etc", root + HOST_ETC, readonly=True)
    _link_entries("/etc", HOST_ETC, f"{root}/etc")


def _link_entries(source: str, link_to: str, folder: str) -> None:
    """Fill `folder` with what `source` has: its own links as they are, everything else by a link below `link_to`."""
    for name in os.listdir(source):
        path = f"{source}/{name}"
        os.symlink(os.readlink(path) if os.path.islink(path) else f"{link_to}/{name}", f"{folder}/{name}")


def _fill_dev(root: str, shm: str) -> None:
    dev = f"{root}/dev"
    linux.mount("tmpfs", dev, "tmpfs", linux.MS_NOSUID, "mode=755")
    for name in _DEVICES:
        _touch(f"{dev}/{name}")
        linux.bind(f"/dev/{name}", f"{dev}/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"{dev}/{name}")
    linux.mount(
        "devpts", f"{dev}/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"
    )
    linux.bind(shm, f"{dev}/shm")
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd")):
        os.symlink(target, f"{dev}/{name}")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{dev}/{name}")


def _bind(root: str, bind: Bind) -> None:
    target = _make_room(root, bind["target"], folder=os.path.isdir(bind["source"]))
    linux.bind(bind["source"], target, readonly=bind["readonly"])


def _make_room(root: str, path: str, *, folder: bool) -> str:
    """Make a place to mount on at `path` of the container. Links are followed inside the container's root, never out
    of it."""
    here = root
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for index, part in enumerate(parts):
        here = f"{here}/{part}"
        last = index == len(parts) - 1
        if os.path.islink(here):
            _replace_link(root, here)
        if os.path.lexists(here):
            continue
        if folder or not last:
            os.mkdir(here)
        else:
            _touch(here)
    return here


def _replace_link(root: str, path: str) -> None:
    """Put what a link of the container's root points to in the link's place, so that mounts can go on or below it."""
    target = os.path.normpath(
        os.path.join(path[len(root) :] if path.startswith(root) else path, "..", os.readlink(path))
    )
    source = f"{root}{target}"
    os.unlink(path)
    if not os.path.isdir(source):
        _touch(path)
        return
    os.mkdir(path)
    if target.startswith(HOST_ETC):
        _link_entries(source, target, path)
    else:
        linux.bind(source, path)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))

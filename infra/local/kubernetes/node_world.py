"""Makes what a node's processes need before the first of them starts: address, certificate, files, mount namespace.

`python -m local.kubernetes.node_world --files DIR NODE` (NODE as JSON) ends when all is there, and changes nothing that is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from ipaddress import IPv4Address
from pathlib import Path

from local import limits, mounts
from local.kubernetes.certificates import ensure_leaf, kubeconfig, node_leaf
from local.kubernetes.node import KUBELET_ROOT, WORLDS, Node, kubelet_configuration, world_file
from local.paths import RegionPaths
from local.records import write_text


def make(node: Node, paths: RegionPaths) -> None:
    """All of it. Raises OSError or CalledProcessError."""
    folder = paths.nodes / node.name
    for name in ("pki", "kubelet", "logs", "volume-plugins"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["ip", "address", "replace", f"{node.address}/32", "dev", limits.BRIDGE],
        check=True,
        capture_output=True,
        text=True,
    )
    ensure_leaf(paths.pki, node_leaf(node.name, IPv4Address(node.address)), folder / "pki")
    server = f"https://{limits.GATEWAY}:{limits.API_SERVER_PORT}"
    write_text(folder / "kubeconfig", kubeconfig(paths.pki, server, folder / "pki" / "kubelet", node.name))
    configuration = kubelet_configuration(node, folder, paths.pki, user_namespace=in_user_namespace())
    write_text(folder / "kubelet.json", json.dumps(configuration, indent=1))
    if not _is_namespace(world_file(node)):
        _make_mounts(node, folder)


def unmake(node: Node, paths: RegionPaths) -> None:
    """Takes it away again, after the node's processes ended."""
    world = world_file(node)
    if _is_namespace(world):
        subprocess.run(["umount", str(world)], check=False, capture_output=True)
    world.unlink(missing_ok=True)
    subprocess.run(
        ["ip", "address", "del", f"{node.address}/32", "dev", limits.BRIDGE], check=False, capture_output=True
    )
    subprocess.run(["rm", "-rf", "--one-file-system", str(paths.nodes / node.name)], check=False)


def in_user_namespace() -> bool:
    """Whether root here is an ordinary user outside."""
    return Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]


def _is_namespace(file: Path) -> bool:
    """Whether a mount namespace is bound there: such a file's device is the kernel's nsfs, not the folder's."""
    return file.exists() and file.stat().st_dev != file.parent.stat().st_dev


def _make_mounts(node: Node, folder: Path) -> None:
    """A mount namespace with a /var/lib/kubelet of its own, kept by a file after this process ends."""
    WORLDS.mkdir(exist_ok=True)
    file = world_file(node)
    file.touch()
    ready_reader, ready_writer = os.pipe()
    kept_reader, kept_writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(kept_writer)
        os.close(ready_reader)
        try:
            mounts.unshare_mounts()
            mounts.make_private(Path("/"))
            # Also where /var/lib cannot be written to, and without leaving a folder there.
            mounts.mount_tmpfs(KUBELET_ROOT.parent)
            KUBELET_ROOT.mkdir()
            mounts.bind(folder / "kubelet", KUBELET_ROOT)
            # Mounts that the kubelet makes for a pod must show in the pod's own namespace: rslave there needs shared here.
            mounts.make_shared(KUBELET_ROOT)
            os.write(ready_writer, b"1")
            os.read(kept_reader, 1)
            os._exit(0)
        except OSError as error:
            print(f"node {node.name}: {error.filename or ''} {error.strerror}", file=sys.stderr, flush=True)
            os._exit(1)
    os.close(ready_writer)
    os.close(kept_reader)
    try:
        if not os.read(ready_reader, 1):
            raise OSError(f"node {node.name}: its mount namespace could not be made")
        mounts.bind(Path(f"/proc/{child}/ns/mnt"), file)
    finally:
        os.close(kept_writer)
        os.close(ready_reader)
        os.waitpid(child, 0)


def main() -> int:
    """Returns an exit code; the supervisor tries again after a failure."""
    parser = argparse.ArgumentParser(prog="local.kubernetes.node_world", description=__doc__)
    parser.add_argument("--files", type=Path, required=True, help="folder of the region")
    parser.add_argument("node", type=json.loads, help="the node as JSON")
    options = parser.parse_args()
    node = Node.from_json(options.node)
    try:
        make(node, RegionPaths(options.files))
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(error.cmd)}: {error.stderr.strip()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

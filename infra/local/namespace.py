"""The private world of the local cloud: its own network without a route out, its own processes, its own mounts.

The keeper starts it with `command`; its first process calls `furnish` before anything else runs in it. When that first process
ends, the kernel ends every process inside and with them every mount, address and rule, so nothing has to be cleaned up.
"""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from local import limits, linux, mounts
from local.paths import INSIDE
from local.regions import Region

UPLINK: Final = "uplink"
"""A region's own end of its connection to the backbone."""


def command(argv: list[str]) -> list[str]:
    """The command line that runs `argv` as the first process of a new world, root of it for an ordinary user too."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    # --kill-child: the world ends with `unshare` itself, whatever kills it.
    return ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *argv]


def furnish(state: Path, regions: tuple[Region, ...]) -> None:
    """Set up mounts and networks of the world this process is the first of; `state` is then at `INSIDE` too.

    Raises OSError or CalledProcessError with the tool's own words.
    """
    _mount_run(state)
    _set_sysctls()
    _ip(backbone_commands())
    for region in regions:
        subprocess.run(["ip", "netns", "add", region.network], check=True, capture_output=True, text=True)
        _ip(uplink_commands(region))
        with ThreadPoolExecutor(1, initializer=linux.enter_network, initargs=(region.network_file,)) as inside:
            inside.submit(_set_sysctls).result()
        _ip(region_commands(region), "-n", region.network)


def _mount_run(state: Path) -> None:
    # Opened first: where `state` itself lies below /run, the tmpfs hides its path.
    folder = os.open(state, os.O_PATH | os.O_DIRECTORY)
    try:
        # `ip netns` and others keep files in /run, which an ordinary user cannot write and which would outlive the world.
        mounts.mount_tmpfs(Path("/run"))
        for name in (INSIDE, Path("/run/netns"), Path("/run/lock")):
            name.mkdir()
        mounts.bind(Path(f"/proc/self/fd/{folder}"), INSIDE)
    finally:
        os.close(folder)


def _set_sysctls() -> None:
    for key, value in sysctls().items():
        path = Path("/proc/sys") / key
        if path.exists():
            path.write_text(value)


def _ip(commands: str, *options: str) -> None:
    subprocess.run(["ip", *options, "-batch", "-"], input=commands, text=True, check=True, capture_output=True)


def sysctls() -> dict[str, str]:
    """Kernel settings of the network namespace, as paths below /proc/sys."""
    return {
        "net/ipv4/ip_forward": "1",  # a pod reaches a Service's address through the bridge's own
        "net/ipv4/conf/all/rp_filter": "0",  # answers of a Service may come back another way than the question went
        "net/ipv4/conf/default/rp_filter": "0",
        "net/ipv4/conf/all/send_redirects": "0",  # pods that share the bridge must not be told to go around it
        "net/ipv4/conf/default/send_redirects": "0",
        "net/ipv4/ip_nonlocal_bind": "1",  # the edge may listen before its address is on the bridge
        "net/bridge/bridge-nf-call-iptables": "1",  # where the kernel has it: Services between pods of one bridge
    }


def backbone_commands() -> str:
    """What `ip -batch` has to do for the local cloud's own network."""
    return "\n".join(
        (
            "link set lo up",
            f"link add {limits.BACKBONE_BRIDGE} type bridge",
            f"address add {limits.AWS_ADDRESS}/{limits.BACKBONE.prefixlen} dev {limits.BACKBONE_BRIDGE}",
            f"link set {limits.BACKBONE_BRIDGE} up",
            "",
        )
    )


def uplink_commands(region: Region) -> str:
    """What connects a region's network namespace to the backbone."""
    return "\n".join(
        (
            f"link add {region.uplink} type veth peer name {UPLINK} netns {region.network}",
            f"link set {region.uplink} master {limits.BACKBONE_BRIDGE} up",
            "",
        )
    )


def region_commands(region: Region) -> str:
    """What is done inside it: loopback, the way to the backbone, the bridge, a route for the Services' addresses.

    There is no other route: to whatever is neither here nor of a VPC that a route table leads to, there is no way.
    """
    return "\n".join(
        (
            "link set lo up",
            f"address add {region.address}/{limits.BACKBONE.prefixlen} dev {UPLINK}",
            f"link set {UPLINK} up",
            f"link add {limits.BRIDGE} type bridge",
            f"address add {limits.GATEWAY}/32 dev {limits.BRIDGE}",
            f"link set {limits.BRIDGE} up",
            # Without a route, a packet to a Service is refused before kube-proxy's rules can give it a real destination.
            f"route add {limits.SERVICES} dev {limits.BRIDGE} src {limits.GATEWAY}",
            "",
        )
    )

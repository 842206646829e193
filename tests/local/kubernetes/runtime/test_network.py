from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import grpc
import pytest
from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime.addresses import hardware_address, next_address
from local.kubernetes.runtime.faults import RuntimeFault

SERVER = (
    "import http.server; http.server.HTTPServer(('0.0.0.0', 80), http.server.SimpleHTTPRequestHandler).serve_forever()"
)
NET = IPv4Network("10.0.0.0/29")


def addresses(*numbers: int) -> list[IPv4Address]:
    return [NET.network_address + number for number in numbers]


def test_addresses_go_round_so_that_one_just_given_up_is_used_last() -> None:
    assert next_address(NET, [], None) == addresses(1)[0]
    assert next_address(NET, [], addresses(3)[0]) == addresses(4)[0]
    assert next_address(NET, addresses(4), addresses(3)[0]) == addresses(5)[0]
    assert next_address(NET, [], addresses(6)[0]) == addresses(1)[0]


def test_the_gateway_and_the_ends_of_the_subnet_are_never_given_out() -> None:
    given = next_address(NET, addresses(1, 2, 3, 4), None, reserved=addresses(5))
    assert given == addresses(6)[0]
    with pytest.raises(RuntimeFault, match="all 8 addresses are taken"):
        next_address(NET, addresses(1, 2, 3, 4, 6), None, reserved=addresses(5))


def test_a_last_address_of_another_subnet_does_no_harm() -> None:
    assert next_address(NET, [], IPv4Address("192.168.0.7")) == addresses(1)[0]


def test_the_hardware_address_follows_from_the_address() -> None:
    assert hardware_address(IPv4Address("10.200.128.9")) == "02:00:0a:c8:80:09"


def test_pods_reach_each_other_and_themselves_and_the_node_reaches_them(node: Any) -> None:
    server, client = node.run_sandbox("server"), node.run_sandbox("client")
    node.launch(server, image="python", args=["-c", SERVER])
    shell = node.launch(client, image="python", args=["-c", "import time; time.sleep(600)"])
    address = node.address(server[0])
    ask = (
        "import time, urllib.request\n"
        "for _ in range(200):\n"
        "    try:\n"
        f"        print(urllib.request.urlopen('http://{address}/', timeout=5).status); break\n"
        "    except OSError: time.sleep(0.05)\n"
    )
    assert node.output(shell, "python", "-c", ask) == "200\n"
    assert (
        node.output(shell, "python", "-c", "import socket; print(socket.gethostbyname('localhost'))") == "127.0.0.1\n"
    )
    assert node.world.ask(run=["python3", "-c", ask])["out"] == "200\n"


def test_a_pod_has_the_bridges_mtu_and_a_route_and_its_port_turns_packets_back(node: Any) -> None:
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, "exec sleep 60")
    assert "default via 10.200.0.1 dev eth0" in node.output(container, "ip", "route")
    assert "10.200.0.0/16 dev eth0" in node.output(container, "ip", "route")
    assert "mtu 1500" in node.output(container, "ip", "link", "show", "eth0")
    port = node.world.run("ip", "-details", "link", "show", f"veth{sandbox[0][:11]}")
    assert "hairpin on" in port


def test_a_pod_of_the_nodes_network_has_no_address_of_its_own(node: Any) -> None:
    config = node.sandbox_config("host-network")
    config.linux.security_context.namespace_options.network = cri.NODE
    sandbox = node.runtime.RunPodSandbox(cri.RunPodSandboxRequest(config=config)).pod_sandbox_id
    assert node.address(sandbox) == ""
    container = node.launch((sandbox, config), "ip -o link show tandem0; hostname")
    assert node.wait_exited(container).exit_code == 0
    assert node.log_lines(container)[-1].endswith("ip-10-200-128-5.ec2.internal")


def test_an_address_is_free_again_only_when_its_sandbox_is_removed(own_node: Any) -> None:
    node = own_node  # its subnet has six addresses
    sandboxes = [node.run_sandbox(f"pod-{number}")[0] for number in range(6)]
    assert len({node.address(sandbox) for sandbox in sandboxes}) == 6
    freed = node.address(sandboxes[2])
    node.stop_sandbox(sandboxes[2])
    with pytest.raises(grpc.RpcError, match="all 8 addresses are taken") as caught:
        node.run_sandbox()
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    node.remove_sandbox(sandboxes[2])
    assert node.address(node.run_sandbox()[0]) == freed


def test_addresses_stay_taken_through_the_death_of_the_runtime(own_node: Any) -> None:
    node = own_node
    first = node.address(node.run_sandbox("first")[0])
    node.stop(9)
    node.start()
    assert node.address(node.run_sandbox("second")[0]) != first


def test_many_pods_at_once_each_have_an_address_and_run(node: Any) -> None:
    def one(number: int) -> tuple[str, int]:
        sandbox = node.run_sandbox(f"crowd-{number}")
        container = node.launch(sandbox, f"exit {number}")
        return node.address(sandbox[0]), node.wait_exited(container, 60).exit_code

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(one, range(12)))
    assert len({address for address, _ in found}) == 12
    assert [code for _, code in found] == list(range(12))


def test_a_removed_pod_leaves_no_link_no_namespace_and_no_mount(node: Any) -> None:
    sandbox = node.run_sandbox()
    node.launch(sandbox, "exec sleep 60")
    node.remove_sandbox(sandbox[0])
    assert sandbox[0][:11] not in node.world.run("ip", "link")
    assert sandbox[0][:20] not in node.world.run("ip", "netns")
    assert sandbox[0] not in node.world.run("cat", "/proc/mounts")

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local.kubernetes.cri import runtime_pb2 as cri

node_module = sys.modules["runtime_test_node"]


@pytest.fixture(scope="module")
def user_node(images: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A runtime as an ordinary user has it: root of a user namespace only."""
    try:
        world = node_module.World(user=True)
    except AssertionError:
        pytest.skip("user namespaces are refused on this machine")
    node = node_module.Node(world, tmp_path_factory.mktemp("user-node"), images, cache)
    yield node
    node.stop(15)
    world.close()


def test_a_pod_runs_without_root(user_node: Any) -> None:
    node = user_node
    sandbox = node.run_sandbox("rootless", sysctls={"net.ipv4.ip_local_port_range": "40000 49999"})
    container = node.launch(sandbox, "id -u; cat /proc/sys/net/ipv4/ip_local_port_range; exec sleep 60")
    assert node.output(container, "id", "-u") == "0\n"
    assert node.output(container, "sh", "-c", "touch /dev/shm/x /tmp/x && echo ok") == "ok\n"
    node.stop_container(container, 0)
    assert node.status(container).exit_code == 137
    node.remove_sandbox(sandbox[0])
    assert "pod-" not in node.world.run("ip", "netns")


def test_the_images_user_is_not_honoured_and_that_is_said(user_node: Any) -> None:
    node = user_node
    script = "import os; print(os.getuid())"
    container = node.launch(node.run_sandbox(), image="python", args=["-c", script])
    assert node.wait_exited(container).exit_code == 0, node.log_lines(container)
    assert node.log_lines(container)[-1].endswith(" 0")
    assert "runs as root of a user namespace, not as 10001:10002" in node.info(container)["notes"][0]


def test_pods_are_taken_over_without_root_too(user_node: Any) -> None:
    node = user_node
    container = node.launch(node.run_sandbox(), "exec sleep 600")
    node.stop(9)
    node.start()
    assert node.status(container).state == cri.CONTAINER_RUNNING
    node.remove_container(container)

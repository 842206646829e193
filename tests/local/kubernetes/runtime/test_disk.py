from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from local.kubernetes.cri import runtime_pb2 as cri


@pytest.fixture
def small(own_node: Any) -> Iterator[Any]:
    """A runtime whose state is on a small file system of its own."""
    node = own_node
    node.stop(15)
    node.world.ask(mount=str(node.state), options="size=2m")
    node.start()
    yield node
    for sandbox in node.runtime.ListPodSandbox(cri.ListPodSandboxRequest()).items:
        node.remove_sandbox(sandbox.id)
    node.stop(15)
    node.world.run("umount", str(node.state))
    node.start()


def fill(node: Any) -> None:
    node.world.ask(run=["sh", "-c", f"cat /dev/zero > {node.state}/filler"])


def free(node: Any) -> None:
    node.world.run("rm", f"{node.state}/filler")


def test_a_full_disk_is_an_error_and_no_running_pod_is_lost(small: Any) -> None:
    node = small
    sandbox = node.run_sandbox("before")
    container = node.launch_trapped(sandbox, "trap 'exit 3' TERM")
    fill(node)
    with pytest.raises(grpc.RpcError) as caught:
        node.run_sandbox("during")
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "No space left" in caught.value.details()
    with pytest.raises(grpc.RpcError, match="No space left"):
        node.create(sandbox, "true", name="second")
    assert node.status(container).state == cri.CONTAINER_RUNNING
    assert [item.metadata.name for item in node.runtime.ListPodSandbox(cri.ListPodSandboxRequest()).items] == ["before"]
    free(node)
    node.wait_exited(node.launch(sandbox, "true", name="second"))
    node.stop_container(container, 10)
    assert node.status(container).exit_code == 3


def test_an_end_on_a_full_disk_is_written_down_when_there_is_room_again(small: Any) -> None:
    node = small
    container = node.launch(node.run_sandbox(), "while ! [ -e /dev/shm/go ]; do sleep 0.01; done; exit 11")
    folder = Path("containers") / container
    fill(node)
    node.execute(container, "touch", "/dev/shm/go")
    free(node)
    assert node.wait_exited(container).exit_code == 11
    assert "11" in node.world.run("cat", str(node.state / folder / "exit.json"))


def test_a_failed_start_leaves_no_half_made_sandbox_behind(small: Any) -> None:
    node = small
    before = node.world.run("ip", "netns")
    fill(node)
    for _ in range(8):
        with pytest.raises(grpc.RpcError):
            node.run_sandbox()
    free(node)
    assert node.world.run("ip", "netns") == before
    assert len({node.address(node.run_sandbox()[0]) for _ in range(6)}) == 6, "failed ones keep no address"

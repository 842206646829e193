from __future__ import annotations

from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime.memory import memory_over_limit

HOG = "import time; data = bytearray(150 << 20); time.sleep(60)"


def limited(megabytes: int) -> Any:
    return cri.LinuxContainerConfig(resources=cri.LinuxContainerResources(memory_limit_in_bytes=megabytes << 20))


def test_a_container_over_its_limit_is_killed_and_says_that_this_is_simulated(node: Any) -> None:
    container = node.launch(node.run_sandbox(), image="python", args=["-c", HOG], linux=limited(60))
    status = node.wait_exited(container)
    assert (status.exit_code, status.reason) == (137, "OOMKilled")
    assert "limit of 60 MiB" in status.message
    assert "simulated" in status.message


def test_the_processes_of_a_container_count_together(node: Any) -> None:
    child = "import time; data = bytearray(40 << 20); time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {child!r}])"
    script = f"import subprocess, sys; [child.wait() for child in [{start} for _ in range(3)]]"
    container = node.launch(node.run_sandbox(), image="python", args=["-c", script], linux=limited(100))
    assert node.wait_exited(container).reason == "OOMKilled"


def test_a_container_within_its_limit_is_left_alone(node: Any) -> None:
    container = node.launch(
        node.run_sandbox(), image="python", args=["-c", "import time; time.sleep(2.5)"], linux=limited(60)
    )
    assert node.wait_exited(container).reason == "Completed"


def test_a_limit_can_be_lowered_while_it_runs(node: Any) -> None:
    container = node.launch(node.run_sandbox(), image="python", args=["-c", HOG], linux=limited(500))
    resources = cri.LinuxContainerResources(memory_limit_in_bytes=50 << 20)
    node.runtime.UpdateContainerResources(cri.UpdateContainerResourcesRequest(container_id=container, linux=resources))
    assert node.status(container).resources.linux.memory_limit_in_bytes == 50 << 20
    assert node.wait_exited(container).reason == "OOMKilled"


def test_processes_that_are_gone_use_nothing() -> None:
    assert memory_over_limit(1, [2**22 + 1]) is None

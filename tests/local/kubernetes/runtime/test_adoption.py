from __future__ import annotations

import json
import signal
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri

FOREVER = "trap 'exit 0' TERM; n=0; while :; do n=$((n+1)); echo $n; sleep 0.05; done"


def test_a_pod_lives_through_the_death_of_the_runtime_and_is_taken_over(own_node: Any) -> None:
    node = own_node
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, FOREVER)
    before, address = node.process(container), node.address(sandbox[0])
    node.stop(signal.SIGKILL)
    node.start()
    assert node.status(container).state == cri.CONTAINER_RUNNING
    assert node.process(container) == before
    assert node.address(sandbox[0]) == address
    assert node.output(container, "echo", "still here") == "still here\n"
    seen = len(node.log_lines(container))
    while len(node.log_lines(container)) <= seen:
        pass
    node.stop_container(container, 10)
    assert node.status(container).exit_code == 0, "it was asked, not killed"


def test_a_runtime_that_is_asked_to_end_leaves_its_pods_running(own_node: Any) -> None:
    container = own_node.launch(own_node.run_sandbox(), FOREVER)
    own_node.stop(signal.SIGTERM)
    own_node.start()
    assert own_node.status(container).state == cri.CONTAINER_RUNNING


def test_an_end_that_came_while_no_runtime_ran_is_seen(own_node: Any) -> None:
    node = own_node
    container = node.launch(node.run_sandbox(), "while ! [ -e /dev/shm/go ]; do sleep 0.01; done; echo bye; exit 42")
    folder = node.state / "containers" / container
    pid = node.process(container)["pid"]
    node.stop(signal.SIGKILL)
    node.world.run("nsenter", "-t", str(pid), "-m", "touch", "/dev/shm/go")
    while not (folder / "exit.json").exists():
        pass
    node.start()
    status = node.status(container)
    assert (status.state, status.exit_code) == (cri.CONTAINER_EXITED, 42)
    assert node.log_lines(container)[-1].endswith("bye")


def test_a_container_whose_first_process_is_killed_has_ended_with_137(own_node: Any) -> None:
    container = own_node.launch(own_node.run_sandbox(), FOREVER)
    own_node.world.ask(kill=own_node.process(container)["pid"], signal=signal.SIGKILL)
    status = own_node.wait_exited(container)
    assert (status.exit_code, status.reason) == (137, "Error")
    assert "signal 9" in status.message


def test_a_container_ends_with_its_shim_and_says_why(own_node: Any) -> None:
    node = own_node
    container = node.launch(node.run_sandbox(), "sleep 1000 & sleep 1000 & " + FOREVER)
    node.world.ask(kill=node.process(container)["shim_pid"], signal=signal.SIGKILL)
    status = node.wait_exited(container)
    assert (status.exit_code, status.reason) == (137, "Error")
    assert "shim" in status.message
    assert not [line for line in node.processes() if "sleep 1000" in line]


def test_a_container_whose_shim_died_while_no_runtime_ran_is_known_to_have_ended(own_node: Any) -> None:
    node = own_node
    container = node.launch(node.run_sandbox(), FOREVER)
    shim = node.process(container)["shim_pid"]
    node.stop(signal.SIGKILL)
    node.world.ask(kill=shim, signal=signal.SIGKILL)
    while node.world.ask(run=["kill", "-0", str(shim)])["code"] == 0:
        pass
    node.start()
    status = node.wait_exited(container)
    assert status.exit_code in (137, 255)
    assert status.message
    # And so it stays, whoever asks later.
    node.stop(signal.SIGKILL)
    node.start()
    assert node.status(container).exit_code == status.exit_code


def test_a_number_that_another_process_has_by_now_is_not_taken_for_the_container(own_node: Any) -> None:
    node = own_node
    container = node.launch(node.run_sandbox(), "exit 0")
    node.wait_exited(container)
    folder = node.state / "containers" / container
    node.stop(signal.SIGKILL)
    # As after a restart of the machine: no word of the end, and the numbers belong to someone else.
    (folder / "exit.json").unlink()
    record = json.loads((folder / "process.json").read_text())
    record.update(pid=1, shim_pid=1)
    (folder / "process.json").write_text(json.dumps(record))
    node.start()
    status = node.wait_exited(container)
    assert (status.exit_code, status.reason) == (255, "Unknown")


def test_a_start_that_the_runtime_did_not_live_to_see_is_a_start_error(own_node: Any) -> None:
    node = own_node
    container = node.create(node.run_sandbox(), "true")
    node.stop(signal.SIGKILL)
    (node.state / "containers" / container / "shim.lock").touch()
    node.start()
    status = node.status(container)
    assert (status.state, status.exit_code, status.reason) == (cri.CONTAINER_EXITED, 128, "StartError")


def test_a_container_that_was_only_created_can_be_started_by_the_next_runtime(own_node: Any) -> None:
    node = own_node
    container = node.create(node.run_sandbox(), "exit 6")
    node.stop(signal.SIGKILL)
    node.start()
    node.runtime.StartContainer(cri.StartContainerRequest(container_id=container))
    assert node.wait_exited(container).exit_code == 6


def test_a_sandbox_whose_network_vanished_is_not_ready_any_more(own_node: Any) -> None:
    node = own_node
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, FOREVER)
    node.stop(signal.SIGKILL)
    node.world.run("ip", "link", "delete", f"veth{sandbox[0][:11]}")
    node.start()
    request = cri.PodSandboxStatusRequest(pod_sandbox_id=sandbox[0])
    assert node.runtime.PodSandboxStatus(request).status.state == cri.SANDBOX_NOTREADY
    assert node.wait_exited(container).exit_code == 137


def test_a_sandbox_that_was_only_half_made_leaves_nothing(own_node: Any) -> None:
    node = own_node
    sandbox = node.run_sandbox()
    record_file = node.state / "sandboxes" / sandbox[0] / "record.json"
    node.stop(signal.SIGKILL)
    record = json.loads(record_file.read_text())
    record["state"] = "creating"
    record_file.write_text(json.dumps(record))
    node.start()
    assert not node.runtime.ListPodSandbox(cri.ListPodSandboxRequest()).items
    assert sandbox[0][:11] not in node.world.run("ip", "link")
    assert sandbox[0][:20] not in node.world.run("ip", "netns")


def test_two_runtimes_never_share_a_state(own_node: Any) -> None:
    reply = own_node.world.ask(run=own_node._command)
    assert reply["code"] == 1
    assert "another runtime uses this state" in reply["err"]


def test_purge_ends_and_removes_every_pod(own_node: Any) -> None:
    node = own_node
    for name in ("one", "two"):
        node.launch(node.run_sandbox(name), "exec sleep 1234")
    node.stop(signal.SIGTERM)
    node.world.run(*node._command, "--purge")
    assert not [line for line in node.processes() if "sleep 1234" in line]
    assert not list((node.state / "sandboxes").iterdir())
    assert not list((node.state / "containers").iterdir())
    node.start()

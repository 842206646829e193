from __future__ import annotations

from typing import Any

import grpc
import pytest
from local.kubernetes.cri import runtime_pb2 as cri


def test_a_container_runs_and_its_exit_code_is_reported(node: Any) -> None:
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, "echo $GREETING; echo oops >&2; exit 3")
    status = node.wait_exited(container)
    assert (status.exit_code, status.reason) == (3, "Error")
    assert status.created_at <= status.started_at <= status.finished_at
    lines = node.log_lines(container)
    assert any(line.endswith(" stdout F hello world") for line in lines), lines
    assert any(line.endswith(" stderr F oops") for line in lines), lines


def test_exit_code_zero_is_completed(node: Any) -> None:
    status = node.wait_exited(node.launch(node.run_sandbox(), "true"))
    assert (status.exit_code, status.reason, status.message) == (0, "Completed", "")


def test_a_container_that_kills_itself_shows_the_signal(node: Any) -> None:
    # Not by the first process: in its own process namespace the kernel protects it from its own signals.
    status = node.wait_exited(node.launch(node.run_sandbox(), "sh -c 'kill -9 $$'; exit $?"))
    assert status.exit_code == 137


def test_without_arguments_the_image_gives_them(node: Any) -> None:
    container = node.launch(node.run_sandbox())
    node.wait_exited(container)
    assert node.log_lines(container)[0].endswith("stdout F from CMD")


def test_a_command_of_the_pod_replaces_entrypoint_and_arguments_of_the_image(node: Any) -> None:
    container = node.launch(node.run_sandbox(), command=["/bin/echo", "mine"])
    node.wait_exited(container)
    assert [line.split(" ", 3)[3] for line in node.log_lines(container)] == ["mine"]


def test_a_program_that_does_not_exist_is_a_start_error_that_names_it(node: Any) -> None:
    container = node.create(node.run_sandbox(), command=["/no/such/program"])
    with pytest.raises(grpc.RpcError) as caught:
        node.runtime.StartContainer(cri.StartContainerRequest(container_id=container))
    assert caught.value.details().endswith("could not be started - /no/such/program: No such file or directory")
    status = node.status(container)
    assert (status.state, status.exit_code, status.reason) == (cri.CONTAINER_EXITED, 128, "StartError")
    assert status.started_at == status.finished_at, "a start of 0 would be shown as a run of decades"


def test_a_container_starts_once_only(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "true")
    with pytest.raises(grpc.RpcError) as caught:
        node.runtime.StartContainer(cri.StartContainerRequest(container_id=container))
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION


def test_the_containers_of_a_pod_share_network_and_shared_memory_but_not_tmp(node: Any) -> None:
    sandbox = node.run_sandbox()
    one = node.launch(
        sandbox, "echo shared >/dev/shm/note; touch /tmp/own; ip addr >/tmp/net; exec sleep 60", name="one"
    )
    two = node.launch(sandbox, "exec sleep 60", name="two")
    node.output(one, "sh", "-c", "until [ -f /tmp/net ]; do sleep 0.01; done")
    assert node.output(two, "cat", "/dev/shm/note") == "shared\n"
    assert node.output(two, "ls", "/tmp") == ""
    links = [node.output(each, "readlink", "/proc/1/ns/net") for each in (one, two)]
    assert links[0] == links[1]


def test_lists_are_filtered_by_state_label_and_sandbox(node: Any) -> None:
    first, second = node.run_sandbox("first"), node.run_sandbox("second")
    running = node.launch(first, "exec sleep 60", labels={"kind": "a"})
    ended = node.launch(second, "true", labels={"kind": "a"})
    node.wait_exited(ended)

    def ids(**given: Any) -> set[str]:
        request = cri.ListContainersRequest(filter=cri.ContainerFilter(**given))
        return {container.id for container in node.runtime.ListContainers(request).containers}

    assert {running, ended} <= ids(label_selector={"kind": "a"})
    assert ids(pod_sandbox_id=first[0]) == {running}
    assert running not in ids(state=cri.ContainerStateValue(state=cri.CONTAINER_EXITED))
    assert ids(label_selector={"kind": "b"}) == set()
    labels = {"io.kubernetes.pod.name": "second"}
    pods = node.runtime.ListPodSandbox(cri.ListPodSandboxRequest(filter=cri.PodSandboxFilter(label_selector=labels)))
    assert [item.id for item in pods.items] == [second[0]]


def test_a_stopped_sandbox_has_no_running_container_and_takes_no_new_one(node: Any) -> None:
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, "exec sleep 60")
    node.stop_sandbox(sandbox[0])
    node.stop_sandbox(sandbox[0])
    assert node.status(container).state == cri.CONTAINER_EXITED
    request = cri.PodSandboxStatusRequest(pod_sandbox_id=sandbox[0])
    assert node.runtime.PodSandboxStatus(request).status.state == cri.SANDBOX_NOTREADY
    with pytest.raises(grpc.RpcError, match="not ready"):
        node.create(sandbox, "true")


def test_removing_is_done_once_and_asked_for_any_number_of_times(node: Any) -> None:
    sandbox = node.run_sandbox()
    container = node.launch(sandbox, "exec sleep 60")
    for _ in range(2):
        node.remove_container(container)
        node.remove_sandbox(sandbox[0])
    with pytest.raises(grpc.RpcError) as caught:
        node.status(container)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    node.stop_container("nothing", 1)


def test_events_tell_what_happens_to_a_container(node: Any) -> None:
    stream = node.runtime.GetContainerEvents(cri.GetEventsRequest())
    sandbox = node.run_sandbox()
    node.wait_exited(node.launch(sandbox, "exit 5"))
    kinds = [next(stream) for _ in range(3)]
    stream.cancel()
    assert [event.container_event_type for event in kinds] == [
        cri.CONTAINER_CREATED_EVENT,
        cri.CONTAINER_STARTED_EVENT,
        cri.CONTAINER_STOPPED_EVENT,
    ]
    assert kinds[-1].containers_statuses[0].exit_code == 5


@pytest.mark.parametrize(
    ("name", "message"),
    [("pid", "processes of its own"), ("handler", "runtimeClassName"), ("port", "hostPort")],
)
def test_what_the_simulation_cannot_do_is_refused_with_the_reason(node: Any, name: str, message: str) -> None:
    config = node.sandbox_config("refused")
    if name == "pid":
        config.linux.security_context.namespace_options.pid = cri.POD
    if name == "port":
        config.port_mappings.add(container_port=80, host_port=80)
    request = cri.RunPodSandboxRequest(config=config, runtime_handler="gvisor" if name == "handler" else "")
    with pytest.raises(grpc.RpcError, match=message) as caught:
        node.runtime.RunPodSandbox(request)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_the_runtime_says_that_it_is_ready_and_what_is_simulated(node: Any) -> None:
    response = node.runtime.Status(cri.StatusRequest(verbose=True))
    assert {condition.type: condition.status for condition in response.status.conditions} == {
        "RuntimeReady": True,
        "NetworkReady": True,
    }
    assert "memory limits are watched" in response.info["simulated"]
    assert node.runtime.RuntimeConfig(cri.RuntimeConfigRequest()).linux.cgroup_driver == cri.CGROUPFS
    node.runtime.UpdateRuntimeConfig(cri.UpdateRuntimeConfigRequest())

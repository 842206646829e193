from __future__ import annotations

import time
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri


def test_a_container_that_heeds_the_signal_ends_by_itself(node: Any) -> None:
    container = node.launch_trapped(node.run_sandbox(), "trap 'echo bye; exit 7' TERM")
    node.stop_container(container, 20)
    assert node.status(container).exit_code == 7
    assert node.log_lines(container)[-1].endswith("bye")


def test_a_container_that_ignores_the_signal_is_killed_after_the_grace(node: Any) -> None:
    container = node.launch_trapped(node.run_sandbox(), "trap '' TERM")
    began = time.monotonic()
    node.stop_container(container, 1)
    assert 1 <= time.monotonic() - began < 10
    assert node.status(container).exit_code == 137


def test_a_grace_of_zero_kills_at_once(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "exec sleep 1000")
    node.stop_container(container, 0)
    assert node.status(container).exit_code == 137


def test_a_second_stop_with_less_grace_is_not_held_up_by_the_first(node: Any) -> None:
    container = node.launch_trapped(node.run_sandbox(), "trap '' TERM")
    patient = node.runtime.StopContainer.future(cri.StopContainerRequest(container_id=container, timeout=100))
    node.stop_container(container, 0)
    patient.result(timeout=10)
    assert node.status(container).exit_code == 137


def test_no_process_survives_its_container_not_even_one_that_left_its_group(node: Any) -> None:
    own_group = "setsid sh -c 'trap \"\" TERM HUP; exec sleep 4321' & (sleep 4321 &)"
    container = node.launch(node.run_sandbox(), f"{own_group}; trap 'exit 0' TERM; while :; do sleep 0.05; done")
    node.execute(container, "sh", "-c", "(setsid sleep 4321 >/dev/null 2>&1 &)")
    while len([line for line in node.processes() if "sleep 4321" in line]) < 3:
        pass
    node.stop_container(container, 10)
    assert not [line for line in node.processes() if "sleep 4321" in line]
    node.remove_container(container)


def test_removing_a_running_container_ends_all_of_it(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "sleep 5432 & exec sleep 5432")
    node.remove_container(container)
    assert not [line for line in node.processes() if "sleep 5432" in line]


def test_the_pods_stop_signal_is_the_one_that_is_sent(node: Any) -> None:
    traps = "trap 'exit 9' USR1; trap 'exit 8' TERM"
    container = node.launch_trapped(node.run_sandbox(), traps, stop_signal=cri.SIGUSR1)
    node.stop_container(container, 10)
    assert node.status(container).exit_code == 9

from __future__ import annotations

from typing import Any

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

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest
from local.kubernetes.runtime import limits


@pytest.fixture(scope="module")
def container(node: Any) -> str:
    return str(node.launch(node.run_sandbox(), "exec sleep 1000"))


def test_a_command_gives_its_output_and_exit_code(node: Any, container: str) -> None:
    done = node.execute(container, "sh", "-c", "echo out; echo err >&2; exit 4")
    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 4)


def test_a_command_sees_the_containers_processes_files_and_environment(node: Any, container: str) -> None:
    assert node.output(container, "cat", "/proc/1/cmdline").split("\0")[0] == "sleep"
    assert node.output(container, "sh", "-c", "echo $GREETING") == "hello world\n"


def test_a_program_that_is_not_there_gives_127(node: Any, container: str) -> None:
    done = node.execute(container, "nothing-of-that-name")
    assert done.exit_code == 127
    assert b"nothing-of-that-name" in done.stderr


def test_a_command_that_takes_too_long_is_killed(node: Any, container: str) -> None:
    began = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        node.execute(container, "sleep", "777", seconds=1)
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began < 10
    assert not [line for line in node.processes() if "sleep 777" in line]


def test_a_child_left_behind_does_not_hold_the_answer_up(node: Any, container: str) -> None:
    began = time.monotonic()
    done = node.execute(container, "sh", "-c", "sleep 30 & echo done")
    assert done.stdout == b"done\n"
    assert time.monotonic() - began < 10


def test_output_over_the_cap_is_cut_and_the_command_still_ends(node: Any, container: str) -> None:
    done = node.execute(container, "sh", "-c", "head -c 20000000 /dev/zero; exit 0")
    assert len(done.stdout) == limits.EXEC_OUTPUT_BYTES_MAX
    assert done.exit_code == 0


def test_arguments_arrive_as_they_are(node: Any, container: str) -> None:
    odd = ["--", "-x", "a b", "", "ä€", "$HOME", "line\nbreak"]
    done = node.execute(container, "sh", "-c", 'for word; do printf "%s|" "$word"; done', "sh", *odd)
    assert done.stdout.decode() == "".join(f"{word}|" for word in odd)


def test_nothing_is_executed_in_a_container_that_has_ended(node: Any) -> None:
    ended = node.launch(node.run_sandbox(), "true")
    node.wait_exited(ended)
    with pytest.raises(grpc.RpcError, match="does not run") as caught:
        node.execute(ended, "true")
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION


def test_an_empty_command_is_refused(node: Any, container: str) -> None:
    with pytest.raises(grpc.RpcError, match="no command given"):
        node.execute(container)

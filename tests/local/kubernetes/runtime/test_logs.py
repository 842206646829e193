from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime.container_log import LINE_BYTES_MAX, LogFile

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) ([FP]) (.*)")


def entries(path: Path) -> list[tuple[str, str, str]]:
    found = []
    for line in path.read_text().splitlines():
        match = LINE.fullmatch(line)
        assert match, f"not in the format of the CRI: {line[:80]}"
        found.append((match[1], match[2], match[3]))
    return found


def test_a_line_that_comes_in_pieces_is_one_line(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"))
    for piece in (b"a", b"b\nc", b"d\n"):
        log.write("stdout", piece)
    assert entries(tmp_path / "0.log") == [("stdout", "F", "ab"), ("stdout", "F", "cd")]


def test_a_line_over_the_limit_is_written_in_parts_that_join_to_it(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"))
    text = "".join(chr(97 + number % 26) for number in range(2 * LINE_BYTES_MAX + 5))
    log.write("stderr", text.encode() + b"\n")
    found = entries(tmp_path / "0.log")
    assert [tag for _, tag, _ in found] == ["P", "P", "F"]
    assert "".join(part for _, _, part in found) == text


def test_the_two_streams_do_not_mix_within_a_line(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"))
    log.write("stdout", b"out")
    log.write("stderr", b"err\n")
    log.write("stdout", b"put\n")
    assert entries(tmp_path / "0.log") == [("stderr", "F", "err"), ("stdout", "F", "output")]


def test_output_without_an_end_of_line_is_kept_at_the_end(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"))
    log.write("stdout", b"last words")
    log.finish()
    assert entries(tmp_path / "0.log") == [("stdout", "F", "last words")]


def test_a_full_disk_loses_lines_and_counts_them() -> None:
    log = LogFile("/dev/full")
    log.write("stdout", b"lost\n")
    assert log.bytes_lost > 0


def test_everything_a_short_container_said_is_in_its_log(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "seq 1 20000; printf end")
    node.wait_exited(container)
    found = entries(Path(node.status(container).log_path))
    assert [text for _, _, text in found] == [*map(str, range(1, 20001)), "end"]


def test_a_log_that_was_renamed_goes_on_in_a_new_file_when_asked_to(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "echo one; while ! [ -e /tmp/go ]; do sleep 0.01; done; echo two")
    path = Path(node.status(container).log_path)
    while not (path.exists() and path.read_text()):
        pass
    rotated = path.with_suffix(".1")
    path.rename(rotated)
    node.runtime.ReopenContainerLog(cri.ReopenContainerLogRequest(container_id=container))
    assert path.exists()
    node.execute(container, "touch", "/tmp/go")
    node.wait_exited(container)
    assert [text for _, _, text in entries(rotated)] == ["one"]
    assert [text for _, _, text in entries(path)] == ["two"]

"""`tandem weights check` reads folders as they are, and every fault of a file is one line that names it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tandem.cli import tandem
from tandem.errors import ConfigError
from tandem.ops import checkpoint_files, pair_check

from tests.tandem.plan.pairing.checkpoints import LLAMA, W4A16, W8A8_FP8

NORM = "model.norm.weight"


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    """A file in the safetensors format."""
    header: dict[str, Any] = {}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def checkpoint(folder: Path, quantization: dict[str, Any], norm: bytes = b"\1\2\3\4") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": quantization}))
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"a": 0}}, "padding": None}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    (folder / "model.safetensors").write_bytes(safetensors({NORM: ("BF16", [2], norm)}))
    return folder


@pytest.fixture
def prefill(tmp_path: Path) -> Path:
    return checkpoint(tmp_path / "prefill", W8A8_FP8)


@pytest.fixture
def decode(tmp_path: Path) -> Path:
    return checkpoint(tmp_path / "decode", W4A16)


def run(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(tandem, ["weights", "check", *map(str, arguments), "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return int(done.return_value), json.loads(done.stdout)


def test_a_good_pair_is_compatible_and_ends_with_0(prefill: Path, decode: Path) -> None:
    assert run("--prefill", prefill, "--decode", decode) == (0, {"verdict": "compatible", "reasons": []})


def test_metadata_alone_is_enough(prefill: Path, decode: Path) -> None:
    for file in (prefill, decode):
        for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json"):
            (file / name).unlink()
    assert run("--prefill", prefill, "--decode", decode)[0] == 0


def test_a_bad_pair_says_why_and_what_to_do(prefill: Path, tmp_path: Path) -> None:
    other = checkpoint(tmp_path / "other", W4A16, norm=b"\5\6\7\0")
    code, answer = run("--prefill", prefill, "--decode", other)
    assert code == 1
    assert answer["verdict"] == "incompatible"
    assert [set(reason) for reason in answer["reasons"]] == [{"code", "where", "message", "fix"}]
    assert answer["reasons"][0]["code"] == "base_model"


def test_how_a_tokenizer_was_last_used_or_is_formatted_means_nothing(prefill: Path, decode: Path) -> None:
    content = {"padding": {"strategy": "BatchLongest"}, "model": {"vocab": {"a": 0}}}
    (decode / "tokenizer.json").write_text(json.dumps(content, indent=3))
    assert run("--prefill", prefill, "--decode", decode)[0] == 0


def test_a_template_in_a_file_of_its_own_is_the_one_that_counts(prefill: Path, decode: Path) -> None:
    (decode / "chat_template.jinja").write_text("{{ messages }}")
    assert run("--prefill", prefill, "--decode", decode)[0] == 0
    (decode / "chat_template.jinja").write_text("{{ messages }}!")
    assert run("--prefill", prefill, "--decode", decode)[1]["reasons"][0]["code"] == "chat_template"


def test_engines_are_taken_from_a_file(prefill: Path, decode: Path, tmp_path: Path) -> None:
    engine = tmp_path / "engine.json"
    sides = {
        "prefill": {
            "instance_type": "p5en.48xlarge",
            "args": {"kv-cache-dtype": "bfloat16", "tp-size": 2, "page-size": 64},
        },
        "decode": {"instance_type": "p5en.48xlarge", "args": {"kv-cache-dtype": "auto", "tp-size": 2, "page-size": 64}},
    }
    engine.write_text(json.dumps(sides))
    _, answer = run("--prefill", prefill, "--decode", decode, "--engine", engine)
    assert [reason["code"] for reason in answer["reasons"]] == ["kv_dtype"]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("{", "engine.json"),
        ("[]", "engine.json"),
        ('{"gateway": {}}', "gateway"),
        ('{"prefill": {"instance_type": "p9.huge"}}', "prefill.instance_type"),
        ('{"prefill": {"args": {"kv-cash-dtype": "auto"}}}', "prefill.args.kv-cash-dtype"),
        ('{"prefill": {"args": {"page-size": "many"}}}', "prefill.args.page-size"),
        ('{"prefill": {"argz": {}}}', "prefill.argz"),
        ('{"prefill": 3}', "prefill"),
    ],
)
def test_a_wrong_description_of_engines_is_one_clear_fault(tmp_path: Path, content: str, where: str) -> None:
    engine = tmp_path / "engine.json"
    engine.write_text(content)
    with pytest.raises(ConfigError) as caught:
        pair_check.read_engines(engine)
    assert [where in str(fault) for fault in caught.value.faults] == [True]


def damaged(content: bytes) -> dict[str, bytes]:
    return {
        "cut off in its length": content[:4],
        "cut off in its header": content[:20],
        "a header that is no JSON": content[:8] + b"\xff" * (len(content) - 8),
        "a header of an absurd length": struct.pack("<Q", 2**60) + content[8:],
        "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94",
        "nothing": b"",
    }


@pytest.mark.parametrize("how", damaged(b""))
def test_a_damaged_file_is_named(prefill: Path, how: str) -> None:
    file = prefill / "model.safetensors"
    file.write_bytes(damaged(file.read_bytes())[how])
    with pytest.raises(ConfigError) as caught:
        checkpoint_files.read(prefill)
    (fault,) = caught.value.faults
    assert fault.where == str(file)


def test_a_tensor_that_is_in_two_files_is_found(prefill: Path) -> None:
    (prefill / "more.safetensors").write_bytes((prefill / "model.safetensors").read_bytes())
    with pytest.raises(ConfigError, match="in two files"):
        checkpoint_files.read(prefill)


def test_every_fault_of_both_folders_is_found_at_once(prefill: Path, tmp_path: Path) -> None:
    (prefill / "config.json").write_text("[1]")
    with pytest.raises(ConfigError) as caught:
        pair_check.run(prefill, tmp_path / "no-such-folder", tmp_path / "no-such-file")
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "hf_quant_config.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"[" * 100_000])
def test_json_that_is_none_is_named(prefill: Path, name: str, content: bytes) -> None:
    (prefill / name).write_bytes(content)
    with pytest.raises(ConfigError, match=name):
        checkpoint_files.read(prefill)

"""Reads a checkpoint's metadata: its JSON files, its tokenizer and the headers of its safetensors files. No tensor library is needed."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from tandem.errors import ConfigError, Fault
from tandem.plan.pairing.files import CheckpointFiles, Tensor

JSON_BYTES_MAX: Final = 256 * 1024 * 1024
"""The largest tokenizer.json in use has 35 MB; a larger file is no metadata."""
HEADER_BYTES_MAX: Final = 100_000_000
"""The format's own limit of a header."""
SMALL_BYTES: Final = 1024 * 1024
"""Tensors up to this size are compared by their bytes: norms, biases and scales, which tell bases apart."""
TOKENIZERS: Final = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "tiktoken.model",
    "added_tokens.json",
)
NOT_MEANING: Final = ("padding", "truncation")
"""Keys of tokenizer.json that a library writes as it last used them."""
SCALES: Final = (".k_scale", ".v_scale", ".kv_scale")


def read(folder: Path) -> CheckpointFiles:
    """The metadata of the checkpoint in `folder`. Raises `ConfigError` with every file that cannot be read as what it should be."""
    if not folder.is_dir():
        raise ConfigError([Fault(str(folder), "", "is no folder", "Name the folder with the checkpoint's config.json")])
    faults: list[Fault] = []
    config = _object(folder / "config.json", faults)
    if config is None and not faults:
        fix = "Name a folder in the Hugging Face layout"
        faults.append(Fault(str(folder / "config.json"), "", "is not there - it says what the checkpoint is", fix))
    modelopt = _object(folder / "hf_quant_config.json", faults)
    generation = _object(folder / "generation_config.json", faults)
    tokenizer_config = _object(folder / "tokenizer_config.json", faults) or {}
    tokenizer = dict(_tokenizer(folder, faults))
    template = _template(folder, tokenizer_config, faults)
    tensors: dict[str, Tensor] = {}
    digests: dict[str, str] = {}
    scales: dict[str, float] = {}
    files = sorted(folder.glob("*.safetensors"))
    for file in files:
        _header(file, tensors, digests, scales, faults)
    if faults:
        raise ConfigError(faults)
    assert config is not None
    return CheckpointFiles(
        where=str(folder),
        config=config,
        modelopt=modelopt,
        generation=generation,
        tokenizer=tokenizer,
        chat_template=template,
        tensors=tensors if files else None,
        digests=digests,
        scales=scales,
    )


def _object(file: Path, faults: list[Fault]) -> dict[str, Any] | None:
    """A JSON object; None where there is no such file, or a fault was added."""
    if not file.is_file():
        return None
    try:
        if file.stat().st_size > JSON_BYTES_MAX:
            raise ValueError(f"has over {JSON_BYTES_MAX // 2**20} MiB")
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        faults.append(Fault(str(file), "", f"cannot be read as JSON: {' '.join(str(error).split())}", "Fetch it again"))
        return None
    if not isinstance(value, dict):
        faults.append(Fault(str(file), type(value).__name__, "must hold a JSON object", "Fetch it again"))
        return None
    return value


def _tokenizer(folder: Path, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    for name in TOKENIZERS:
        file = folder / name
        if not file.is_file():
            continue
        if name.endswith(".json"):
            content = _object(file, faults) or {}
            kept = {key: value for key, value in content.items() if key not in NOT_MEANING}
            data = json.dumps(kept, sort_keys=True).encode()
        else:
            data = file.read_bytes()
        yield name, hashlib.sha256(data).hexdigest()


def _template(folder: Path, tokenizer_config: Mapping[str, Any], faults: list[Fault]) -> str | None:
    """A file of its own wins over the tokenizer's configuration, as in transformers."""
    if (folder / "chat_template.jinja").is_file():
        return (folder / "chat_template.jinja").read_text(encoding="utf-8", errors="replace")
    if (folder / "chat_template.json").is_file():
        found = (_object(folder / "chat_template.json", faults) or {}).get("chat_template")
    else:
        found = tokenizer_config.get("chat_template")
    return found if isinstance(found, str) or found is None else json.dumps(found, sort_keys=True)


def _header(
    file: Path, tensors: dict[str, Tensor], digests: dict[str, str], scales: dict[str, float], faults: list[Fault]
) -> None:
    """Adds one safetensors file. Its data may be missing: then only the header counts."""
    try:
        with file.open("rb") as stream:
            header, start = _read_header(stream)
            size = file.stat().st_size
            for name, entry in header.items():
                if name == "__metadata__":
                    continue
                tensor = Tensor(str(entry["dtype"]), tuple(int(n) for n in entry["shape"]))
                if name in tensors:
                    raise ValueError(f"{name} is in two files")
                tensors[name] = tensor
                begin, end = (int(offset) for offset in entry["data_offsets"])
                if 0 <= begin <= end <= begin + SMALL_BYTES and start + end <= size:
                    stream.seek(start + begin)
                    data = stream.read(end - begin)
                    digests[name] = hashlib.sha256(data).hexdigest()
                    if name.endswith(SCALES):
                        scales[name] = _number(tensor.dtype, data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
        faults.append(Fault(str(file), "", f"is no whole safetensors file: {error}", "Fetch it again"))


def _read_header(stream: BinaryIO) -> tuple[dict[str, Any], int]:
    """(header, offset of the data). The first 8 bytes are the header's length, little endian."""
    length = struct.unpack("<Q", stream.read(8))[0]
    if length > HEADER_BYTES_MAX:
        raise ValueError(f"its header would have {length} bytes")
    text = stream.read(length)
    if len(text) < length:
        raise ValueError("its header is cut off")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header, 8 + length


def _number(dtype: str, data: bytes) -> float:
    if dtype == "BF16" and len(data) == 2:
        return float(struct.unpack("<f", b"\0\0" + data)[0])
    formats = {"F32": "<f", "F16": "<e", "F64": "<d"}
    return float(struct.unpack(formats[dtype], data)[0])

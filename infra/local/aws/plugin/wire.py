"""Property structs of the provider protocol <-> plain Python.

On the wire a value may be unknown (a magic string), a secret or an output value (magic objects). In Python an unknown is
`UNKNOWN`, a secret is `Secret(value)`; an output value becomes the one or the other, or its plain value. Whole numbers
come as floats and are turned back into ints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import struct_pb2

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class _Unknown:
    """The one value that stands for what only a real run will tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: Any) -> _Unknown:
        return self


UNKNOWN = _Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that must stay marked as secret on its way back. Its text never appears in `repr`."""

    value: Any

    def __repr__(self) -> str:
        return "Secret(...)"


def from_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    return {key: from_value(value) for key, value in struct.fields.items()}


def from_value(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value == UNKNOWN_TEXT else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [from_value(item) for item in value.list_value.values]
    if kind == "struct_value":
        return _from_object(value.struct_value)
    return None


def _from_object(struct: struct_pb2.Struct) -> Any:
    fields = struct.fields
    signature = fields[SIGNATURE].string_value if SIGNATURE in fields else None
    if signature == SECRET:
        return Secret(from_value(fields["value"]))
    if signature == OUTPUT:
        value = from_value(fields["value"]) if "value" in fields else UNKNOWN
        return Secret(value) if "secret" in fields and fields["secret"].bool_value else value
    if signature == RESOURCE:
        # A resource given where its id is meant; the id is all that the provider can use.
        return from_value(fields["id"]) if "id" in fields else UNKNOWN
    return from_struct(struct)


def to_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    for key, value in values.items():
        struct.fields[key].CopyFrom(to_value(value))
    return struct


def to_value(value: Any) -> struct_pb2.Value:
    if value is UNKNOWN:
        return struct_pb2.Value(string_value=UNKNOWN_TEXT)
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, int | float):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    if isinstance(value, Secret):
        return struct_pb2.Value(struct_value=to_struct({SIGNATURE: SECRET, "value": value.value}))
    if isinstance(value, Mapping):
        return struct_pb2.Value(struct_value=to_struct(value))
    if isinstance(value, list | tuple):
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[to_value(item) for item in value]))
    raise TypeError(f"{type(value).__name__} cannot be a resource property")


def plain(value: Any) -> Any:
    """The value without its secret marks."""
    if isinstance(value, Secret):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def has_secret(value: Any) -> bool:
    if isinstance(value, Secret):
        return True
    if isinstance(value, Mapping):
        return any(has_secret(item) for item in value.values())
    return isinstance(value, list) and any(has_secret(item) for item in value)


def has_unknown(value: Any) -> bool:
    if value is UNKNOWN:
        return True
    if isinstance(value, Secret):
        return has_unknown(value.value)
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    return isinstance(value, list) and any(has_unknown(item) for item in value)

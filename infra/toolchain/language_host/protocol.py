"""The engine's protocol messages, imported without the rest of the pulumi SDK.

The SDK's packages import everything below them (0.3 s), which every engine command would pay before its program starts.
The generated modules need only their own folders, so that bare packages with the same path stand in for the real ones.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

_PACKAGES = ("pulumi", "pulumi.runtime", "pulumi.runtime.proto", "pulumi.runtime.proto.codegen")


def _prepare() -> None:
    if "pulumi" in sys.modules:  # the whole SDK is loaded already
        return
    found = importlib.util.find_spec("pulumi")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'pulumi'", name="pulumi")
    sdk = Path(next(iter(found.submodule_search_locations)))
    for name in _PACKAGES:
        package = types.ModuleType(name)
        package.__path__ = [str(sdk.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


_prepare()

import grpc  # noqa: E402
from google.protobuf import empty_pb2  # noqa: E402
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2  # noqa: E402

__all__ = ["empty_pb2", "grpc", "language_pb2", "language_pb2_grpc", "plugin_pb2"]

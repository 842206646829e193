"""Writes the Python messages and gRPC stubs of the kubelet's two interfaces from the Go modules' own .proto files.

The files come from the Go module cache, so they are exactly the versions that the kubelet is built from. They import
nothing: older versions had gogoproto options, and should they come back, protoc says so.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]

HERE = Path(__file__).resolve().parent
IMPORT_ROOT = HERE.parents[2]
MODULE_FOLDER = IMPORT_ROOT / "toolchain" / "kube"


@dataclass(frozen=True)
class Source:
    """One .proto file of a Go module."""

    module: str
    path: str
    target: str
    """Name of the Python module, without `_pb2`."""


SOURCES = (
    Source("k8s.io/cri-api", "pkg/apis/runtime/v1/api.proto", "runtime"),
    Source("k8s.io/kubelet", "pkg/apis/deviceplugin/v1beta1/api.proto", "deviceplugin"),
)


def module_folder(module: str) -> Path:
    """Where the Go module that `infra/toolchain/kube/go.mod` pins lies. Raises CalledProcessError if Go cannot get
    it."""
    command = ["go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module]
    found = subprocess.run(command, cwd=MODULE_FOLDER, check=True, capture_output=True, text=True)
    return Path(found.stdout.strip())


def generate(target_root: Path = IMPORT_ROOT) -> None:
    """Write `*_pb2.py` and `*_pb2_grpc.py` below `target_root`. Raises RuntimeError if a file does not compile."""
    package = HERE.relative_to(IMPORT_ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        for source in SOURCES:
            text = (module_folder(source.module) / source.path).read_text(encoding="utf-8")
            # The folder decides the import that the stubs contain, so it has to be the package's.
            file = Path(scratch) / package / f"{source.target}.proto"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            command = [
                "protoc",
                f"-I{scratch}",
                f"--python_out={target_root}",
                f"--grpc_python_out={target_root}",
                str(file),
            ]
            if protoc.main(command) != 0:
                raise RuntimeError(f"{source.module}/{source.path}: protoc refused it; its words are above")


if __name__ == "__main__":
    generate()

"""What a person may choose about the local cloud: the `cloud` part of an environment file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from tandem.errors import ConfigError, Fault

Port = Annotated[int, Field(ge=0, le=65535)]


class Strict(BaseModel):
    """Frozen; unknown keys are errors; a field's docstring is its description."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Doors(Strict):
    """The ports on 127.0.0.1 that lead into the local cloud. 0 takes any free port; `status` says which."""

    aws: Port = 14566
    """The AWS API (moto)."""
    kubernetes: Port = 16443
    """The Kubernetes API server."""
    edge: Port = 18443
    """HTTPS of the first internet-facing load balancer."""

    @model_validator(mode="after")
    def _are_distinct(self) -> Doors:
        ports = [port for port in (self.aws, self.kubernetes, self.edge) if port]
        if len(set(ports)) < len(ports):
            raise ValueError(f"two doors share a port: aws {self.aws}, kubernetes {self.kubernetes}, edge {self.edge}")
        return self


class Settings(Strict):
    """The local cloud as a person wants it."""

    kind: Literal["local"] = "local"
    """Tells this cloud from a real one in the environment file."""
    doors: Doors = Doors()
    """Ports on the host."""
    regions: tuple[str, ...] = Field(default=("us-east-1",), min_length=1)
    """AWS regions whose EKS node groups get nodes. More regions make each look at moto slower."""
    account_id: str = Field(default="123456789012", pattern=r"^\d{12}$")
    """The account moto plays; its own identities administer the cluster, as the creator of an EKS cluster does."""
    node_start_delay_seconds: float = Field(default=0.0, ge=0, le=3600)
    """Time from the wish for a node to its first process. A real GPU node takes minutes; 0 keeps tests short."""
    images_as: dict[str, str] = Field(default_factory=dict)
    """Image -> the image that plays it, where a machine cannot run the real one."""
    hosted_zones: dict[str, str] = Field(default_factory=dict)
    """Route 53 zones that the account has from its beginning: id -> domain."""
    images: Path | None = None
    """Folder with the image definitions. None: `images/` of the checkout."""
    binaries: Path | None = None
    """Folder with `kube` and `coredns`. None: the pinned toolchain's."""

    @property
    def images_folder(self) -> Path:
        return self.images if self.images is not None else Path(__file__).resolve().parents[2] / "images"


def load_settings(file: Path | None) -> Settings:
    """Read settings from `file` (JSON), or the defaults if it is None.

    Raises ConfigError with every fault at once.
    """
    if file is None:
        return Settings()
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        fault = Fault(
            str(file),
            "",
            f"cannot be read: {error.strerror}",
            "Name a JSON file with the `cloud` part of an environment",
        )
        raise ConfigError([fault]) from error
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ConfigError(
            [Fault(str(file), "", f"is not JSON: {error}", "Correct it, or leave --settings out")]
        ) from error
    return parse_settings(given, str(file))


def parse_settings(given: object, where: str) -> Settings:
    """Check `given`, which was read from `where`. Raises ConfigError with every fault at once."""
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        raise ConfigError(
            [_as_fault(where, detail["loc"], detail["msg"], detail["input"]) for detail in error.errors()]
        ) from error


def _as_fault(where: str, location: tuple[str | int, ...], message: str, value: object) -> Fault:
    path = ".".join(str(part) for part in location)
    if message.startswith("Extra inputs"):
        known = Doors.model_fields if location[0] == "doors" else Settings.model_fields
        return Fault(f"{where}: {path}", "", "there is no such setting", f"The settings here are {', '.join(known)}")
    rule = message.removeprefix("Value error, ")
    shown = "" if isinstance(value, dict) else f"= {value!r}"
    fix = "Correct the value, or leave it out for the default"
    return Fault(f"{where}: {path}" if path else where, shown, rule[:1].lower() + rule[1:], fix)

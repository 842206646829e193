"""What runs below an environment's stacks: a real AWS account, or the local cloud."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from tandem.config.base import Strict
from tandem.config.load import display_path
from tandem.errors import ConfigError, Fault
from tandem.units import Port


class Doors(Strict):
    """Ports on 127.0.0.1 of this machine that lead into the local cloud."""

    edge: Port = 18443
    """Port 443 of the internet-facing load balancer."""
    kubernetes: Port = 16443
    """The API server."""
    aws: Port = 14566
    """The AWS API (moto)."""


class LocalCloud(Strict):
    """Everything on this machine: AWS (moto), the load balancer and the GPUs are simulated, Kubernetes is real."""

    kind: Literal["local"]
    doors: Doors = Doors()
    node_start_delay_seconds: Annotated[float, Field(ge=0, le=600)] = 2
    """How long a simulated instance takes from its node group's request to its kubelet's start."""
    acts_as: str = ""
    """Name of the IAM role whose session the caller is. Empty: moto's own user."""
    hosted_zones: dict[str, str] = Field(default_factory=dict)
    """Route 53 zones that are there from the beginning: id -> domain. No stack makes one."""
    images_as: dict[str, str] = Field(default_factory=dict)
    """Image -> the image of this checkout that plays it. Any other image must be one of the checkout's own."""


class AwsCloud(Strict):
    """A real AWS account, with the credentials of the caller's shell."""

    kind: Literal["aws"]


class Environment(Strict):
    """`stacks/environments/<name>.yaml`."""

    cloud: Annotated[LocalCloud | AwsCloud, Field(discriminator="kind")]


_ENVIRONMENT: TypeAdapter[Environment] = TypeAdapter(Environment)


def load_environment(path: Path) -> Environment:
    """The environment that `path` describes. Raises `ConfigError` with all faults."""
    where = display_path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return _ENVIRONMENT.validate_python(data)
    except FileNotFoundError as error:
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml"))) or "none"
        fault = Fault(where, "", f"no such environment; there are: {known}", "Name one of them, or create the file")
        raise ConfigError([fault]) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        fault = Fault(where, "", f"not readable as YAML: {' '.join(str(error).split())}", "Correct the file")
        raise ConfigError([fault]) from error
    except ValidationError as error:
        faults = [
            Fault(
                f"{where}: {'.'.join(map(str, e['loc'])) or '(whole file)'}",
                repr(e["input"])[:60],
                e["msg"],
                "Correct it",
            )
            for e in error.errors()
        ]
        raise ConfigError(faults) from error

"""The variables under which `pulumi`, `kubectl` and the AWS SDKs reach an environment."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from toolchain import paths
from toolchain.folders import usable

from tandem.config.environment import LocalCloud
from tandem.errors import MissingTool
from tandem.ops.environment import ROOT, LoadedEnvironment

LOCAL_CREDENTIAL = "local"
"""moto takes any key; this one is nobody's. `role:NAME` is a session of that role."""
LOCAL_PASSPHRASE = "local"


def state_folder() -> Path:
    """Where this checkout keeps what must outlive a command. Raises `Unusable` where that cannot be."""
    return usable(Path(os.environ.get("TANDEM_STATE") or ROOT / ".tandem").resolve(), "TANDEM_STATE")


def variables(environment: LoadedEnvironment) -> dict[str, str]:
    """Variables that `tandem env` prints and every command of ours runs under.

    Raises `MissingTool` when the toolchain is not built and no `pulumi` of the user's can serve.
    """
    state = state_folder()
    local = isinstance(environment.settings.cloud, LocalCloud)
    values = {
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "TANDEM_PYTHON": sys.executable,
        "TANDEM_INFRA": str(ROOT / "infra"),
        "TANDEM_STATE": str(state),
    }
    tools = paths.current()
    if tools.missing and not local and shutil.which("pulumi"):
        pass  # a real cloud is reached with the user's own engine and the official plugins
    elif tools.missing:
        raise MissingTool(
            f"toolchain: {', '.join(tools.missing)} not built - the engine runs from it. Run: make toolchain"
        )
    if not tools.missing:
        # Ours too: the kubeconfigs of our stacks execute `tandem cluster-token`.
        ours = Path(sys.executable).parent
        values["PATH"] = os.pathsep.join((str(tools.bin), str(ours), os.environ.get("PATH", os.defpath)))
    if local:
        backend = state / "pulumi"
        values |= {
            "PULUMI_HOME": str(tools.home),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_BACKEND_URL": f"file://{backend}",
            "PULUMI_CONFIG_PASSPHRASE": LOCAL_PASSPHRASE,
            "KUBECONFIG": str(state / "local" / "kubeconfig"),
        }
        values |= _local_aws(environment)
    return values


def process_environment(environment: LoadedEnvironment) -> dict[str, str]:
    """This process's environment with `variables` over it, for a child process."""
    return {**os.environ, **variables(environment)}


def against_local(environment: LoadedEnvironment, local: LoadedEnvironment) -> dict[str, str]:
    """Variables under which a real environment's stacks meet the local cloud's simulated AWS.

    State and plugins are the local environment's, in a backend of its own: nothing of it can reach the account.
    """
    backend = state_folder() / f"pulumi-{environment.name}"
    return variables(local) | {"PULUMI_BACKEND_URL": f"file://{backend}", "AWS_REGION": environment.region}


def _local_aws(environment: LoadedEnvironment) -> Mapping[str, str]:
    cloud = environment.settings.cloud
    assert isinstance(cloud, LocalCloud)
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{cloud.doors.aws}",
        "AWS_ACCESS_KEY_ID": f"role:{cloud.acts_as}" if cloud.acts_as else LOCAL_CREDENTIAL,
        "AWS_SECRET_ACCESS_KEY": LOCAL_CREDENTIAL,
        "AWS_REGION": environment.region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }

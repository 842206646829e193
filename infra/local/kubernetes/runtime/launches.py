"""Works out how to start a container: what image and pod say together."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import Any

from local.kubernetes.images import APP_IN_CONTAINER, VENV_IN_CONTAINER, Image
from local.kubernetes.runtime import identities
from local.kubernetes.runtime.faults import refused
from local.kubernetes.runtime.launch import Bind, Launch

SYSTEM_PATHS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu")
"""Programs and libraries of the node, wherever its distribution keeps them."""


def plan_launch(
    image: Image,
    config: Any,
    sandbox_config: Any,
    *,
    hostname: str,
    network: Path | None,
    pod_files: list[Bind],
    shm: Path,
) -> tuple[Launch, list[str]]:
    """How to start `config` (a ContainerConfig), and notes about what is not honoured. Raises RuntimeFault."""
    definition = image.config
    # As everywhere: a command of the pod replaces the image's own, and with it the image's arguments.
    argv = (
        [*config.command, *config.args]
        if config.command
        else [*definition.entrypoint, *(config.args or definition.command)]
    )
    if not argv:
        raise refused(
            f"container {config.metadata.name}: nothing to run - neither the pod nor image {image.name} does. "
            "Give the image an ENTRYPOINT."
        )
    user_namespace = identities.in_user_namespace()
    identity, notes = identities.resolve(
        config.linux.security_context, definition.user, image.name, user_namespace=user_namespace
    )
    env = {"HOSTNAME": hostname, "HOME": identities.home_of(identity["uid"]), **definition.env}
    if config.tty:
        env.setdefault("TERM", "xterm")
    env.update((entry.key, os.fsdecode(entry.value)) for entry in config.envs)
    sysctls = {key: value for key, value in sandbox_config.linux.sysctls.items() if not key.startswith("net.")}
    log = ""
    if config.log_path and sandbox_config.log_directory:
        log = posixpath.join(sandbox_config.log_directory, config.log_path)
    return {
        "argv": argv,
        "env": env,
        "cwd": config.working_dir or definition.working_folder,
        "hostname": hostname,
        "network": None if network is None else str(network),
        "identity": identity,
        "binds": _binds(image, config, pod_files),
        "system_paths": [*SYSTEM_PATHS, *image.system_paths],
        "shm": str(shm),
        "readonly_root": config.linux.security_context.readonly_rootfs,
        "sysctls": sysctls,
        "oom_score_adj": config.linux.resources.oom_score_adj,
        "log": log,
        "stdin": config.stdin,
        "stdin_once": config.stdin_once,
        "tty": config.tty,
    }, notes


def _binds(image: Image, config: Any, pod_files: list[Bind]) -> list[Bind]:
    binds: list[Bind] = [
        {"source": str(image.folder), "target": str(APP_IN_CONTAINER), "readonly": True},
        {"source": str(image.venv), "target": str(VENV_IN_CONTAINER), "readonly": True},
    ]
    given: list[Bind] = []
    for mount in config.mounts:
        if mount.image.image:
            raise refused(
                f"container {config.metadata.name}: mount {mount.container_path} - images are no volumes here. "
                "Use another kind."
            )
        target = posixpath.normpath(posixpath.join("/", mount.container_path))
        if target == "/":
            raise refused(
                f"container {config.metadata.name}: mount {mount.container_path} - a volume cannot be the root. "
                "Mount it below."
            )
        # A hostPath without a type is made by the runtime if it is not there.
        if not os.path.lexists(mount.host_path):
            Path(mount.host_path).mkdir(parents=True)
        given.append({"source": mount.host_path, "target": target, "readonly": mount.readonly})
    given.extend(
        {"source": device.host_path, "target": device.container_path, "readonly": False} for device in config.devices
    )
    # A mount inside another must be made after it, whatever the order given.
    given.sort(key=lambda bind: bind["target"].count("/"))
    taken = {bind["target"] for bind in given}
    return [*binds, *(bind for bind in pod_files if bind["target"] not in taken), *given]

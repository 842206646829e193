"""Simulated devices of one node: a kubelet device plugin for each resource name.

`python -m local.kubernetes.devices --socket-dir DIR --resource nvidia.com/gpu=8 --resource vpc.amazonaws.com/efa=1`,
with DIR the `device-plugins` folder of the node's kubelet. There is no hardware behind them: a container learns which
it was given from its environment.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from local.kubernetes.cri import deviceplugin_pb2 as api
from local.kubernetes.cri import deviceplugin_pb2_grpc as api_grpc

log = logging.getLogger("devices")

KUBELET_SOCKET = "kubelet.sock"
_LOOK_SECONDS = 0.5
"""Between looks at the kubelet's socket. A restarted kubelet announces itself only by making it anew."""
_REGISTER_SECONDS = 5.0
"""Longest wait for one registration, which the kubelet answers at once or, while it starts, not at all."""

_VARIABLES = {"nvidia.com/gpu": "NVIDIA_VISIBLE_DEVICES"}
"""Environment variables that real plugins set; other resources get one made from their name."""


@dataclass(frozen=True)
class Resource:
    """So many devices under one name."""

    name: str
    count: int

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def endpoint(self) -> str:
        """File name of its socket."""
        return f"tandem-{self.slug}.sock"

    @property
    def variable(self) -> str:
        """Environment variable with a container's devices, comma separated."""
        return _VARIABLES.get(self.name, f"TANDEM_DEVICES_{self.slug.replace('-', '_').upper()}")

    @property
    def devices(self) -> list[str]:
        return [f"{self.slug}-{number}" for number in range(self.count)]

    @staticmethod
    def parse(text: str) -> Resource:
        """`NAME=COUNT`. Raises ArgumentTypeError."""
        name, _, count = text.partition("=")
        if not re.fullmatch(r"[a-z0-9.-]+/[A-Za-z0-9._-]+", name) or not count.isdigit():
            raise argparse.ArgumentTypeError(f"{text} - write DOMAIN/NAME=COUNT, for example nvidia.com/gpu=8")
        return Resource(name, int(count))


class Plugin(api_grpc.DevicePluginServicer):  # type: ignore[misc]
    """The kubelet's view of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    async def GetDevicePluginOptions(self, request: Any, context: Any) -> Any:
        return api.DevicePluginOptions(get_preferred_allocation_available=True)

    async def ListAndWatch(self, request: Any, context: Any) -> AsyncIterator[Any]:
        """The devices, once; then the stream stays open, since its end means that they are gone."""
        yield api.ListAndWatchResponse(
            devices=[api.Device(ID=name, health="Healthy") for name in self._resource.devices]
        )
        await asyncio.Event().wait()

    async def GetPreferredAllocation(self, request: Any, context: Any) -> Any:
        """The lowest numbers, so that tests and people can tell beforehand."""
        order = {name: number for number, name in enumerate(self._resource.devices)}
        responses = []
        for wanted in request.container_requests:
            must = list(wanted.must_include_deviceIDs)
            rest = sorted(set(wanted.available_deviceIDs) - set(must), key=lambda name: order.get(name, len(order)))
            chosen = [*must, *rest][: wanted.allocation_size]
            responses.append(api.ContainerPreferredAllocationResponse(deviceIDs=chosen))
        return api.PreferredAllocationResponse(container_responses=responses)

    async def Allocate(self, request: Any, context: Any) -> Any:
        responses = []
        for wanted in request.container_requests:
            numbers = ",".join(sorted((name.rpartition("-")[2] for name in wanted.devices_ids), key=int))
            responses.append(api.ContainerAllocateResponse(envs={self._resource.variable: numbers}))
        return api.AllocateResponse(container_responses=responses)

    async def PreStartContainer(self, request: Any, context: Any) -> Any:
        return api.PreStartContainerResponse()


def socket_identity(path: Path) -> tuple[int, int] | None:
    """Tells one socket at `path` from its successor; None while there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_ctime_ns


async def serve(folder: Path, resource: Resource) -> None:
    """Offer `resource` to the kubelet of `folder`, and to each kubelet that takes its place. Never returns."""
    registered: tuple[int, int] | None = None
    server: grpc.aio.Server | None = None
    try:
        while True:
            kubelet = socket_identity(folder / KUBELET_SOCKET)
            # A kubelet that starts deletes every socket it finds in the folder.
            lost = server is not None and not (folder / resource.endpoint).exists()
            if kubelet is not None and (kubelet != registered or lost):
                if server is not None:
                    await server.stop(grace=None)
                server = await _listen(folder, resource)
                registered = kubelet if await _register(folder, resource) else None
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        if server is not None:
            await server.stop(grace=None)


async def _listen(folder: Path, resource: Resource) -> grpc.aio.Server:
    server = grpc.aio.server()
    api_grpc.add_DevicePluginServicer_to_server(Plugin(resource), server)
    (folder / resource.endpoint).unlink(missing_ok=True)
    server.add_insecure_port(f"unix:{folder / resource.endpoint}")
    await server.start()
    return server


async def _register(folder: Path, resource: Resource) -> bool:
    options = api.DevicePluginOptions(get_preferred_allocation_available=True)
    request = api.RegisterRequest(
        version="v1beta1", endpoint=resource.endpoint, resource_name=resource.name, options=options
    )
    async with grpc.aio.insecure_channel(f"unix:{folder / KUBELET_SOCKET}") as channel:
        try:
            await api_grpc.RegistrationStub(channel).Register(request, timeout=_REGISTER_SECONDS)
        except grpc.aio.AioRpcError as error:
            log.warning("%s: the kubelet does not take it yet: %s", resource.name, error.details())
            return False
    log.info("%s: %d devices registered", resource.name, resource.count)
    return True


async def run(folder: Path, resources: Sequence[Resource]) -> None:
    """Serve all of them until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(serve(folder, resource)) for resource in resources]
    group = asyncio.gather(*tasks)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, group.cancel)
    try:
        await group
    except asyncio.CancelledError:
        await asyncio.gather(*tasks, return_exceptions=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    parser = argparse.ArgumentParser(prog="python -m local.kubernetes.devices", description=__doc__)
    parser.add_argument("--socket-dir", required=True, type=Path, help="the kubelet's device-plugins folder")
    parser.add_argument(
        "--resource", required=True, action="append", type=Resource.parse, help="NAME=COUNT; may be given again"
    )
    given = parser.parse_args(arguments)
    asyncio.run(run(given.socket_dir, [resource for resource in given.resource if resource.count > 0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from local.kubernetes import devices
from local.kubernetes.cri import deviceplugin_pb2 as api
from local.kubernetes.cri import deviceplugin_pb2_grpc as api_grpc

GPUS = devices.Resource("nvidia.com/gpu", 8)


class Kubelet(api_grpc.RegistrationServicer):  # type: ignore[misc]
    """The registration half of a kubelet: remembers who came, and deletes others' sockets when it starts."""

    def __init__(self, folder: Path) -> None:
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        for leftover in folder.glob("*.sock"):
            leftover.unlink()
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        api_grpc.add_RegistrationServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{folder / devices.KUBELET_SOCKET}")
        self._server.start()

    def Register(self, request: Any, context: Any) -> Any:
        self._loop.call_soon_threadsafe(self.requests.put_nowait, request)
        return api.Empty()

    async def registered(self) -> Any:
        return await asyncio.wait_for(self.requests.get(), 20)

    def stop(self) -> None:
        self._server.stop(None).wait()


@pytest.fixture
async def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Path]:
    monkeypatch.setattr(devices, "_LOOK_SECONDS", 0.02)
    task = asyncio.create_task(devices.serve(tmp_path, GPUS))
    yield tmp_path
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_registers_with_a_kubelet_that_comes_later_and_with_its_successor(plugin: Path) -> None:
    for _ in range(2):
        kubelet = Kubelet(plugin)
        request = await kubelet.registered()
        assert (request.version, request.resource_name) == ("v1beta1", "nvidia.com/gpu")
        assert (plugin / request.endpoint).exists(), "a kubelet deletes old sockets when it starts"
        async with grpc.aio.insecure_channel(f"unix:{plugin / request.endpoint}") as channel:
            stream = api_grpc.DevicePluginStub(channel).ListAndWatch(api.Empty())
            offered = await asyncio.wait_for(stream.read(), 20)
            assert [device.ID for device in offered.devices] == [f"nvidia-com-gpu-{number}" for number in range(8)]
            assert {device.health for device in offered.devices} == {"Healthy"}
            stream.cancel()
        await asyncio.to_thread(kubelet.stop)


async def test_a_container_learns_which_devices_it_has(plugin: Path) -> None:
    kubelet = Kubelet(plugin)
    request = await kubelet.registered()
    async with grpc.aio.insecure_channel(f"unix:{plugin / request.endpoint}") as channel:
        stub = api_grpc.DevicePluginStub(channel)
        wanted = api.ContainerAllocateRequest(devices_ids=["nvidia-com-gpu-3", "nvidia-com-gpu-1"])
        answer = await stub.Allocate(api.AllocateRequest(container_requests=[wanted]))
        assert dict(answer.container_responses[0].envs) == {"NVIDIA_VISIBLE_DEVICES": "1,3"}
        preferred = api.ContainerPreferredAllocationRequest(
            available_deviceIDs=[f"nvidia-com-gpu-{number}" for number in (7, 2, 5)],
            must_include_deviceIDs=["nvidia-com-gpu-7"],
            allocation_size=2,
        )
        chosen = await stub.GetPreferredAllocation(api.PreferredAllocationRequest(container_requests=[preferred]))
        assert list(chosen.container_responses[0].deviceIDs) == ["nvidia-com-gpu-7", "nvidia-com-gpu-2"]
    await asyncio.to_thread(kubelet.stop)


def test_a_resource_without_a_variable_of_its_own_gets_one_from_its_name() -> None:
    efa = devices.Resource.parse("vpc.amazonaws.com/efa=2")
    assert (efa.variable, efa.devices) == (
        "TANDEM_DEVICES_VPC_AMAZONAWS_COM_EFA",
        ["vpc-amazonaws-com-efa-0", "vpc-amazonaws-com-efa-1"],
    )


@pytest.mark.parametrize("text", ["gpu=1", "nvidia.com/gpu", "nvidia.com/gpu=-1", "nvidia.com/gpu=x", "=", "a/b c=1"])
def test_a_resource_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"nvidia\.com/gpu=8"):
        devices.Resource.parse(text)

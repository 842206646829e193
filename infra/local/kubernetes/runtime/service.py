"""The RuntimeService of the CRI. Each call is translated and handed on; what fails becomes a status the kubelet
shows to people."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn, TypeVar

import grpc

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.cri import runtime_pb2_grpc as cri_grpc
from local.kubernetes.runtime import execution, messages
from local.kubernetes.runtime.faults import as_fault
from local.kubernetes.runtime.pods import Pods
from local.kubernetes.runtime.stats import Stats
from local.kubernetes.runtime.streaming import Streaming

log = logging.getLogger("service")

NAME = "tandem"
VERSION = "0.1.0"

_Service = TypeVar("_Service")
_Call = Callable[[_Service, Any, Any], Awaitable[Any]]


def answered(call: _Call[_Service]) -> _Call[_Service]:
    """Turn what `call` raises into a gRPC status; a bug keeps its traceback in the log."""

    @functools.wraps(call)
    async def wrapper(self: _Service, request: Any, context: Any) -> Any:
        try:
            return await call(self, request, context)
        except Exception as error:  # noqa: BLE001 - sorted in `as_fault`, and bugs are logged with their traceback
            await _abort(context, call.__name__, error)

    return wrapper


async def _abort(context: Any, name: str, error: Exception) -> NoReturn:
    fault = as_fault(error)
    if fault is None:
        log.error("%s", name, exc_info=error)
        await context.abort(grpc.StatusCode.INTERNAL, f"runtime: {name}: {type(error).__name__}: {error}")
    else:
        log.warning("%s: %s", name, fault)
        await context.abort(fault.code, str(fault))
    raise AssertionError("abort raises")


class RuntimeService(cri_grpc.RuntimeServiceServicer):  # type: ignore[misc]
    """Sandboxes and containers of one node."""

    def __init__(self, pods: Pods, streaming: Streaming) -> None:
        self._pods = pods
        self._streaming = streaming
        self._stats = Stats()

    @answered
    async def Version(self, request: Any, context: Any) -> Any:
        return cri.VersionResponse(
            version="0.1.0", runtime_name=NAME, runtime_version=VERSION, runtime_api_version="v1"
        )

    @answered
    async def Status(self, request: Any, context: Any) -> Any:
        conditions = [cri.RuntimeCondition(type=kind, status=True) for kind in ("RuntimeReady", "NetworkReady")]
        response = cri.StatusResponse(
            status=cri.RuntimeStatus(conditions=conditions),
            runtime_handlers=[cri.RuntimeHandler(name="", features=cri.RuntimeHandlerFeatures())],
            features=cri.RuntimeFeatures(supplemental_groups_policy=False),
        )
        if request.verbose:
            response.info["simulated"] = (
                "containers are processes of this machine; memory limits are watched, processor limits are not set"
            )
        return response

    @answered
    async def RuntimeConfig(self, request: Any, context: Any) -> Any:
        return cri.RuntimeConfigResponse(linux=cri.LinuxRuntimeConfiguration(cgroup_driver=cri.CGROUPFS))

    @answered
    async def UpdateRuntimeConfig(self, request: Any, context: Any) -> Any:
        # It only tells the pod CIDR, which --subnet has decided already.
        return cri.UpdateRuntimeConfigResponse()

    @answered
    async def RunPodSandbox(self, request: Any, context: Any) -> Any:
        sandbox = await self._pods.sandboxes.create(request.config, request.runtime_handler)
        return cri.RunPodSandboxResponse(pod_sandbox_id=sandbox.id)

    @answered
    async def StopPodSandbox(self, request: Any, context: Any) -> Any:
        await self._pods.stop_sandbox(request.pod_sandbox_id)
        return cri.StopPodSandboxResponse()

    @answered
    async def RemovePodSandbox(self, request: Any, context: Any) -> Any:
        await self._pods.remove_sandbox(request.pod_sandbox_id)
        return cri.RemovePodSandboxResponse()

    @answered
    async def PodSandboxStatus(self, request: Any, context: Any) -> Any:
        sandbox = self._pods.sandboxes.get(request.pod_sandbox_id)
        return cri.PodSandboxStatusResponse(
            status=messages.sandbox_status(sandbox),
            containers_statuses=[self._pods.status_of(container) for container in self._pods.containers.of(sandbox)],
        )

    @answered
    async def ListPodSandbox(self, request: Any, context: Any) -> Any:
        found = (each for each in self._pods.sandboxes.all() if messages.sandbox_matches(each, request.filter))
        return cri.ListPodSandboxResponse(items=[messages.sandbox_item(sandbox) for sandbox in found])

    @answered
    async def UpdatePodSandboxResources(self, request: Any, context: Any) -> Any:
        self._pods.sandboxes.get(request.pod_sandbox_id)
        # Limits are per container here; a pod's own has nothing it could be set on.
        return cri.UpdatePodSandboxResourcesResponse()

    @answered
    async def CreateContainer(self, request: Any, context: Any) -> Any:
        container = await self._pods.create_container(request.pod_sandbox_id, request.config)
        return cri.CreateContainerResponse(container_id=container.id)

    @answered
    async def StartContainer(self, request: Any, context: Any) -> Any:
        await self._pods.start_container(request.container_id)
        return cri.StartContainerResponse()

    @answered
    async def StopContainer(self, request: Any, context: Any) -> Any:
        container = self._pods.containers.find(request.container_id)
        if container is not None:
            await self._pods.containers.stop(container, request.timeout)
        return cri.StopContainerResponse()

    @answered
    async def RemoveContainer(self, request: Any, context: Any) -> Any:
        await self._pods.remove_container(request.container_id)
        return cri.RemoveContainerResponse()

    @answered
    async def ListContainers(self, request: Any, context: Any) -> Any:
        found = (each for each in self._pods.containers.all() if messages.container_matches(each, request.filter))
        return cri.ListContainersResponse(containers=[messages.container_item(container) for container in found])

    @answered
    async def ContainerStatus(self, request: Any, context: Any) -> Any:
        container = self._pods.containers.get(request.container_id)
        info = self._pods.info_of(container) if request.verbose else {}
        return cri.ContainerStatusResponse(status=self._pods.status_of(container), info=info)

    @answered
    async def UpdateContainerResources(self, request: Any, context: Any) -> Any:
        self._pods.containers.update(self._pods.containers.get(request.container_id), request.linux)
        return cri.UpdateContainerResourcesResponse()

    @answered
    async def ReopenContainerLog(self, request: Any, context: Any) -> Any:
        await self._pods.reopen_log(request.container_id)
        return cri.ReopenContainerLogResponse()

    @answered
    async def ExecSync(self, request: Any, context: Any) -> Any:
        container = self._pods.containers.get(request.container_id)
        folder = self._pods.containers.folder(container)
        result = await execution.run(container, folder, list(request.cmd), request.timeout)
        return cri.ExecSyncResponse(stdout=result.stdout, stderr=result.stderr, exit_code=result.exit_code)

    @answered
    async def Exec(self, request: Any, context: Any) -> Any:
        return cri.ExecResponse(url=self._streaming.offer_exec(request))

    @answered
    async def Attach(self, request: Any, context: Any) -> Any:
        return cri.AttachResponse(url=self._streaming.offer_attach(request))

    @answered
    async def PortForward(self, request: Any, context: Any) -> Any:
        return cri.PortForwardResponse(url=self._streaming.offer_port_forward(request))

    @answered
    async def ContainerStats(self, request: Any, context: Any) -> Any:
        found = self._stats.measure([self._pods.containers.get(request.container_id)])
        return cri.ContainerStatsResponse(stats=found[0] if found else None)

    @answered
    async def ListContainerStats(self, request: Any, context: Any) -> Any:
        wanted = request.filter
        likewise = cri.ContainerFilter(
            id=wanted.id, pod_sandbox_id=wanted.pod_sandbox_id, label_selector=wanted.label_selector
        )
        found = [each for each in self._pods.containers.all() if messages.container_matches(each, likewise)]
        return cri.ListContainerStatsResponse(stats=self._stats.measure(found))

    @answered
    async def PodSandboxStats(self, request: Any, context: Any) -> Any:
        sandbox = self._pods.sandboxes.get(request.pod_sandbox_id)
        return cri.PodSandboxStatsResponse(stats=self._stats.sandbox(sandbox, self._pods.containers.of(sandbox)))

    @answered
    async def ListPodSandboxStats(self, request: Any, context: Any) -> Any:
        likewise = cri.PodSandboxFilter(id=request.filter.id, label_selector=request.filter.label_selector)
        found = [each for each in self._pods.sandboxes.all() if messages.sandbox_matches(each, likewise)]
        return cri.ListPodSandboxStatsResponse(
            stats=[self._stats.sandbox(sandbox, self._pods.containers.of(sandbox)) for sandbox in found]
        )

    @answered
    async def ListMetricDescriptors(self, request: Any, context: Any) -> Any:
        # Control-group metrics in cAdvisor's names: there are no control groups, so there are none.
        return cri.ListMetricDescriptorsResponse()

    @answered
    async def ListPodSandboxMetrics(self, request: Any, context: Any) -> Any:
        return cri.ListPodSandboxMetricsResponse()

    async def GetContainerEvents(self, request: Any, context: Any) -> AsyncIterator[Any]:
        async for event in self._pods.events.listen():
            yield event

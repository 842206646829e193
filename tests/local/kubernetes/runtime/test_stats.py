from __future__ import annotations

from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri

BUSY = "import time\ndata = bytearray(50 << 20)\nwhile True: pass"


def test_the_use_of_processor_and_memory_is_reported_by_container_and_pod(node: Any) -> None:
    sandbox = node.run_sandbox("busy")
    container = node.launch(sandbox, image="python", args=["-c", BUSY])
    request = cri.ContainerStatsRequest(container_id=container)
    while node.runtime.ContainerStats(request).stats.cpu.usage_core_nano_seconds.value < 1_500_000_000:
        pass
    stats = node.runtime.ContainerStats(request).stats
    assert stats.memory.rss_bytes.value > 50 << 20
    assert stats.cpu.usage_nano_cores.value > 100_000_000, "it does nothing but compute"
    assert stats.attributes.metadata.name == "main"
    pod = node.runtime.PodSandboxStats(cri.PodSandboxStatsRequest(pod_sandbox_id=sandbox[0])).stats
    assert pod.linux.memory.rss_bytes.value > 50 << 20
    assert pod.linux.process.process_count.value == 1
    assert pod.linux.network.default_interface.name == "eth0"
    assert [each.attributes.id for each in pod.linux.containers] == [container]


def test_lists_of_stats_are_filtered_and_leave_out_what_does_not_run(node: Any) -> None:
    sandbox = node.run_sandbox("quiet")
    running, ended = node.launch(sandbox, "exec sleep 60"), node.launch(sandbox, "true", name="done")
    node.wait_exited(ended)
    wanted = cri.ContainerStatsFilter(pod_sandbox_id=sandbox[0])
    found = node.runtime.ListContainerStats(cri.ListContainerStatsRequest(filter=wanted)).stats
    assert [each.attributes.id for each in found] == [running]
    pods = node.runtime.ListPodSandboxStats(cri.ListPodSandboxStatsRequest()).stats
    assert sandbox[0] in {pod.attributes.id for pod in pods}
    assert not node.runtime.ListPodSandboxMetrics(cri.ListPodSandboxMetricsRequest()).pod_metrics

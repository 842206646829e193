"""The simulated load balancer does what the real one does, as far as a stream's owner can tell."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web

from tests.local.edge.conftest import RunningEdge, TargetServer

StartTarget = Callable[[str], Awaitable[TargetServer]]
CHAT = "/v1/chat/completions"


async def ask(edge: RunningEdge, path: str = CHAT, body: str = "") -> tuple[int, str]:
    async with edge.client.post(edge.url(path), data=body) as answer:
        return answer.status, await answer.text()


async def test_only_allowed_paths_reach_a_target(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")
    edge.cloud.register("blue", blue.port, blue.host)
    await edge.follow()
    assert await ask(edge, body="hi") == (200, "blue:hi")
    assert (await ask(edge, "/workers"))[0] == 404
    assert len(blue.seen) == 1, "the refused request never reached the target"


async def test_weights_split_requests_exactly_and_a_change_moves_only_new_ones(
    edge: RunningEdge, target: StartTarget
) -> None:
    servers = {name: await target(name) for name in ("blue", "green")}
    for name, server in servers.items():
        edge.cloud.register(name, server.port, server.host)
    edge.cloud.weights(75, 25)
    await edge.follow()
    split = Counter([(await ask(edge))[1].partition(":")[0] for _ in range(40)])
    assert split == {"blue": 30, "green": 10}
    edge.cloud.weights(0, 100)
    await edge.follow()
    assert {(await ask(edge))[1] for _ in range(10)} == {"green:"}


async def test_with_all_weights_zero_nobody_answers(edge: RunningEdge) -> None:
    edge.cloud.weights(0, 0)
    await edge.follow()
    assert (await ask(edge))[0] == 503


async def test_a_group_without_targets_is_503_and_a_dead_target_502(edge: RunningEdge, unused_tcp_port: int) -> None:
    assert (await ask(edge))[0] == 503
    edge.cloud.register("blue", unused_tcp_port)
    await edge.follow()
    assert (await ask(edge))[0] == 502


async def test_events_of_a_stream_pass_one_by_one(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")
    go_on = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(b"data: one\n\n")
        await go_on.wait()
        await answer.write(b"data: two\n\n")
        return answer

    blue.behaviour = stream
    edge.cloud.register("blue", blue.port, blue.host)
    await edge.follow()
    async with edge.client.post(edge.url(CHAT)) as answer:
        assert answer.headers["x-tandem-simulated"] == "alb"
        assert await answer.content.readany() == b"data: one\n\n", "the first event came before the second was made"
        go_on.set()
        assert await answer.content.readany() == b"data: two\n\n"


async def test_a_deregistered_target_finishes_its_stream_while_new_requests_go_elsewhere(
    edge: RunningEdge, target: StartTarget
) -> None:
    old, new = await target("old"), await target("new")
    go_on = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"begin ")
        await go_on.wait()
        await answer.write(b"end")
        return answer

    old.behaviour = stream
    edge.cloud.register("blue", old.port, old.host)
    await edge.follow()
    async with edge.client.post(edge.url(CHAT)) as answer:
        assert await answer.content.readany() == b"begin "
        edge.cloud.register("blue", new.port, new.host)
        edge.cloud.deregister("blue", old.port, old.host)
        await edge.follow()
        assert await ask(edge, body="x") == (200, "new:x")
        go_on.set()
        assert await answer.content.read() == b"end"


async def test_a_stream_is_cut_when_the_deregistration_delay_is_over(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")

    async def endless(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"begin")
        await asyncio.Event().wait()
        return answer

    blue.behaviour = endless
    edge.cloud.register("blue", blue.port, blue.host)
    edge.cloud.elbv2.modify_target_group_attributes(
        TargetGroupArn=edge.cloud.groups["blue"],
        Attributes=[{"Key": "deregistration_delay.timeout_seconds", "Value": "0"}],
    )
    await edge.follow()
    async with edge.client.post(edge.url(CHAT)) as answer:
        assert await answer.content.readany() == b"begin"
        edge.cloud.deregister("blue", blue.port, blue.host)
        await edge.follow()
        with pytest.raises((aiohttp.ClientPayloadError, ConnectionResetError)):
            await answer.content.read()


async def test_an_unhealthy_target_gets_nothing_while_another_is_well(edge: RunningEdge, target: StartTarget) -> None:
    sick, well = await target("sick"), await target("well")
    sick.healthy = False
    for server in (sick, well):
        edge.cloud.register("blue", server.port, server.host)
    await edge.follow()
    assert {(await ask(edge))[1] for _ in range(6)} == {"well:"}


async def test_silence_longer_than_the_idle_timeout_is_504(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")

    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    blue.behaviour = silent
    edge.cloud.register("blue", blue.port, blue.host)
    edge.cloud.elbv2.modify_load_balancer_attributes(
        LoadBalancerArn=edge.cloud.balancer, Attributes=[{"Key": "idle_timeout.timeout_seconds", "Value": "1"}]
    )
    await edge.follow()
    assert (await ask(edge))[0] == 504


async def test_a_client_that_hangs_up_ends_the_targets_work(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")
    ended = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        try:
            while True:
                await answer.write(b"x")
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    blue.behaviour = endless
    edge.cloud.register("blue", blue.port, blue.host)
    await edge.follow()
    async with edge.client.post(edge.url(CHAT)) as answer:
        await answer.content.readany()
    await asyncio.wait_for(ended.wait(), 10)


async def test_targets_learn_who_asked_and_how(edge: RunningEdge, target: StartTarget) -> None:
    blue = await target("blue")
    edge.cloud.register("blue", blue.port, blue.host)
    await edge.follow()
    async with edge.client.post(edge.url(CHAT), headers={"X-Forwarded-For": "9.9.9.9", "Authorization": "Bearer k"}):
        pass
    headers = blue.seen[0].headers
    assert headers["X-Forwarded-For"] == "9.9.9.9, 127.0.0.1"
    assert headers["X-Forwarded-Proto"] == "https"
    assert headers["X-Amzn-Trace-Id"].startswith("Root=1-")
    assert headers["Authorization"] == "Bearer k"


async def test_a_listener_that_goes_takes_its_socket_and_the_address_along(edge: RunningEdge) -> None:
    edge.cloud.elbv2.delete_load_balancer(LoadBalancerArn=edge.cloud.balancer)
    await edge.follow()
    assert edge.edge.listeners.port_of(edge.cloud.listener) is None
    assert not edge.edge.listeners.address_of

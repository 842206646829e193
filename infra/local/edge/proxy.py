"""One request through a load balancer: rule, target, and the bytes of both directions as they come."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from local.edge.choice import TargetTurns, WeightedTurns
from local.edge.health import HealthChecks
from local.edge.model import FixedResponse, Forward, Listener, LoadBalancer, Redirect, Snapshot, Target, TargetGroup
from local.edge.rules import Request, find_rule

SERVER = "awselb/2.0"
SIMULATED = "x-tandem-simulated"
CONNECT_TIMEOUT = 10.0
"""Seconds the real one waits for a target's TCP connection."""
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
CLIENT_CLOSED = 460
"""The real one's code for a client that went away; only ever counted, nobody is left to read it."""


@dataclass
class Counters:
    """What `/metrics` and `/state` show."""

    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(target group name, status class)."""
    own: Counter[int] = field(default_factory=Counter)
    """Answers of the load balancer itself, by status."""
    in_flight: Counter[tuple[str, Target]] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Sum of the targets' response times, to the first header, by target group name."""


class Proxy:
    """Forwards. Holds no configuration of its own: `snapshot` is replaced as moto changes."""

    def __init__(self, session: aiohttp.ClientSession, health: HealthChecks) -> None:
        self.snapshot = Snapshot({}, {}, ())
        self.counters = Counters()
        self.draining: set[tuple[str, Target]] = set()
        """Deregistered targets that requests still use."""
        self._ends: dict[tuple[str, Target], asyncio.Event] = {}
        """Set when a target's time is over; made with its first request in flight."""
        self._session = session
        self._health = health
        self._turns: dict[str, WeightedTurns] = {}
        self._targets: dict[str, TargetTurns] = {}

    async def handle(self, balancer_arn: str, listener_arn: str, request: web.BaseRequest) -> web.StreamResponse:
        """Answers one request that came in at a listener."""
        balancer = self.snapshot.load_balancers.get(balancer_arn)
        listener = next((x for x in balancer.listeners if x.arn == listener_arn), None) if balancer else None
        if balancer is None or listener is None:
            return self._own(503, "the listener is gone")
        seen = Request(
            request.method,
            request.headers.get("Host", ""),
            request.rel_url.raw_path,
            request.rel_url.raw_query_string,
            request.headers,
            request.remote or "0.0.0.0",
        )
        rule = find_rule(listener, seen)
        match rule.action:
            case FixedResponse(status, content_type, body):
                return self._own(status, body, content_type)
            case Redirect(status, location):
                return self._redirect(status, location, seen, listener)
            case Forward() as forward:
                arn = self._turns.setdefault(rule.arn, WeightedTurns()).next(forward)
                group = self.snapshot.target_groups.get(arn) if arn else None
                if group is None:
                    return self._own(503, "no target group has a weight above 0")
                return await self._forward(request, seen, balancer, listener, group)

    def cut(self, key: tuple[str, Target]) -> None:
        """Breaks off every stream of a target whose deregistration delay is over."""
        event = self._ends.pop(key, None)
        if event is not None:
            event.set()

    async def _forward(
        self, request: web.BaseRequest, seen: Request, balancer: LoadBalancer, listener: Listener, group: TargetGroup
    ) -> web.StreamResponse:
        counters = self.counters
        target = self._targets.setdefault(group.arn, TargetTurns()).next(
            group, self._health.healthy(group), lambda t: counters.in_flight[group.arn, t]
        )
        if target is None:
            counters.requests[group.name, "5xx"] += 1
            return self._own(503, "the target group has no targets")
        key = (group.arn, target)
        counters.in_flight[key] += 1
        try:
            return await self._exchange(request, seen, balancer, listener, group, target)
        finally:
            counters.in_flight[key] -= 1
            if not counters.in_flight[key]:
                del counters.in_flight[key]
                self._ends.pop(key, None)

    async def _exchange(
        self,
        request: web.BaseRequest,
        seen: Request,
        balancer: LoadBalancer,
        listener: Listener,
        group: TargetGroup,
        target: Target,
    ) -> web.StreamResponse:
        idle = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=balancer.idle_timeout)
        url = f"http://{target}{request.raw_path}"
        started = time.monotonic()
        name, counters = group.name, self.counters
        answer: web.StreamResponse | None = None
        try:
            async with self._session.request(
                request.method,
                url,
                headers=_forwarded_headers(request, seen, listener),
                data=request.content if request.body_exists else None,
                timeout=idle,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            ) as upstream:
                counters.seconds[name] += time.monotonic() - started
                counters.requests[name, f"{upstream.status // 100}xx"] += 1
                answer = web.StreamResponse(status=upstream.status, reason=upstream.reason)
                for header, value in upstream.headers.items():
                    if header.lower() not in HOP_BY_HOP:
                        answer.headers.add(header, value)
                answer.headers[SIMULATED] = "alb"
                await answer.prepare(request)
                async for chunk in self._until_drained(upstream, (group.arn, target)):
                    await answer.write(chunk)
                await answer.write_eof()
                return answer
        except (TimeoutError, aiohttp.ServerTimeoutError):
            status, reason = 504, "the target did not answer within the idle timeout"
        except (ConnectionResetError, asyncio.CancelledError):
            counters.own[CLIENT_CLOSED] += 1
            raise
        except (aiohttp.ClientError, OSError) as error:
            status, reason = 502, f"{type(error).__name__}"
        if answer is None or not answer.prepared:
            counters.requests[name, "5xx"] += 1
            return self._own(status, reason)
        # Headers are out: all that is left is to break the stream, so that no client takes it for whole.
        counters.own[status] += 1
        if request.transport is not None:
            request.transport.abort()
        return answer

    async def _until_drained(self, upstream: aiohttp.ClientResponse, key: tuple[str, Target]) -> AsyncIterator[bytes]:
        """Chunks as they come; broken off when the target's deregistration delay is over."""
        over = asyncio.ensure_future(self._ends.setdefault(key, asyncio.Event()).wait())
        try:
            while True:
                read = asyncio.ensure_future(upstream.content.readany())
                await asyncio.wait({read, over}, return_when=asyncio.FIRST_COMPLETED)
                if not read.done():
                    read.cancel()
                    raise aiohttp.ClientPayloadError("the target was deregistered and its delay is over")
                chunk = read.result()
                if not chunk:
                    return
                yield chunk
        finally:
            over.cancel()

    def _own(self, status: int, body: str, content_type: str = "text/plain") -> web.Response:
        self.counters.own[status] += 1
        return web.Response(
            status=status, text=body, content_type=content_type, headers={"Server": SERVER, SIMULATED: "alb"}
        )

    def _redirect(self, status: int, location: str, seen: Request, listener: Listener) -> web.Response:
        parts = {
            "protocol": "https" if listener.tls else "http",
            "host": seen.host.partition(":")[0],
            "port": str(listener.port),
            "path": seen.path.lstrip("/"),
            "query": seen.query,
        }
        for part, value in parts.items():
            location = location.replace(f"#{{{part}}}", value)
        answer = self._own(status, "")
        answer.headers["Location"] = location.removesuffix("?")
        return answer


def _forwarded_headers(request: web.BaseRequest, seen: Request, listener: Listener) -> list[tuple[str, str]]:
    """The client's headers without those of one hop, and what the real one adds."""
    headers = [
        (name, value)
        for name, value in request.headers.items()
        if name.lower() not in HOP_BY_HOP
        and name.lower() not in {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-port", "x-amzn-trace-id"}
    ]
    before = request.headers.get("X-Forwarded-For")
    headers += [
        ("X-Forwarded-For", f"{before}, {seen.source}" if before else seen.source),
        ("X-Forwarded-Proto", "https" if listener.tls else "http"),
        ("X-Forwarded-Port", str(listener.port)),
        (
            "X-Amzn-Trace-Id",
            request.headers.get("X-Amzn-Trace-Id") or f"Root=1-{int(time.time()):08x}-{secrets.token_hex(12)}",
        ),
    ]
    return headers

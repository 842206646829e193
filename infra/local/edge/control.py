"""What the edge tells about itself: `/state` for people and doors, `/metrics` for Prometheus, `/healthz` for the supervisor."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from local.edge.health import HealthChecks
from local.edge.listeners import Listeners
from local.edge.proxy import Proxy


def state(proxy: Proxy, listeners: Listeners, health: HealthChecks) -> dict[str, Any]:
    """Everything, JSON-ready."""
    snapshot = proxy.snapshot
    return {
        "simulated": "an Application Load Balancer, played by a proxy on this machine",
        "load_balancers": [
            {
                "name": balancer.name,
                "arn": balancer.arn,
                "internet_facing": balancer.internet_facing,
                "address": listeners.address_of.get(balancer.arn),
                "listeners": [
                    {"arn": x.arn, "port": x.port, "open_port": listeners.port_of(x.arn), "tls": x.tls}
                    for x in balancer.listeners
                ],
            }
            for balancer in snapshot.load_balancers.values()
        ],
        "target_groups": [
            {
                "name": group.name,
                "arn": group.arn,
                "targets": [
                    {
                        "target": str(target),
                        "healthy": (found := health.states.get((group.arn, target))) is not None and found.healthy,
                        "reason": found.reason if found else "initial",
                        "in_flight": proxy.counters.in_flight[group.arn, target],
                    }
                    for target in sorted(group.targets, key=str)
                ],
            }
            for group in snapshot.target_groups.values()
        ],
        "draining": [str(target) for _, target in proxy.draining],
        "not_enforced": list(snapshot.not_enforced),
    }


def open_listeners(proxy: Proxy, listeners: Listeners) -> list[dict[str, Any]]:
    """Every listener that is open, for the doors: `[{"scheme", "address", "port"}]`."""
    return [
        {
            "scheme": "internet-facing" if balancer.internet_facing else "internal",
            "address": listeners.address_of[balancer.arn],
            "port": listener.port,
        }
        for balancer in proxy.snapshot.load_balancers.values()
        for listener in balancer.listeners
        if listeners.port_of(listener.arn) is not None
    ]


def metrics(proxy: Proxy, health: HealthChecks) -> str:
    """Prometheus text, named after the metrics of the real one."""
    counters = proxy.counters
    lines = ["# TYPE aws_alb_request_count_total counter"]
    for (group, status), count in sorted(counters.requests.items()):
        lines.append(f'aws_alb_request_count_total{{target_group="{group}",code="{status}"}} {count}')
    lines.append("# TYPE aws_alb_target_response_time_seconds_sum counter")
    for group, seconds in sorted(counters.seconds.items()):
        lines.append(f'aws_alb_target_response_time_seconds_sum{{target_group="{group}"}} {seconds:.6f}')
    lines.append("# TYPE aws_alb_elb_responses_total counter")
    for code, count in sorted(counters.own.items()):
        lines.append(f'aws_alb_elb_responses_total{{code="{code}"}} {count}')
    lines += ["# TYPE aws_alb_healthy_host_count gauge", "# TYPE aws_alb_active_requests gauge"]
    for one in proxy.snapshot.target_groups.values():
        in_flight = sum(n for (arn, _), n in counters.in_flight.items() if arn == one.arn)
        lines.append(f'aws_alb_healthy_host_count{{target_group="{one.name}"}} {len(health.healthy(one))}')
        lines.append(f'aws_alb_active_requests{{target_group="{one.name}"}} {in_flight}')
    return "\n".join(lines) + "\n"


def application(proxy: Proxy, listeners: Listeners, health: HealthChecks) -> web.Application:
    """The control endpoint."""

    async def show_state(_: web.Request) -> web.Response:
        return web.json_response(state(proxy, listeners, health))

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(text=metrics(proxy, health), headers={"Content-Type": "text/plain; version=0.0.4"})

    async def show_listeners(_: web.Request) -> web.Response:
        return web.json_response(open_listeners(proxy, listeners))

    async def well(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    app = web.Application()
    app.add_routes(
        [
            web.get("/state", show_state),
            web.get("/listeners", show_listeners),
            web.get("/metrics", show_metrics),
            web.get("/healthz", well),
        ]
    )
    return app

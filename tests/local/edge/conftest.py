"""moto on loopback with one HTTPS load balancer and two target groups, and targets that tests script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import boto3
import pytest
from aiohttp import web
from cryptography import x509
from local.edge.addresses import LoopbackAddresses
from local.edge.certificates import EdgeAuthority
from local.edge.edge import Edge
from local.edge.source import Source
from moto.server import ThreadedMotoServer

from tests.certificates import self_signed

REGION = "us-east-1"
PATHS = ["/v1/chat/completions", "/v1/models"]


@dataclass
class Cloud:
    """moto's side: one load balancer whose rule splits between `blue` and `green`."""

    endpoint: str
    elbv2: Any
    balancer: str
    listener: str
    rule: str
    groups: dict[str, str]

    def weights(self, blue: int, green: int) -> None:
        """Changes the split."""
        self.elbv2.modify_rule(RuleArn=self.rule, Actions=[forward(self.groups, blue, green)])

    def register(self, colour: str, port: int, host: str = "127.0.0.1") -> None:
        """Adds a target. moto tells targets apart by address alone, so each has its own."""
        self.elbv2.register_targets(TargetGroupArn=self.groups[colour], Targets=[{"Id": host, "Port": port}])

    def deregister(self, colour: str, port: int, host: str = "127.0.0.1") -> None:
        """Takes it away."""
        self.elbv2.deregister_targets(TargetGroupArn=self.groups[colour], Targets=[{"Id": host, "Port": port}])


def forward(groups: dict[str, str], blue: int, green: int) -> dict[str, Any]:
    weighted = [
        {"TargetGroupArn": groups["blue"], "Weight": blue},
        {"TargetGroupArn": groups["green"], "Weight": green},
    ]
    return {"Type": "forward", "ForwardConfig": {"TargetGroups": weighted}}


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def cloud(moto: str) -> Cloud:
    import urllib.request

    urllib.request.urlopen(urllib.request.Request(f"{moto}/moto-api/reset", method="POST"), timeout=10)
    session = boto3.session.Session("local", "local", region_name=REGION)
    ec2, elbv2, acm = (session.client(name, endpoint_url=moto) for name in ("ec2", "elbv2", "acm"))
    vpc = ec2.create_vpc(CidrBlock="10.200.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.200.{8 + n}.0/24", AvailabilityZone=f"{REGION}{zone}")["Subnet"][
            "SubnetId"
        ]
        for n, zone in enumerate("ab")
    ]
    certificate = acm.request_certificate(DomainName="tandem.example")["CertificateArn"]
    balancer = elbv2.create_load_balancer(Name="site", Subnets=subnets, Type="application", Scheme="internet-facing")
    arn = balancer["LoadBalancers"][0]["LoadBalancerArn"]
    groups = {
        colour: elbv2.create_target_group(
            Name=colour,
            Protocol="HTTP",
            Port=8080,
            VpcId=vpc,
            TargetType="ip",
            HealthCheckPath="/readiness",
            HealthCheckIntervalSeconds=5,
            HealthCheckTimeoutSeconds=2,
            HealthyThresholdCount=2,
            UnhealthyThresholdCount=2,
        )["TargetGroups"][0]["TargetGroupArn"]
        for colour in ("blue", "green")
    }
    listener = elbv2.create_listener(
        LoadBalancerArn=arn,
        Protocol="HTTPS",
        Port=443,
        Certificates=[{"CertificateArn": certificate}],
        DefaultActions=[
            {"Type": "fixed-response", "FixedResponseConfig": {"StatusCode": "404", "ContentType": "text/plain"}}
        ],
    )["Listeners"][0]["ListenerArn"]
    rule = elbv2.create_rule(
        ListenerArn=listener,
        Priority=10,
        Conditions=[{"Field": "path-pattern", "PathPatternConfig": {"Values": PATHS}}],
        Actions=[forward(groups, 100, 0)],
    )["Rules"][0]["RuleArn"]
    return Cloud(moto, elbv2, arn, listener, rule, groups)


@dataclass
class TargetServer:
    """A target: answers with its name, as scripted by `behaviour`."""

    name: str
    host: str
    port: int = 0
    healthy: bool = True
    seen: list[web.Request] = field(default_factory=list)
    behaviour: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/readiness":
            return web.Response(status=200 if self.healthy else 503)
        self.seen.append(request)
        if self.behaviour is not None:
            return await self.behaviour(request)
        body = await request.text()
        return web.Response(text=f"{self.name}:{body}")


@pytest.fixture
async def target() -> AsyncIterator[Callable[[str], Awaitable[TargetServer]]]:
    runners: list[web.AppRunner] = []

    async def start(name: str) -> TargetServer:
        server = TargetServer(name, f"127.0.0.{2 + len(runners)}")
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, server.host, 0).start()
        server.port = runner.addresses[0][1]
        runners.append(runner)
        return server

    yield start
    for runner in runners:
        await runner.cleanup()


@dataclass
class RunningEdge:
    """The edge, and a client that trusts its authority."""

    edge: Edge
    client: aiohttp.ClientSession
    cloud: Cloud

    async def follow(self) -> None:
        """Has the edge see moto's present state now, and waits until every target was asked once."""
        await self.edge.refresh()
        states = self.edge.health.states
        while any(state.reason == "initial" for state in states.values()):
            await asyncio.sleep(0)

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.edge.listeners.port_of(self.cloud.listener)}{path}"


@pytest.fixture
async def edge(cloud: Cloud, tmp_path: Path) -> AsyncIterator[RunningEdge]:
    certificate, key = self_signed(tmp_path)
    certificate.rename(tmp_path / "edge-ca.crt")
    key.rename(tmp_path / "edge-ca.key")
    x509.load_pem_x509_certificate((tmp_path / "edge-ca.crt").read_bytes())
    import ssl

    trust = ssl.create_default_context(cafile=str(tmp_path / "edge-ca.crt"))
    said: list[str] = []
    async with Edge(
        Source(cloud.endpoint, REGION), LoopbackAddresses(), EdgeAuthority(tmp_path), said.append, any_port=True
    ) as edge:
        connector = aiohttp.TCPConnector(ssl=trust)
        async with aiohttp.ClientSession(connector=connector) as client:
            running = RunningEdge(edge, client, cloud)
            await running.follow()
            yield running

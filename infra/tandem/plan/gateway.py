"""The gateways of a triple: smg 1.13, which finds the engines of its own pair revision and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tandem import limits
from tandem.config.base import Role
from tandem.config.serving import GatewayConfig
from tandem.plan import grace
from tandem.plan.pods import API_KEY_VARIABLES, NAMESPACE, EnvironmentVariable, Identity

WORKER_HEALTH_SECONDS: Final = 5
"""smg's default, 60, routes to a dead engine for up to three minutes."""
WORKER_HEALTH_TIMEOUT: Final = 3
WORKER_HEALTH_FAILURES: Final = 2
KEEP_ALIVE_SECONDS: Final = 15
"""Comments on a silent stream: far below the load balancer's idle timeout, so a long prefill is not cut."""


@dataclass(frozen=True)
class GatewayPlan:
    """The gateways of one colour."""

    identity: Identity
    image: str
    arguments: tuple[str, ...]
    environment: tuple[EnvironmentVariable, ...]
    replicas: int
    autoscaled: bool
    port: int
    cpu: float
    memory_gib: int
    service_account: str
    grace_seconds: int


def plan_gateway(
    identity: Identity,
    settings: GatewayConfig,
    *,
    replicas: int,
    autoscaled: bool,
    image: str,
    service_account: str,
) -> GatewayPlan:
    """`identity` is the gateway's own; the engines it may see follow from it."""
    return GatewayPlan(
        identity=identity,
        image=image,
        arguments=tuple(_arguments(identity, settings, replicas)),
        environment=API_KEY_VARIABLES,
        replicas=replicas,
        autoscaled=autoscaled,
        port=settings.listen_port,
        cpu=settings.cpu,
        memory_gib=settings.memory,
        service_account=service_account,
        grace_seconds=grace.gateway_seconds(),
    )


def _arguments(identity: Identity, settings: GatewayConfig, replicas: int) -> Iterator[str]:
    yield from ("--host", "0.0.0.0", "--port", str(settings.listen_port))
    yield from ("--prometheus-host", "0.0.0.0", "--prometheus-port", str(limits.GATEWAY_METRICS_PORT))
    yield "--pd-disaggregation"
    yield from ("--service-discovery", "--service-discovery-namespace", NAMESPACE)
    yield from ("--service-discovery-port", str(limits.ENGINE_PORT))
    for role in Role:
        selector = identity.of(role).selector
        yield from (f"--{role.value}-selector", *(f"{key}={value}" for key, value in selector.items()))
    yield from ("--prefill-policy", settings.prefill_policy, "--decode-policy", settings.decode_policy)
    yield from ("--max-concurrent-requests", str(settings.max_concurrent_requests // replicas))
    yield from ("--queue-size", str(settings.queue_size), "--queue-timeout-secs", str(settings.queue_timeout))
    yield from ("--request-timeout-secs", str(limits.GATEWAY_REQUEST_TIMEOUT))
    yield from ("--shutdown-grace-period-secs", str(limits.GATEWAY_REQUEST_TIMEOUT))
    yield from ("--sse-keepalive-secs", str(KEEP_ALIVE_SECONDS))
    # /ready answers at once and knows of draining; /health generates a token and takes up to 20 s.
    yield from ("--health-check-endpoint", "/ready")
    yield from ("--health-check-interval-secs", str(WORKER_HEALTH_SECONDS))
    yield from ("--health-check-timeout-secs", str(WORKER_HEALTH_TIMEOUT))
    yield from ("--health-failure-threshold", str(WORKER_HEALTH_FAILURES), "--health-success-threshold", "1")
    yield from ("--worker-startup-check-interval", "1")
    # Tokenizers would be fetched from a model hub; PD routing needs none.
    yield "--disable-tokenizer-autoload"
    # Prompts and answers stay in no memory but the engines'.
    yield from ("--history-backend", "none")
    yield "--log-json"
    # One word each: a key may begin with a dash. Clients and engines share the first; the second is for administration.
    yield "--api-key=$(TANDEM_API_KEY)"
    yield from ("--control-plane-api-keys", "tandem:Tandem:admin:$(TANDEM_ADMIN_API_KEY)")

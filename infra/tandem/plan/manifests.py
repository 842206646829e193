"""The Kubernetes objects of a triple, as plain JSON values.

Every selector is `Identity.selector`: it holds the pair revision, so no Service, disruption budget or spreading rule
ever counts another revision's pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tandem import limits
from tandem.config.base import NodeClass, Role
from tandem.plan.gateway import GatewayPlan
from tandem.plan.pods import (
    API_KEYS_SECRET,
    NAMESPACE,
    NODE_CLASS_LABEL,
    ZONE_ID_LABEL,
    EnvironmentVariable,
    Identity,
)
from tandem.plan.roles import WorkerPlan
from tandem.plan.timeouts import HEALTH_PATH

Manifest = dict[str, Any]

BOOTSTRAP_ANNOTATION: Final = "sglang.ai/bootstrap-port"
"""smg reads it from prefill pods and passes it to decode; without it no pair ever meets."""
READINESS_GATE_LABEL: Final = "elbv2.k8s.aws/pod-readiness-gate-inject"
"""On a namespace: a pod is ready only once the load balancer's target is healthy, so a rollout cannot outrun it."""
SIDE_CHANNEL_SYSCTL: Final = "net.ipv4.ip_local_port_range"


def namespace(*, privileged: bool) -> Manifest:
    """The namespace of all triples. `privileged`: EFA pods lock memory, which no narrower pod security level allows."""
    level = "privileged" if privileged else "baseline"
    labels = {
        "app.kubernetes.io/part-of": "tandem",
        READINESS_GATE_LABEL: "enabled",
        "pod-security.kubernetes.io/enforce": level,
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}


def service_account(name: str) -> Manifest:
    """An identity of pods; what it may do in AWS stands in the cluster stack, in the cluster in `pod_reader`."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(name),
        # Asked for by the pods that need it.
        "automountServiceAccountToken": False,
    }


def pod_reader(account: str) -> tuple[Manifest, Manifest]:
    """Role and binding with which a gateway finds its engines: pods of this namespace, to read."""
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": _metadata("pod-reader"),
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": _metadata("pod-reader"),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "pod-reader"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
    }
    return role, binding


def service(identity: Identity, ports: Sequence[tuple[str, int]], *, headless: bool) -> Manifest:
    """A Service over one role's pods. `ports`: name and number, the same on the Service and on the pod."""
    metadata = _metadata(identity.service, identity.labels)
    # The pods that it waits for are made after it: they need its target binding first (see `deployment`).
    metadata["annotations"] = {"pulumi.com/skipAwait": "true"}
    spec: dict[str, Any] = {
        "selector": identity.selector,
        "ports": [{"name": name, "port": number, "targetPort": name, "protocol": "TCP"} for name, number in ports],
        "type": "ClusterIP",
    }
    if headless:
        spec["clusterIP"] = "None"
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def worker_service(plan: WorkerPlan) -> Manifest:
    """Names a role's engines for people and scraping. Headless, and never with 8998: decode must meet a pod, no VIP."""
    return service(plan.identity, [("http", limits.ENGINE_PORT)], headless=True)


def disruption_budget(identity: Identity) -> Manifest:
    """One pod of the role at a time may be taken away by a node drain."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(identity.name, identity.labels),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": identity.selector}},
    }


def target_group_binding(identity: Identity, target_group_arn: str, port: int) -> Manifest:
    """Registers the gateways' pod addresses with the colour's target group."""
    return {
        "apiVersion": "elbv2.k8s.aws/v1beta1",
        "kind": "TargetGroupBinding",
        "metadata": _metadata(identity.service, identity.labels),
        "spec": {
            "targetGroupARN": target_group_arn,
            "targetType": "ip",
            "serviceRef": {"name": identity.service, "port": port},
        },
    }


def worker(plan: WorkerPlan) -> Manifest:
    """The Deployment of one role's engines."""
    pod: dict[str, Any] = {
        "serviceAccountName": plan.service_account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": plan.grace_seconds,
        "nodeSelector": {NODE_CLASS_LABEL: plan.node_class.value}
        | ({ZONE_ID_LABEL: plan.zone_id} if plan.zone_id else {}),
        "tolerations": [
            {"key": NODE_CLASS_LABEL, "operator": "Equal", "value": plan.node_class.value, "effect": "NoSchedule"}
        ],
        "topologySpreadConstraints": [_spread(plan.identity, "kubernetes.io/hostname")],
        "securityContext": _pod_security(plan),
        "containers": [_engine(plan)],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{plan.shared_memory_gib}Gi"}},
            # ZMQ's ipc files: two engines must never share them.
            {"name": "tmp", "emptyDir": {}},
            {"name": "cache", "emptyDir": {}},
        ],
    }
    annotations = {BOOTSTRAP_ANNOTATION: str(limits.BOOTSTRAP_PORT)} if plan.role is Role.PREFILL else {}
    # A GPU is never spare: the old engine leaves before the new one comes.
    strategy = {"maxSurge": 0, "maxUnavailable": 1}
    return deployment(plan.identity, plan.replicas, strategy, pod, annotations)


def gateway(plan: GatewayPlan) -> Manifest:
    """The Deployment of one colour's gateways."""
    pod: dict[str, Any] = {
        "serviceAccountName": plan.service_account,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": plan.grace_seconds,
        "nodeSelector": {NODE_CLASS_LABEL: NodeClass.SYSTEM.value},
        "topologySpreadConstraints": [
            _spread(plan.identity, "topology.kubernetes.io/zone"),
            _spread(plan.identity, "kubernetes.io/hostname"),
        ],
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [_smg(plan)],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    return deployment(plan.identity, plan.replicas, {"maxSurge": 1, "maxUnavailable": 0}, pod, {})


def deployment(
    identity: Identity, replicas: int, rolling: dict[str, int], pod: dict[str, Any], annotations: dict[str, str]
) -> Manifest:
    """A Deployment whose pods all are of one pair revision: another revision is another Deployment."""
    metadata: dict[str, Any] = {"labels": identity.labels}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(identity.name, identity.labels),
        "spec": {
            "replicas": replicas,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": identity.selector},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": {"metadata": metadata, "spec": pod},
        },
    }


def _engine(plan: WorkerPlan) -> Manifest:
    ports = [("http", limits.ENGINE_PORT)]
    if plan.role is Role.PREFILL:
        ports.append(("bootstrap", limits.BOOTSTRAP_PORT))
    accelerators: dict[str, str] = {"nvidia.com/gpu": str(plan.gpus)}
    if plan.efa_interfaces:
        accelerators["vpc.amazonaws.com/efa"] = str(plan.efa_interfaces)
    memory = f"{plan.memory_gib}Gi"
    return {
        "name": "engine",
        "image": plan.image,
        "args": list(plan.arguments),
        "env": [_variable(variable) for variable in plan.environment],
        "ports": [_container_port(name, number) for name, number in ports],
        "resources": {
            "requests": {"cpu": _cores(plan.cpu), "memory": memory, **accelerators},
            "limits": {"memory": memory, **accelerators},
        },
        "startupProbe": {
            **_get("/health", "http"),
            "periodSeconds": plan.startup_period_seconds,
            "timeoutSeconds": limits.HEALTH_PROBE_TIMEOUT,
            "failureThreshold": plan.startup_failures,
        },
        "readinessProbe": {
            **_get("/ready", "http"),
            "periodSeconds": plan.readiness_period_seconds,
            "timeoutSeconds": 3,
            "failureThreshold": 2,
        },
        # Beside killing what hangs, this is what makes the engine notice that it hangs: only /health runs a token.
        "livenessProbe": {
            **_get("/health", "http"),
            "periodSeconds": 30,
            "timeoutSeconds": limits.HEALTH_PROBE_TIMEOUT,
            "failureThreshold": 4,
        },
        "lifecycle": _pause_before_stop(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": _container_security(lock_memory=plan.efa_interfaces > 0),
        "volumeMounts": [
            {"name": "shm", "mountPath": "/dev/shm"},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "cache", "mountPath": "/var/cache/sglang"},
        ],
    }


def _smg(plan: GatewayPlan) -> Manifest:
    memory = f"{plan.memory_gib}Gi"
    return {
        "name": "gateway",
        "image": plan.image,
        "args": list(plan.arguments),
        "env": [_variable(variable) for variable in plan.environment],
        "ports": [_container_port("http", plan.port), _container_port("metrics", limits.GATEWAY_METRICS_PORT)],
        "resources": {
            "requests": {"cpu": _cores(plan.cpu), "memory": memory},
            "limits": {"memory": memory},
        },
        "startupProbe": {**_get("/liveness", "http"), "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 60},
        # 200 once it knows a prefill and a decode that are ready; 503 from the moment it is told to stop.
        "readinessProbe": {
            **_get(HEALTH_PATH, "http"),
            "periodSeconds": 2,
            "timeoutSeconds": 2,
            "failureThreshold": 2,
        },
        "livenessProbe": {**_get("/liveness", "http"), "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3},
        "lifecycle": _pause_before_stop(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": _container_security(lock_memory=False),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }


def _metadata(name: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "labels": labels or {"app.kubernetes.io/part-of": "tandem"}}


def _pod_security(plan: WorkerPlan) -> Manifest:
    security: Manifest = {"seccompProfile": {"type": "RuntimeDefault"}}
    if plan.run_as_user is not None:
        security |= {"runAsNonRoot": True, "runAsUser": plan.run_as_user, "fsGroup": plan.run_as_user}
    if plan.pinned_ports:
        low, high = limits.SIDE_CHANNEL_PORTS
        security["sysctls"] = [{"name": SIDE_CHANNEL_SYSCTL, "value": f"{low} {high}"}]
    return security


def _container_security(*, lock_memory: bool) -> Manifest:
    capabilities: Manifest = {"drop": ["ALL"]}
    if lock_memory:
        # Registering memory with EFA pins it.
        capabilities["add"] = ["IPC_LOCK"]
    return {"allowPrivilegeEscalation": False, "capabilities": capabilities}


def _spread(identity: Identity, topology: str) -> Manifest:
    return {
        "maxSkew": 1,
        "topologyKey": topology,
        # Better two engines on one node than one engine less.
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": identity.selector},
    }


def _pause_before_stop() -> Manifest:
    # SIGTERM comes only after gateways and load balancer have noticed that the pod leaves.
    return {"preStop": {"sleep": {"seconds": limits.PRESTOP_SECONDS}}}


def _variable(variable: EnvironmentVariable) -> Manifest:
    if variable.field_path is not None:
        return {"name": variable.name, "valueFrom": {"fieldRef": {"fieldPath": variable.field_path}}}
    if variable.secret_key is not None:
        reference = {"name": API_KEYS_SECRET, "key": variable.secret_key}
        return {"name": variable.name, "valueFrom": {"secretKeyRef": reference}}
    return {"name": variable.name, "value": variable.value or ""}


def _container_port(name: str, number: int) -> Manifest:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def _get(path: str, port: str) -> Manifest:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}}


def _cores(cpu: float) -> str:
    return str(int(cpu)) if cpu == int(cpu) else f"{round(cpu * 1000)}m"

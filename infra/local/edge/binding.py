"""Binds pods to target groups as the AWS Load Balancer Controller does: same resource, same fields that Tandem uses.

Watches TargetGroupBindings and EndpointSlices, registers ready pod addresses of the named Service in the target group and
deregisters the others. Level-triggered: every change of either kind leads to one comparison of what is with what should be.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from tandem.errors import CloudUnavailable

from local.edge.model import Target
from local.kubernetes.api import KubernetesApi

GROUP = "elbv2.k8s.aws"
VERSION = "v1beta1"
FINALIZER = "elbv2.k8s.aws/resources"
BINDINGS = f"/apis/{GROUP}/{VERSION}/targetgroupbindings"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WATCH_SECONDS = 300
RETRY_SECONDS = 1.0

DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"targetgroupbindings.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {
            "kind": "TargetGroupBinding",
            "listKind": "TargetGroupBindingList",
            "plural": "targetgroupbindings",
            "singular": "targetgroupbinding",
        },
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["serviceRef"],
                                "properties": {
                                    "targetGroupARN": {"type": "string", "minLength": 1},
                                    "targetGroupName": {"type": "string"},
                                    "targetType": {"type": "string", "enum": ["instance", "ip"]},
                                    "ipAddressType": {"type": "string", "enum": ["ipv4", "ipv6"]},
                                    "vpcID": {"type": "string"},
                                    "multiClusterTargetGroup": {"type": "boolean"},
                                    "serviceRef": {
                                        "type": "object",
                                        "required": ["name", "port"],
                                        "properties": {
                                            "name": {"type": "string"},
                                            "port": {"x-kubernetes-int-or-string": True},
                                        },
                                    },
                                    "nodeSelector": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "networking": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"observedGeneration": {"type": "integer", "format": "int64"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}


@dataclass
class _Kind:
    """A watched kind, kept whole."""

    path: str
    items: dict[str, dict[str, Any]]
    known: bool = False


class BindingController:
    """Runs in threads of its own. `elbv2` is a boto3 client; `say` takes one line for the log."""

    def __init__(self, kubeconfig: Path, elbv2: Any, say: Callable[[str], None]) -> None:
        self._kubeconfig = kubeconfig
        self._elbv2 = elbv2
        self._say = say
        self._changed = threading.Condition()
        self._dirty = True
        self._bindings = _Kind(BINDINGS, {})
        self._slices = _Kind(SLICES, {})
        self._said: str | None = None

    def start(self) -> None:
        """Starts the threads; they end with the process."""
        for target in (self._install_then_watch, self._watch_slices, self._reconcile_forever):
            threading.Thread(target=target, daemon=True, name=target.__name__).start()

    def _install_then_watch(self) -> None:
        self._until_done(self._install)
        self._follow(self._bindings)

    def _watch_slices(self) -> None:
        self._follow(self._slices)

    def _install(self) -> None:
        KubernetesApi(self._kubeconfig).create(DEFINITIONS, DEFINITION)

    def _until_done(self, action: Callable[[], None]) -> None:
        pause = threading.Event()
        while True:
            try:
                return action()
            except (CloudUnavailable, http.client.HTTPException, OSError, ValueError, KeyError) as error:
                self._say_once(f"Kubernetes does not answer yet: {error}")
                pause.wait(RETRY_SECONDS)

    def _follow(self, kind: _Kind) -> None:
        while True:
            self._until_done(lambda: self._list_and_watch(kind))

    def _list_and_watch(self, kind: _Kind) -> None:
        api = KubernetesApi(self._kubeconfig)
        # The collection may be new: the server knows a definition a moment after it was made.
        if (listed := api.get(kind.path)) is None:
            raise CloudUnavailable(f"{kind.path}: not served yet")
        self._update(kind, {_key(item): item for item in listed["items"]})
        self._said = None
        version = listed["metadata"]["resourceVersion"]
        for event in api.watch(kind.path, version, WATCH_SECONDS):
            item = event["object"]
            if event["type"] == "ERROR":
                return
            if event["type"] == "BOOKMARK":
                continue
            items = dict(kind.items)
            if event["type"] == "DELETED":
                items.pop(_key(item), None)
            else:
                items[_key(item)] = item
            self._update(kind, items)

    def _update(self, kind: _Kind, items: dict[str, dict[str, Any]]) -> None:
        with self._changed:
            kind.items, kind.known = items, True
            self._dirty = True
            self._changed.notify()

    def _reconcile_forever(self) -> None:
        api: KubernetesApi | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._dirty and self._bindings.known and self._slices.known)
                self._dirty = False
                bindings, slices = list(self._bindings.items.values()), list(self._slices.items.values())
            try:
                api = api or KubernetesApi(self._kubeconfig)
                for binding in bindings:
                    self._reconcile(api, binding, slices)
            except (CloudUnavailable, http.client.HTTPException, BotoCoreError, ClientError, OSError) as error:
                self._say_once(f"binding targets failed, will be tried again: {error}")
                api = None
                threading.Event().wait(RETRY_SECONDS)
                with self._changed:
                    self._dirty = True

    def _reconcile(self, api: KubernetesApi, binding: dict[str, Any], slices: list[dict[str, Any]]) -> None:
        metadata, spec = binding["metadata"], binding["spec"]
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{metadata['namespace']}/targetgroupbindings/{metadata['name']}"
        finalizers = metadata.get("finalizers") or []
        leaving = "deletionTimestamp" in metadata
        if leaving and FINALIZER not in finalizers:
            return
        if not leaving and FINALIZER not in finalizers:
            api.merge(path, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})
        wanted = set() if leaving else ready_targets(binding, slices)
        self._register(spec["targetGroupARN"], wanted, f"{metadata['namespace']}/{metadata['name']}")
        if leaving:
            api.merge(path, {"metadata": {"finalizers": [name for name in finalizers if name != FINALIZER]}})
        elif (binding.get("status") or {}).get("observedGeneration") != metadata["generation"]:
            api.merge(f"{path}/status", {"status": {"observedGeneration": metadata["generation"]}})

    def _register(self, arn: str, wanted: set[Target], name: str) -> None:
        try:
            described = self._elbv2.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
        except ClientError as error:
            if "TargetGroupNotFound" in str(error):
                self._say_once(f"{name}: target group {arn} does not exist")
                return
            raise
        present = {
            Target(d["Target"]["Id"], int(d["Target"]["Port"]))
            for d in described
            if d["TargetHealth"]["State"] != "draining"
        }
        for verb, targets in (("register", wanted - present), ("deregister", present - wanted)):
            if targets:
                call = getattr(self._elbv2, f"{verb}_targets")
                call(TargetGroupArn=arn, Targets=[{"Id": t.host, "Port": t.port} for t in sorted(targets, key=str)])
                self._say(f"{name}: {verb} {', '.join(sorted(map(str, targets)))}")

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._say(text)


def ready_targets(binding: dict[str, Any], slices: list[dict[str, Any]]) -> set[Target]:
    """Addresses of ready pods behind the binding's Service. Its port may be given by name or by number."""
    reference, namespace = binding["spec"]["serviceRef"], binding["metadata"]["namespace"]
    wanted = reference["port"]
    found: set[Target] = set()
    for item in slices:
        labels = item["metadata"].get("labels") or {}
        if item["metadata"]["namespace"] != namespace or labels.get("kubernetes.io/service-name") != reference["name"]:
            continue
        ports = item.get("ports") or []
        # A slice knows ports by name and by the pods' number; a Service with one port needs no name.
        named = [p["port"] for p in ports if p.get("name") == wanted or p["port"] == wanted]
        chosen = named or ([ports[0]["port"]] if len(ports) == 1 else [])
        for endpoint in item.get("endpoints") or []:
            conditions = endpoint.get("conditions") or {}
            if conditions.get("ready", True) and not conditions.get("terminating"):
                found |= {Target(address, port) for address in endpoint["addresses"] for port in chosen}
    return found


def _key(item: dict[str, Any]) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"

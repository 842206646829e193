"""The main job on one machine: what `tandem up local` promises, seen from outside as its user sees it.

The tests of this module share one site and leave it serving.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import openai
import pytest

from tests.e2e import processes
from tests.e2e.conftest import Site

pytestmark = [pytest.mark.cloud, pytest.mark.engine, pytest.mark.timeout(600)]

STACKS = ("local-registry", "local-network", "local-cluster", "local-edge", "local-serving")
RECOVERY_SECONDS = 300
"""A request that meets a dead half may take a minute of it to be given up by the client."""


def address(site: Site) -> str:
    return str(site.first_up["proof"]["address"])


def api_key(site: Site) -> str:
    return site.tandem("secrets", "show-api-key", "local").stdout.strip()


def trust(site: Site) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(site.state / "local" / "pki" / "edge-ca.crt"))


def test_up_ends_with_a_streamed_answer_whose_kv_moved_and_says_what_is_simulated(site: Site) -> None:
    proof = site.first_up["proof"]
    assert proof["answer"]["text"].strip(), "the answer has text"
    assert proof["answer"]["completion_tokens"] > 1, "several tokens, so that TPOT means something"
    assert proof["answer"]["ttft_seconds"] > 0
    assert proof["answer"]["tpot_seconds"] > 0
    assert proof["kv_bytes"] > 0, "prefill's KV must have travelled to decode"
    assert "simulated" in proof["answer"]["system_fingerprint"]
    assert site.first_up["cost_usd_per_hour_on_aws"] > 0
    assert site.first_up["simulated"]


def test_up_again_changes_nothing(site: Site) -> None:
    again = site.json("up", "local")
    changed = {op for changes in again["changes"].values() for op in changes} - {"same"}
    assert not changed, f"a second up must find nothing to do: {again['changes']}"


@pytest.mark.parametrize("stack", STACKS)
def test_plain_pulumi_sees_no_change_under_the_printed_environment(site: Site, stack: str) -> None:
    done = site.shell(f"pulumi preview -s {stack} --expect-no-changes --non-interactive")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("stack", STACKS)
def test_the_world_is_as_the_state_says(site: Site, stack: str) -> None:
    done = site.shell(f"pulumi refresh -s {stack} --expect-no-changes --non-interactive --yes")
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_a_key_the_answer_is_401(site: Site) -> None:
    request = urllib.request.Request(f"{address(site)}/v1/chat/completions", data=b"{}", method="POST")
    request.add_header("Content-Type", "application/json")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, context=trust(site), timeout=30)
    assert refusal.value.code == 401


@pytest.mark.parametrize("path", ["/workers", "/server_info", "/get_server_info", "/flush_cache", "/metrics", "/"])
def test_paths_that_are_not_for_clients_do_not_exist_at_the_edge(site: Site, path: str) -> None:
    request = urllib.request.Request(address(site) + path, headers={"Authorization": f"Bearer {api_key(site)}"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, context=trust(site), timeout=30)
    assert refusal.value.code == 404


def test_the_openai_client_streams_from_the_printed_address(site: Site) -> None:
    with openai.DefaultHttpxClient(verify=trust(site)) as transport:
        client = openai.OpenAI(
            base_url=f"{address(site)}/v1", api_key=api_key(site), http_client=transport, max_retries=0
        )
        model = client.models.list().data[0].id
        chunks = list(
            client.chat.completions.create(
                model=model, messages=[{"role": "user", "content": "Count."}], stream=True, max_tokens=8
            )
        )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text, "content came"
    assert chunks[-1].choices == [] or chunks[-1].choices[0].finish_reason in ("length", "stop")


def test_status_names_every_part(site: Site) -> None:
    status = site.json("status", "local")
    assert status["serving"] is True
    assert {pod["role"] for pod in status["pods"] if pod["ready"]} == {"gateway", "prefill", "decode"}
    assert {node["class"] for node in status["nodes"]} == {"system", "compute", "bandwidth"}
    revisions = {pod["pair_revision"] for pod in status["pods"]}
    assert len(revisions) == 1, "one colour runs one pair"
    assert all(summary["resources"] > 0 for summary in status["stacks"].values())


def serves_again(site: Site) -> None:
    """Returns when a whole answer came. Every try is a whole request; there is no other event to wait for."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        done = site.tandem("chat", "local", "--max-tokens", "4", "--json", check=False)
        if done.returncode == 0:
            assert json.loads(done.stdout)["kv_bytes"] > 0
            return
        assert time.monotonic() < deadline, f"the site does not serve again: {done.stderr}"


@pytest.mark.parametrize(
    "words",
    [("engine_sim", "decode"), ("engine_sim", "prefill"), ("smg::router",), ("local.kubernetes.runtime.shim",)],
    ids=["decode", "prefill", "gateway", "shim"],
)
def test_the_site_serves_again_by_itself_after_a_kill_of_a_container(site: Site, words: tuple[str, ...]) -> None:
    victims = processes.find(site.state, *words)
    assert victims, f"no process matches {words}"
    processes.kill(victims[0])
    serves_again(site)


def comes_back(site: Site, name: str) -> Mapping[str, Any]:
    """Kills the process of that name, and gives what the status says of it when another does its work."""
    killed = site.process(name)["pid"]
    processes.kill(killed)
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        found = site.process(name)
        if found and found["pid"] not in (None, killed) and found["state"] == "ready":
            return found
        assert time.monotonic() < deadline, f"{name} does not come back: {found}"
        time.sleep(0.05)  # a status file tells nobody when it changes


def test_every_process_of_the_local_cloud_comes_back_and_status_says_that_it_died(site: Site) -> None:
    supervised = [
        process["name"]
        for process in site.local_status()["processes"]
        if process["state"] == "ready" and process["name"] not in ("supervisor", "keeper", "keeper-twin")
    ]
    kinds = {name.partition("-ip-")[0] for name in supervised}
    assert kinds >= {
        "doors",
        "aws",
        "routes",
        "etcd",
        "kube-apiserver",
        "kube-proxy",
        "coredns",
        "nodes",
        "edge",
        "kubelet",
    }
    for name in supervised:
        before = site.process(name)["restarts"]
        after = comes_back(site, name)
        assert after["restarts"] > before
        assert after["last_exit"] == "killed by SIGKILL"
    told = {event["what"] + " " + event["process"] for event in site.local_status()["events"]}
    assert {f"died {name}" for name in supervised[-10:]} <= told
    serves_again(site)


@pytest.mark.parametrize("name", ["keeper-twin", "keeper", "supervisor"])
def test_who_watches_the_others_is_watched_too(site: Site, name: str) -> None:
    comes_back(site, name)
    serves_again(site)
    assert {process["name"] for process in site.local_status()["processes"]} >= {"keeper", "keeper-twin", "supervisor"}

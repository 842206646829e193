"""What a serving stack becomes on a site, and why it sometimes cannot."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest
from tandem import limits
from tandem.config.base import Colour, NodeClass, Role
from tandem.facts import engine_flags
from tandem.plan import grace

from tests.tandem import stacks
from tests.tandem.plan.serving_sites import faults, nodes, only_fault, plan, site


def described(**blue: Any) -> dict[str, Any]:
    description = stacks.data("local-serving")
    for path, value in blue.items():
        here: Any = description["colours"]["blue"]
        *parents, last = path.split("__")
        for part in parents:
            here = here[part]
        here[last] = value
    return description


def flag(arguments: tuple[str, ...], name: str) -> str:
    return arguments[arguments.index(name) + 1]


SHARED = (
    "--served-model-name",
    "--dtype",
    "--kv-cache-dtype",
    "--page-size",
    "--context-length",
    "--attention-backend",
    "--disaggregation-transfer-backend",
    "--disaggregation-decode-allocation-policy",
)


def test_both_roles_render_the_same_literals() -> None:
    workers = plan().triples[Colour.BLUE].workers
    for name in SHARED:
        assert flag(workers[Role.PREFILL].arguments, name) == flag(workers[Role.DECODE].arguments, name), name
        assert flag(workers[Role.PREFILL].arguments, name) != "auto"


def test_every_command_line_is_one_that_the_engine_takes() -> None:
    for worker in plan().triples[Colour.BLUE].workers.values():
        assert engine_flags.check(worker.arguments) == []


def test_a_parser_that_the_engine_does_not_know_is_refused() -> None:
    found = faults(described(pair__tool_call_parser="lama3"))
    assert len(found) == 2 and "--tool-call-parser" in str(found[0])


def test_no_key_stands_in_an_argument() -> None:
    triple = plan().triples[Colour.BLUE]
    for arguments in (triple.gateway.arguments, *(w.arguments for w in triple.workers.values())):
        keys = [argument for argument in arguments if "API_KEY" in argument]
        assert len(keys) == 2, "a key for clients and one for administration"
        assert all("$(TANDEM_" in key for key in keys)


def test_the_guides_limit_is_shared_by_the_gateways() -> None:
    arguments = plan().triples[Colour.BLUE].gateway.arguments
    assert flag(arguments, "--max-concurrent-requests") == "500"


def test_the_gateways_see_only_engines_of_their_own_revision() -> None:
    triple = plan().triples[Colour.BLUE]
    arguments = triple.gateway.arguments
    for role in Role:
        start = arguments.index(f"--{role}-selector") + 1
        assert set(arguments[start : start + 3]) == {
            f"tandem.dev/pair-revision={triple.revision}",
            "tandem.dev/colour=blue",
            f"tandem.dev/role={role}",
        }


def test_grace_outlasts_the_longest_work_of_each_role() -> None:
    assert grace.worker_seconds(Role.PREFILL) >= limits.PRESTOP_SECONDS + limits.ENGINE_TRANSFER_TIMEOUT + 60
    assert grace.worker_seconds(Role.DECODE) >= limits.PRESTOP_SECONDS + limits.GATEWAY_REQUEST_TIMEOUT + 60
    assert grace.gateway_seconds() > limits.PRESTOP_SECONDS + limits.GATEWAY_REQUEST_TIMEOUT


def test_efa_is_set_up_and_asked_for_only_where_the_backend_uses_it() -> None:
    tcp = plan().triples[Colour.BLUE].workers[Role.DECODE]
    assert tcp.efa_interfaces == 0 and "FI_PROVIDER" not in {v.name for v in tcp.environment}
    for backend, variable in (("mooncake", "MOONCAKE_PROTOCOL"), ("nixl", "SGLANG_DISAGGREGATION_NIXL_BACKEND")):
        description = described(pair__transfer_backend=backend, prefill__tensor_parallel=2, decode__tensor_parallel=2)
        efa = plan(description, site(efa=True)).triples[Colour.BLUE].workers[Role.DECODE]
        assert efa.efa_interfaces == 4, "two of eight GPUs get a quarter of sixteen devices"
        assert variable in {v.name for v in efa.environment}


def test_a_checkpoint_in_the_bucket_is_streamed_from_it() -> None:
    worker = plan(described(pair__prefill__uri="weights:llama/w8a8")).triples[Colour.BLUE].workers[Role.PREFILL]
    assert flag(worker.arguments, "--model-path") == "s3://tandem-weights-test/llama/w8a8"
    assert flag(worker.arguments, "--load-format") == "runai_streamer"


def test_an_efa_backend_without_efa_is_refused() -> None:
    found = only_fault(described(pair__transfer_backend="mooncake"))
    assert found.where.endswith("pair.transfer_backend") and "g6e.12xlarge has none" in found.rule


def test_a_timeout_below_what_the_kv_needs_names_the_least_that_works() -> None:
    description = stacks.data("local-serving")
    description["cache_transfer"]["timeout_ms"] = 100
    found = only_fault(description)
    assert found.where.endswith("cache_transfer.timeout_ms") and found.fix.startswith("Write 430 or more")
    description["cache_transfer"]["timeout_ms"] = 430
    assert faults(description) == []


def test_a_scheme_that_the_nodes_cannot_run_names_the_nearest() -> None:
    found = only_fault(where=site(compute="p4d.24xlarge"))
    assert found.where.endswith("colours.blue.pair.prefill.scheme")
    assert "A100" in found.rule and "w8a8-int8" in found.fix


def test_a_family_that_the_nodes_cannot_run_is_refused_at_the_guides_key() -> None:
    description = described(pair__decode__scheme=None)
    description["decode_cluster"]["quantization"] = "w4a4"
    found = only_fault(description)
    assert found.where.endswith("decode_cluster.quantization") and "w4a16" in found.fix


def test_what_is_allowed_but_unproved_is_said() -> None:
    warnings = plan(where=site(compute="p4d.24xlarge", bandwidth="p4d.24xlarge"), description=int8()).warnings
    assert any("w4a8-humming" in warning and "jit" in warning for warning in warnings)
    assert plan().warnings == ()


def int8() -> dict[str, Any]:
    return described(pair__prefill__scheme="w8a8-int8")


def test_an_engine_stands_in_one_node() -> None:
    found = faults(described(prefill__tensor_parallel=8))
    assert any(f.where.endswith("prefill.tensor_parallel") and f.fix == "Write 4 or less" for f in found)


def test_weights_that_do_not_fit_name_the_parallelism_that_does() -> None:
    description = described(pair__model__parameters_billion=70.6)
    found = [f for f in faults(description) if "do not fit" in f.rule]
    assert [f.where.rpartition("blue.")[2] for f in found] == ["prefill.tensor_parallel"]
    assert found[0].fix == "Write 2"


def test_more_engines_than_the_nodes_hold_are_refused_over_both_colours() -> None:
    description = described(decode__tensor_parallel=8, decode__cpu=2, decode__replicas=4)
    assert faults(description) == []
    description["colours"]["green"] = copy.deepcopy(description["colours"]["blue"])
    found = only_fault(description)
    assert found.where.endswith("decode_cluster.max_nodes") and found.fix.startswith("Write 8 or more")


def test_a_floor_that_the_engines_cannot_fill_is_refused() -> None:
    description = stacks.data("local-serving")
    description["decode_cluster"]["min_nodes"] = 4
    assert only_fault(description).fix == "Write 2, or ask for 4 replicas"


def test_more_nodes_than_the_cluster_stack_allows_are_refused() -> None:
    description = stacks.data("local-serving")
    description["decode_cluster"]["max_nodes"] = 20
    found = only_fault(description)
    assert found.where.endswith("decode_cluster.max_nodes") and found.fix.startswith("Write 4 or less")


def test_a_class_without_nodes_is_refused() -> None:
    only_compute = dataclasses.replace(site(), nodes={NodeClass.COMPUTE: nodes(NodeClass.COMPUTE, "g6e.12xlarge")})
    assert "no node group of class bandwidth" in only_fault(where=only_compute).rule


def test_a_port_that_the_network_does_not_open_is_refused() -> None:
    found = only_fault(where=site(gateway_port=9000))
    assert found.where.endswith("gateway.listen_port") and found.fix.startswith("Write 9000")


@pytest.mark.parametrize("missing", ["gateway", "engine-sim"])
def test_an_image_without_a_repository_is_refused(missing: str) -> None:
    repositories = {name: url for name, url in site().repositories.items() if name != missing}
    assert "no" in only_fault(where=site(repositories=repositories)).rule


def test_an_engine_that_asks_for_more_than_a_node_is_refused() -> None:
    assert any("cores for pods" in f.rule for f in faults(described(prefill__cpu=64)))
    assert any("GiB for pods" in f.rule for f in faults(described(prefill__memory=1000)))

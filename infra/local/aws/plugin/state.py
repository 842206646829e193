"""Properties of a resource as state keeps them: tags split, blocks settled, secrets marked."""

from __future__ import annotations

import json
from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.compare import is_empty, same, settle
from local.aws.plugin.handler import Handler, Properties, RecordedHandler
from local.aws.plugin.schema import ResourceSchema
from local.aws.plugin.wire import UNKNOWN, Secret, has_secret, plain


def all_tags(defaults: dict[str, str], tags: Any) -> Any:
    """Default tags of the provider under the resource's own."""
    return UNKNOWN if tags is UNKNOWN else {**defaults, **(tags or {})}


def visible(inputs: Properties) -> Properties:
    """Inputs without the bookkeeping keys."""
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def with_texts(schema: ResourceSchema, inputs: Properties) -> Properties:
    """Documents that the program gave as objects, as the JSON text AWS takes."""
    return {
        name: json.dumps(value)
        if isinstance(value, dict) and schema.inputs.get(name, {}).get("type") == "any"
        else value
        for name, value in inputs.items()
    }


def observe(
    handler: Handler,
    schema: ResourceSchema,
    cloud: Cloud,
    name: str,
    known: Properties,
    wanted: Properties | None = None,
) -> Properties | None:
    """The state of resource `name` as it is now, written the way `known` writes it; None when it is gone.

    `wanted`, after a creation or an update, are the inputs that were asked for: what moto does not keep of them is recorded.
    """
    observed = handler.read(cloud, name, known)
    if observed is None:
        return None
    if not isinstance(handler, RecordedHandler):
        observed.update(_beside_moto(handler, schema, cloud, name, observed, wanted))
    if "tagsAll" in observed or (schema.takes_tags and "tags" in observed):
        split_tags(observed, cloud.session.default_tags, known.get("tags") or {})
    if schema.regional:
        observed.setdefault("region", cloud.region)
    state = {key: value for key, value in known.items() if key not in observed}
    for key, value in observed.items():
        if is_empty(value):
            # Nothing there: keep the program's own way of saying so, or the computed nothing.
            if key in known and is_empty(known[key]):
                state[key] = known[key]
            elif value is not None and (key in schema.computed or isinstance(value, bool | int)):
                state[key] = value
        else:
            state[key] = settle(known[key], value) if key in known else value
    return state


def _beside_moto(
    handler: Handler,
    schema: ResourceSchema,
    cloud: Cloud,
    name: str,
    observed: Properties,
    wanted: Properties | None,
) -> Properties:
    """Every input that the handler cannot read from moto: as recorded, or None."""
    inputs = {*schema.inputs, "tagsAll"} if schema.takes_tags else set(schema.inputs)
    unread = inputs - {*observed, "tags", "region"}
    before = cloud.recorded(handler.type, name)
    kept: Properties = (before or {"outputs": {}})["outputs"]
    if wanted is not None:
        given = {key: wanted[key] for key in sorted(unread) if wanted.get(key) is not None}
        kept = {
            key: value for key, value in given.items() if not (is_empty(value) and same(value, schema.default(key)))
        }
        if kept or before is not None:
            cloud.record(handler.type, name, kept, whole=False)
    said = f"recorded only: {', '.join(sorted(kept))}" if kept else observed.get("__simulated")
    return {**{key: kept.get(key) for key in unread}, "__simulated": said}


def split_tags(observed: Properties, defaults: dict[str, str], own: dict[str, str]) -> None:
    """Set `tags` and `tagsAll` from what was read. A tag that AWS set itself is neither."""
    everything = {key: value for key, value in (observed.get("tagsAll") or {}).items() if not key.startswith("aws:")}
    observed["tagsAll"] = everything
    observed["tags"] = {key: value for key, value in everything.items() if key in own or defaults.get(key) != value}


def foretold(schema: ResourceSchema, inputs: Properties, defaults: dict[str, str]) -> Properties:
    """Outputs of a creation that has not happened: inputs as they are, everything computed unknown."""
    outputs = visible(inputs)
    for name in (*schema.computed, *schema.optional_computed):
        if "." not in name and outputs.get(name) is None:
            outputs[name] = UNKNOWN
    if schema.takes_tags:
        outputs["tagsAll"] = all_tags(defaults, plain(inputs.get("tags")))
    return outputs


def merged(state: Any, inputs: Any) -> Any:
    """State after an update that has not happened: blocks keep what AWS filled in."""
    if isinstance(state, dict) and isinstance(inputs, dict):
        return {**state, **{key: merged(state.get(key), value) for key, value in inputs.items()}}
    return inputs


def mark_secrets(schema: ResourceSchema, state: Properties, *sources: Properties) -> Properties:
    """The state with every property marked that is sensitive by type or was secret in one of the sources."""
    secret = set(schema.sensitive)
    for source in sources:
        secret.update(key for key, value in source.items() if has_secret(value))
    if "tags" in secret:
        # All tags hold the own ones.
        secret.add("tagsAll")
    return {key: Secret(value) if key in secret and value is not None else value for key, value in state.items()}


def known_after_update(
    of_type: ResourceSchema, state: Properties, news: Properties, changed: frozenset[str]
) -> Properties:
    """State and new inputs together, without the inputs that the program took away."""
    dropped = {name for name in changed if name not in news and name not in of_type.optional_computed}
    kept = {key: value for key, value in state.items() if key not in dropped}
    wanted = visible(news)
    if "tags" not in wanted:
        kept.pop("tags", None)
    return {**kept, **wanted}


def foretold_update(
    handler: Handler,
    of_type: ResourceSchema,
    state: Properties,
    news: Properties,
    old_inputs: Properties,
    changed: frozenset[str],
) -> Properties:
    known = known_after_update(of_type, state, {}, frozenset(set(old_inputs) - set(news)))
    outputs: Properties = merged(known, visible(news))
    for name in handler.unknown_after(news, changed):
        outputs[name] = UNKNOWN
    return outputs

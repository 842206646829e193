"""The provider protocol. One method a call of the engine; what a type means is in its handler."""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import Any

import grpc
from google.protobuf import any_pb2, empty_pb2
from google.rpc import status_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from local.aws.plugin import endpoint, invokes, registry, schema
from local.aws.plugin.cloud import Cloud, Rejected, Session, Unfinished, error_code
from local.aws.plugin.compare import is_empty
from local.aws.plugin.configuration import new_session, provider_arguments
from local.aws.plugin.diff import Difference, compare_tags, difference, ignored
from local.aws.plugin.handler import AlreadyExists, Handler, Properties
from local.aws.plugin.inputs import drifted_inputs, inputs_of, with_ignored
from local.aws.plugin.naming import NoName, chosen_name
from local.aws.plugin.schema import Failure, ResourceSchema
from local.aws.plugin.state import (
    all_tags,
    foretold,
    foretold_update,
    known_after_update,
    mark_secrets,
    observe,
    visible,
    with_texts,
)
from local.aws.plugin.wire import from_struct, has_unknown, plain, to_struct

VERSION = "7.51.1"
"""Version of the official plugin whose place this one takes; the SDK asks for exactly it."""
_INDEX = re.compile(r"\[\d+\]")


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """The aws provider of one engine run."""

    def __init__(self) -> None:
        self._session: Session | None = None

    # ---- the provider itself

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def Cancel(self, request: Any, context: Any) -> Any:
        # Calls under way end by themselves, with what they made; only waiting is cut short.
        if self._session is not None:
            self._session.cancelled.set()
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        news = from_struct(request.news)
        arguments, found = provider_arguments(plain(news))
        found += schema.failures(arguments, schema.provider_properties())
        if not found:
            try:
                if not has_unknown(arguments.get("endpoints")):
                    endpoint.configured(arguments, os.environ)
            except endpoint.Refused as error:
                found.append(Failure("endpoints", str(error)))
        return provider_pb2.CheckResponse(inputs=request.news, failures=_check_failures(found))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        olds, news = plain(from_struct(request.olds)), plain(from_struct(request.news))
        changed = sorted(key for key in {*olds, *news} if key != "version" and olds.get(key) != news.get(key))
        # Another region is another place: everything the provider owns is replaced, as by the official one.
        replaces = [key for key in changed if key == "region"]
        changes = provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=changes, diffs=changed, replaces=replaces)

    def Configure(self, request: Any, context: Any) -> Any:
        arguments, _ = provider_arguments(plain(from_struct(request.args)))
        try:
            self._session = new_session(arguments)
        except endpoint.Refused as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    # ---- resources

    def Check(self, request: Any, context: Any) -> Any:
        kind, logical_name = _kind(request.urn), _logical_name(request.urn)
        handler, of_type = self._handler(kind, context)
        news, olds = from_struct(request.news), plain(from_struct(request.olds))
        news = {key: value for key, value in news.items() if value is not None and key != "__defaults"}
        news = handler.prepare(with_texts(of_type, news))
        found = schema.failures(news, of_type.inputs)
        inputs, defaulted = of_type.with_defaults(news)
        if of_type.regional and inputs.get("region") is None:
            inputs["region"] = self._configured.region
            defaulted.append("region")
        rule = of_type.autoname
        if (
            rule is not None
            and inputs.get(rule["property"]) is None
            and inputs.get(f"{rule['property']}Prefix") is None
        ):
            try:
                inputs[rule["property"]] = chosen_name(rule, kind, logical_name, request, olds)
                defaulted.append(rule["property"])
            except NoName as error:
                found.append(Failure(rule["property"], str(error)))
        inputs["__defaults"] = sorted(defaulted)
        if not found:
            found += handler.check(plain(inputs))
        return provider_pb2.CheckResponse(inputs=to_struct(inputs), failures=_check_failures(found))

    def Diff(self, request: Any, context: Any) -> Any:
        handler, of_type = self._handler(_kind(request.urn), context)
        state, news = plain(from_struct(request.olds)), plain(from_struct(request.news))
        old_inputs = plain(from_struct(request.old_inputs))
        found = self._difference(handler, of_type, state, old_inputs, news, list(request.ignoreChanges))
        return _diff_response(of_type, found, news)

    def Create(self, request: Any, context: Any) -> Any:
        handler, of_type = self._handler(_kind(request.urn), context)
        marked = from_struct(request.properties)
        inputs = plain(marked)
        session = self._configured
        if request.preview:
            outputs = handler.preview(foretold(of_type, inputs, session.default_tags))
            return provider_pb2.CreateResponse(properties=to_struct(mark_secrets(of_type, outputs, marked)))
        cloud = self._cloud(inputs)
        wanted = visible(inputs)
        if of_type.takes_tags:
            wanted["tagsAll"] = all_tags(session.default_tags, inputs.get("tags"))
        with _Reported(context, request.urn, "create"):
            name = handler.create(cloud, wanted)
            state, reasons = _finished(handler, of_type, cloud, name, wanted, visible(inputs))
        made = to_struct(mark_secrets(of_type, state, marked))
        if reasons:
            _abort_unfinished(context, request.urn, name, made, request.properties, reasons)
        return provider_pb2.CreateResponse(id=name, properties=made)

    def Read(self, request: Any, context: Any) -> Any:
        handler, of_type = self._handler(_kind(request.urn), context)
        marked_state, marked_inputs = from_struct(request.properties), from_struct(request.inputs)
        state, old_inputs = plain(marked_state), plain(marked_inputs)
        name, imported = request.id, not state
        with _Reported(context, request.urn, "read"):
            if imported:
                name, region = _without_region(name, of_type)
                cloud = self._configured.cloud(region)
                name, known = handler.imported(cloud, name)
                known = {**known, **({"region": cloud.region} if of_type.regional else {})}
            else:
                cloud, known = self._cloud(state), state
            observed = observe(handler, of_type, cloud, name, known)
        if observed is None:
            return provider_pb2.ReadResponse()
        if imported:
            observed, _ = of_type.with_defaults(observed)
            inputs = inputs_of(of_type, observed)
        else:
            inputs = drifted_inputs(old_inputs, observed)
        return provider_pb2.ReadResponse(
            id=name,
            properties=to_struct(mark_secrets(of_type, observed, marked_state, marked_inputs)),
            inputs=to_struct(mark_secrets(of_type, inputs, marked_inputs)),
        )

    def Update(self, request: Any, context: Any) -> Any:
        handler, of_type = self._handler(_kind(request.urn), context)
        marked = from_struct(request.news)
        state, news = plain(from_struct(request.olds)), plain(marked)
        old_inputs = plain(from_struct(request.old_inputs))
        ignore = list(request.ignoreChanges)
        found = self._difference(handler, of_type, state, old_inputs, news, ignore)
        news = with_ignored(news, state, ignore)
        defaults = self._configured.default_tags
        tags = all_tags(defaults, news.get("tags"))
        changed = frozenset(found.top_level - {"tags", "tagsAll"})
        if request.preview:
            outputs = foretold_update(handler, of_type, state, news, old_inputs, changed)
            if of_type.takes_tags:
                outputs["tagsAll"] = tags
            return provider_pb2.UpdateResponse(properties=to_struct(mark_secrets(of_type, outputs, marked)))
        cloud = self._cloud(state)
        wanted = {**visible(news), "tagsAll": tags} if of_type.takes_tags else visible(news)
        with _Reported(context, request.urn, "update"):
            if found.top_level & {"tags", "tagsAll"}:
                remove = sorted(set(state.get("tagsAll") or {}) - set(tags))
                handler.set_tags(cloud, request.id, state, remove, tags)
            if changed:
                handler.update(cloud, request.id, state, wanted, changed)
            known = known_after_update(of_type, state, news, changed)
            observed = observe(handler, of_type, cloud, request.id, known, wanted)
            if observed is None:
                raise Unfinished("it is gone. Run `pulumi refresh`, then update again")
        return provider_pb2.UpdateResponse(properties=to_struct(mark_secrets(of_type, observed, marked)))

    def Delete(self, request: Any, context: Any) -> Any:
        handler, _ = self._handler(_kind(request.urn), context)
        state = plain(from_struct(request.properties))
        cloud = self._cloud(state)
        with _Reported(context, request.urn, "delete"):
            handler.delete(cloud, request.id, state)
            cloud.forget(handler.type, request.id)
        return empty_pb2.Empty()

    # ---- functions

    def Invoke(self, request: Any, context: Any) -> Any:
        function = invokes.FUNCTIONS.get(request.tok)
        if function is None:
            known = ", ".join(sorted(invokes.FUNCTIONS))
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"{request.tok}: the local stand-in does not have this function. It has {known}.",
            )
        assert function is not None
        arguments = plain(from_struct(request.args))
        if has_unknown(arguments):
            return provider_pb2.InvokeResponse()
        cloud = self._configured.cloud(arguments.get("region"))
        with _Reported(context, request.tok, "invoke"):
            try:
                result = function(cloud, arguments)
            except invokes.BadArgument as error:
                failure = provider_pb2.CheckFailure(property=error.name, reason=str(error))
                return provider_pb2.InvokeResponse(failures=[failure])
        # `return` is no name that Python takes.
        answer: dict[str, Any] = {"return": to_struct(result)}
        return provider_pb2.InvokeResponse(**answer)

    # ---- parts

    @property
    def _configured(self) -> Session:
        if self._session is None:
            raise RuntimeError("the engine used the provider before it configured it")
        return self._session

    def _cloud(self, properties: Properties) -> Cloud:
        region = properties.get("region")
        return self._configured.cloud(region if isinstance(region, str) else None)

    def _handler(self, kind: str, context: Any) -> tuple[Handler, ResourceSchema]:
        handler = registry.handler(kind)
        if handler is None:
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"{kind}: the local stand-in for AWS does not have this type - it covers the {len(registry.types())} "
                "types that Tandem uses. Add a handler in infra/local/aws/plugin, or leave the resource out here.",
            )
        assert handler is not None
        return handler, ResourceSchema.of(kind)

    def _difference(
        self,
        handler: Handler,
        of_type: ResourceSchema,
        state: Properties,
        old_inputs: Properties,
        news: Properties,
        ignore: list[str],
    ) -> Difference:
        found = difference(of_type, state, old_inputs, news, handler.ordered)
        if of_type.takes_tags:
            compare_tags(found, state, news, all_tags(self._configured.default_tags, news.get("tags")))
        for path in [path for path in found.changes if ignored(path, ignore)]:
            del found.changes[path]
            found.replaces.discard(path)
        paths = frozenset(_INDEX.sub("", path) for path in found.changes)
        for wanted, replace in handler.replaces(state, news, paths).items():
            for path in [path for path in found.changes if _covers(wanted, _INDEX.sub("", path))]:
                (found.replaces.add if replace else found.replaces.discard)(path)
        return found


class _Reported:
    """Turns an error inside the block into one line for a person: resource, what was tried, what AWS said."""

    def __init__(self, context: Any, urn: str, verb: str) -> None:
        self._context, self._urn, self._verb = context, urn, verb

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or not isinstance(error, Exception):
            return
        if error_code(error) is None and not isinstance(
            error, Unfinished | Rejected | AlreadyExists | endpoint.Refused
        ):
            # Not AWS speaking but a fault of the stand-in: the trace goes to the engine's log.
            traceback.print_exception(error, file=sys.stderr)
        self._context.abort(grpc.StatusCode.UNKNOWN, f"{self._verb} {_short(self._urn)}: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__


def _short(urn: str) -> str:
    return f"{_kind(urn)} {_logical_name(urn)}" if urn.startswith("urn:") else urn


def _kind(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def _logical_name(urn: str) -> str:
    return urn.split("::", 3)[3]


def _covers(wanted: str, path: str) -> bool:
    return path == wanted or path.startswith(f"{wanted}.")


def _check_failures(found: list[Failure]) -> list[Any]:
    return [provider_pb2.CheckFailure(property=failure.path, reason=failure.reason) for failure in found]


def _diff_response(of_type: ResourceSchema, found: Difference, news: Properties) -> Any:
    kinds = provider_pb2.PropertyDiff.Kind
    detailed = {}
    for path, change in found.changes.items():
        kind = f"{change.upper()}_REPLACE" if path in found.replaces else change.upper()
        detailed[path] = provider_pb2.PropertyDiff(kind=kinds.Value(kind), inputDiff=False)
    rule = of_type.facts.get("delete_before_replace", "never")
    if rule.startswith("when "):
        name = rule.split()[1]
        first = not is_empty(news.get(name)) and name not in (news.get("__defaults") or [])
    else:
        first = rule == "always"
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found.changes else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=sorted(found.replaces),
        deleteBeforeReplace=bool(found.replaces) and first,
        diffs=sorted(found.top_level),
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )


def _finished(
    handler: Handler, of_type: ResourceSchema, cloud: Cloud, name: str, wanted: Properties, known: Properties
) -> tuple[Properties, list[str]]:
    """State of a new object after all that follows its creation, and what failed of that.

    Whatever failed, the object exists: the engine must learn its id.
    """
    state, reasons = known, []
    try:
        if not handler.tagged_at_creation and wanted.get("tagsAll"):
            handler.set_tags(cloud, name, {}, [], wanted["tagsAll"])
        handler.finish(cloud, name, wanted)
    except Exception as error:  # noqa: BLE001 - see above
        reasons.append(_sentence(error))
    try:
        state = observe(handler, of_type, cloud, name, known, wanted) or known
    except Exception as error:  # noqa: BLE001 - see above
        reasons.append(_sentence(error))
    return state, reasons


def _abort_unfinished(context: Any, urn: str, name: str, outputs: Any, inputs: Any, reasons: list[str]) -> None:
    detail = any_pb2.Any()
    detail.Pack(provider_pb2.ErrorResourceInitFailed(id=name, properties=outputs, inputs=inputs, reasons=reasons))
    message = f"create {_short(urn)}: {name} exists but is not finished: {'; '.join(reasons)}"
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=message, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, message)


def _without_region(name: str, of_type: ResourceSchema) -> tuple[str, str | None]:
    """An import id may end in `@region`."""
    head, at, region = name.rpartition("@")
    if of_type.regional and at and re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region):
        return head, region
    return name, None

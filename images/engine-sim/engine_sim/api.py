"""SGLang's HTTP API."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from engine_sim import FINGERPRINT, HEADER, VERSION, tokenizer
from engine_sim.engine import Engine, Request, RequestFailed
from engine_sim.faults import BadFault

ALWAYS_OPEN = ("/health", "/ready", "/metrics", "/ping", "/liveness")
"""Matched by prefix, as in the real one; they never need a key."""
ADMIN = (
    "/flush_cache",
    "/abort_request",
    "/tandem_sim",
    "/update_weights",
    "/pause_generation",
    "/continue_generation",
)
HEALTH_POLL_SECONDS = 1.0
"""The real /health sleeps this long before it looks for its probe's answer, so it is never quicker."""
DEFAULT_MAX_TOKENS = 128

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """Routes and handlers of one engine. `state` is `Starting` or `Up`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.state = "Starting"
        self._healthy = True
        self._running: dict[str, asyncio.Task[Any]] = {}

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(middlewares=[self._guard], client_max_size=512 << 20)
        app.add_routes(
            [
                web.get("/health", self._health),
                web.get("/health_generate", self._health),
                web.get("/ready", self._ready),
                web.get("/ping", self._ping),
                web.get("/server_info", self._server_info),
                web.get("/get_server_info", self._server_info),
                web.get("/model_info", self._model_info),
                web.get("/get_model_info", self._model_info),
                web.get("/v1/models", self._models),
                web.get("/v1/loads", self._loads),
                web.get("/metrics", self._metrics),
                web.post("/generate", self._generate),
                web.post("/v1/completions", self._completions),
                web.post("/v1/chat/completions", self._chat),
                web.post("/flush_cache", self._flush),
                web.get("/flush_cache", self._flush),
                web.post("/abort_request", self._abort),
                web.get("/tandem_sim/fault", self._show_faults),
                web.post("/tandem_sim/fault", self._set_fault),
                web.delete("/tandem_sim/fault", self._clear_fault),
            ]
        )
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(ALWAYS_OPEN) and not self._allowed(request):
            return self._tell(401, {"error": "Unauthorized"})
        failing = self._engine.faults.active("http_5xx") if request.method == "POST" else None
        if failing is not None and not request.path.startswith("/tandem_sim"):
            self._engine.faults.strike("http_5xx")
            return self._error(int(failing.get("status", 500)), "simulated fault http_5xx")
        try:
            answer = await handler(request)
        except RequestFailed as failure:
            return self._error(failure.status, str(failure))
        except (tokenizer.BadPrompt, BadFault) as fault:
            return self._error(400, str(fault))
        if not answer.prepared:
            answer.headers[HEADER] = "engine"
        return answer

    def _allowed(self, request: web.Request) -> bool:
        arguments = self._engine.arguments
        needed = arguments.api_key
        if request.path.startswith(ADMIN):
            needed = arguments.admin_api_key or arguments.api_key
        if needed is None:
            return True
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), needed.encode())

    def _tell(self, status: int, value: Any) -> web.Response:
        return web.json_response(value, status=status, headers={HEADER: "engine"})

    def _error(self, status: int, message: str) -> web.Response:
        kind = "BadRequestError" if status < 500 else "InternalServerError"
        return self._tell(status, {"object": "error", "message": message, "type": kind, "param": None, "code": status})

    # Health.

    async def _health(self, _: web.Request) -> web.Response:
        if self.state != "Up" or self._engine.draining:
            return self._tell(503, {"status": self.state})
        try:
            await asyncio.wait_for(self._engine.scheduler.alive(), self._engine.settings.health_timeout)
        except TimeoutError:
            self._healthy = False
            return self._tell(503, {"status": "UnHealthy"})
        await asyncio.sleep(HEALTH_POLL_SECONDS)
        self._healthy = True
        return self._tell(200, {"status": "Up"})

    async def _ready(self, _: web.Request) -> web.Response:
        ready = self.state == "Up" and self._healthy and not self._engine.draining
        return self._tell(200 if ready else 503, {"status": self.state if self._healthy else "UnHealthy"})

    async def _ping(self, _: web.Request) -> web.Response:
        return self._tell(200 if self.state == "Up" else 503, {})

    # What it is.

    async def _server_info(self, _: web.Request) -> web.Response:
        engine = self._engine
        state = {
            "last_gen_throughput": 0.0,
            "memory_usage": {"weight": 0, "kvcache": 0, "token_capacity": engine.max_total_tokens},
            "effective_max_running_requests_per_dp": engine.max_running_requests,
        }
        info = {
            **engine.arguments.everything,
            "status": self.state,
            "max_total_num_tokens": engine.max_total_tokens,
            "max_running_requests": engine.max_running_requests,
            "internal_states": [state],
            "version": VERSION,
            "simulated": True,
            "tandem_pair_revision": engine.settings.pair_revision,
            "tandem_kv_scale": engine.settings.kv_scale,
        }
        return self._tell(200, info)

    async def _model_info(self, _: web.Request) -> web.Response:
        arguments = self._engine.arguments
        return self._tell(
            200,
            {
                "model_path": arguments.model_path,
                "tokenizer_path": arguments.everything["tokenizer_path"],
                "is_generation": True,
                "preferred_sampling_params": None,
                "weight_version": "default",
                "has_image_understanding": False,
                "has_audio_understanding": False,
                "model_type": "llama",
                "simulated": True,
            },
        )

    async def _models(self, _: web.Request) -> web.Response:
        arguments = self._engine.arguments
        card = {
            "id": arguments.served_model_name,
            "object": "model",
            "created": int(time.time()),
            "owned_by": "sglang",
            "root": arguments.served_model_name,
            "max_model_len": arguments.context_length or 32768,
        }
        return self._tell(200, {"object": "list", "data": [card]})

    async def _loads(self, request: web.Request) -> web.Response:
        engine = self._engine
        engine.report()
        load = {
            "dp_rank": 0,
            "timestamp": time.time(),
            "num_running_reqs": engine.scheduler.running,
            "num_waiting_reqs": engine.scheduler.queued,
            "num_waiting_uncached_tokens": engine.scheduler.waiting_tokens,
            "num_total_reqs": engine.in_flight,
            "num_used_tokens": engine.tokens_used,
            "num_active_tokens": engine.tokens_used,
            "max_total_num_tokens": engine.max_total_tokens,
            "max_running_requests": engine.max_running_requests,
            "token_usage": round(engine.tokens_used / engine.max_total_tokens, 6),
            "gen_throughput": 0.0,
            "cache_hit_rate": 0.0,
            "utilization": 0.0,
            "disaggregation": {"mode": engine.arguments.mode},
        }
        return self._tell(
            200, {"timestamp": time.time(), "version": VERSION, "dp_rank_count": 1, "loads": [load], "aggregate": load}
        )

    async def _metrics(self, _: web.Request) -> web.Response:
        if not self._engine.arguments.metrics:
            return self._error(404, "metrics are off; start with --enable-metrics")
        self._engine.report()
        return web.Response(
            body=self._engine.metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    # Requests.

    async def _generate(self, http: web.Request) -> web.StreamResponse:
        body = await _json(http)
        prompt = body.get("input_ids")
        tokens = prompt if isinstance(prompt, list) else tokenizer.encode(_text(body.get("text")))
        sampling = body.get("sampling_params") or {}
        request = self._request(body, tokens, sampling.get("max_new_tokens", DEFAULT_MAX_TOKENS), sampling)
        started = time.monotonic()

        def meta(ids: list[int], finish: str | None) -> dict[str, Any]:
            reason = (
                {"type": finish, "length": len(ids)} if finish == "length" else {"type": finish} if finish else None
            )
            return {
                "id": request.id,
                "finish_reason": reason,
                "prompt_tokens": len(request.tokens),
                "completion_tokens": len(ids),
                "cached_tokens": 0,
                "weight_version": "default",
                "e2e_latency": time.monotonic() - started,
                "system_fingerprint": FINGERPRINT,
            }

        if not body.get("stream"):
            pieces = [piece async for piece in self._tracked(request)]
            ids = [piece.token for piece in pieces]
            text = "".join(piece.text for piece in pieces)
            return self._tell(200, {"text": text, "output_ids": ids, "meta_info": meta(ids, pieces[-1].finish)})
        stream = _Stream(http)
        ids, text = [], ""
        async for piece in self._broken_by(stream, request):
            ids.append(piece.token)
            text += piece.text
            await stream.send({"text": text, "output_ids": [piece.token], "meta_info": meta(ids, piece.finish)})
        return await stream.end()

    async def _completions(self, http: web.Request) -> web.StreamResponse:
        body = await _json(http)
        prompt = body.get("prompt")
        if isinstance(prompt, list) and prompt and all(isinstance(token, int) for token in prompt):
            tokens = prompt
        else:
            tokens = tokenizer.encode(_text(prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt))
        return await self._openai(http, body, tokens, chat=False)

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        body = await _json(http)
        return await self._openai(http, body, tokenizer.encode(tokenizer.chat_prompt(body.get("messages"))), chat=True)

    async def _openai(
        self, http: web.Request, body: dict[str, Any], tokens: list[int], *, chat: bool
    ) -> web.StreamResponse:
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or (None if chat else 16)
        request = self._request(body, tokens, limit, body)
        base = {
            "id": request.id,
            "created": int(time.time()),
            "model": body.get("model") or self._engine.arguments.served_model_name,
            "system_fingerprint": FINGERPRINT,
        }

        def usage(count: int) -> dict[str, Any]:
            prompt = len(request.tokens)
            return {
                "prompt_tokens": prompt,
                "completion_tokens": count,
                "total_tokens": prompt + count,
                "prompt_tokens_details": {"cached_tokens": 0},
            }

        kind = "chat.completion" if chat else "text_completion"
        if not body.get("stream"):
            pieces = [piece async for piece in self._tracked(request)]
            text, finish = "".join(piece.text for piece in pieces), pieces[-1].finish
            content: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
            choice = {"index": 0, **content, "logprobs": None, "finish_reason": finish}
            return self._tell(200, {**base, "object": kind, "choices": [choice], "usage": usage(len(pieces))})
        chunk = f"{kind}.chunk" if chat else kind
        stream = _Stream(http)
        count = 0
        if chat:
            opening = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
            await stream.send({**base, "object": chunk, "choices": [opening]}, hold=True)
        async for piece in self._broken_by(stream, request):
            count += 1
            content = {"delta": {"content": piece.text}} if chat else {"text": piece.text}
            await stream.send({**base, "object": chunk, "choices": [{"index": 0, **content, "finish_reason": None}]})
            if piece.finish:
                content = {"delta": {}} if chat else {"text": ""}
                choice = {"index": 0, **content, "finish_reason": piece.finish}
                await stream.send({**base, "object": chunk, "choices": [choice]})
        if (body.get("stream_options") or {}).get("include_usage") and not stream.failed:
            await stream.send({**base, "object": chunk, "choices": [], "usage": usage(count)})
        return await stream.end()

    def _request(self, body: dict[str, Any], tokens: list[int], limit: Any, sampling: dict[str, Any]) -> Request:
        engine = self._engine
        context = engine.arguments.context_length or 32768
        room = context - len(tokens)
        if not tokens:
            raise RequestFailed(400, "The prompt is empty.")
        if room <= 0:
            raise RequestFailed(
                400, f"The input ({len(tokens)} tokens) is longer than the model's context length ({context} tokens)."
            )
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise RequestFailed(400, f"max tokens must be a positive number, got {limit!r}.")
        stop = sampling.get("stop") or ()
        return Request(
            id=str(body.get("rid") or uuid.uuid4().hex),
            tokens=tokens,
            max_new_tokens=min(limit or room, room),
            ignore_eos=bool(sampling.get("ignore_eos")),
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            bootstrap_host=body.get("bootstrap_host"),
            bootstrap_port=body.get("bootstrap_port"),
            bootstrap_room=_one(body.get("bootstrap_room")),
        )

    async def _tracked(self, request: Request) -> Any:
        """The answer, abortable by its id while it lasts."""
        task = asyncio.current_task()
        assert task is not None
        if self._engine.faults.strike("crash") is not None:
            os._exit(1)
        self._running[request.id] = task
        try:
            async for piece in self._engine.answer(request):
                yield piece
        finally:
            self._running.pop(request.id, None)

    async def _broken_by(self, stream: _Stream, request: Request) -> Any:
        """As `_tracked`; a failure after the headers becomes an error frame, as HTTP 200 is out already."""
        try:
            async for piece in self._tracked(request):
                yield piece
        except RequestFailed as failure:
            if not stream.opened:
                raise
            await stream.fail(failure.status, str(failure))

    # Administration.

    async def _flush(self, _: web.Request) -> web.Response:
        return web.Response(text="Cache flushed.\n", headers={HEADER: "engine"})

    async def _abort(self, http: web.Request) -> web.Response:
        body = await _json(http)
        for name, task in list(self._running.items()):
            if body.get("abort_all") or name == body.get("rid"):
                task.cancel()
        return web.Response(status=200)

    async def _show_faults(self, _: web.Request) -> web.Response:
        return self._tell(200, {"faults": self._engine.faults.report()})

    async def _set_fault(self, http: web.Request) -> web.Response:
        fault = self._engine.faults.set(await _json(http))
        if fault.kind == "crash" and fault.left is None:
            asyncio.get_running_loop().call_soon(os._exit, int(fault.options.get("exit_code", 1)))
        return self._tell(200, {"faults": self._engine.faults.report()})

    async def _clear_fault(self, http: web.Request) -> web.Response:
        return self._tell(200, {"cleared": self._engine.faults.clear(http.query.get("kind"))})


class _Stream:
    """Server-sent events. The headers go out with the first event, so that what fails before it has a status of its own."""

    def __init__(self, http: web.Request) -> None:
        self._http = http
        self._answer = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache", HEADER: "engine"}
        )
        self._held = b""
        self.failed = False

    @property
    def opened(self) -> bool:
        """Whether the headers are out."""
        return self._answer.prepared

    async def send(self, value: Any, *, hold: bool = False) -> None:
        """One event; with `hold` it goes out with the next one."""
        data = self._held + b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
        if hold:
            self._held = data
            return
        self._held = b""
        if not self.opened:
            await self._answer.prepare(self._http)
        await self._answer.write(data)

    async def fail(self, status: int, message: str) -> None:
        """An error frame."""
        self.failed = True
        await self.send(
            {"error": {"object": "error", "message": message, "type": "InternalServerError", "code": status}}
        )

    async def end(self) -> web.StreamResponse:
        """The last event."""
        if not self.opened:
            await self._answer.prepare(self._http)
        await self._answer.write(b"data: [DONE]\n\n")
        await self._answer.write_eof()
        return self._answer


async def _json(http: web.Request) -> dict[str, Any]:
    try:
        body = await http.json()
    except ValueError as error:
        raise RequestFailed(400, f"The body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise RequestFailed(400, "The body must be a JSON object.")
    return body


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RequestFailed(400, "The prompt must be one text.")
    return value


def _one(room: Any) -> int | None:
    """A room, also where the gateway sends a list of one."""
    if isinstance(room, list) and len(room) == 1:
        room = room[0]
    return int(room) if isinstance(room, int | str) and str(room).isdigit() else None

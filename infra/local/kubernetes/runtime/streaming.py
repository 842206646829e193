"""Serves `kubectl exec`, `attach` and `port-forward`: a small HTTP server that the kubelet connects to and upgrades to
SPDY.

It listens on the node's loopback, where pods, which have network namespaces of their own, cannot reach it; each address
works once.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from local.kubernetes.runtime import limits, spdy
from local.kubernetes.runtime.faults import RuntimeFault, not_possible_now
from local.kubernetes.runtime.pods import Pods
from local.kubernetes.runtime.sessions import AttachSession, ExecSession, PortForwardSession

log = logging.getLogger("streaming")

_HEAD_BYTES_MAX = 64 * 1024
_PROTOCOLS = {"exec": "v4.channel.k8s.io", "attach": "v4.channel.k8s.io", "portforward": "portforward.k8s.io"}
"""The newest of each that is spoken over SPDY."""

Session = Callable[[spdy.Connection], Awaitable[None]]


class Streaming:
    """The streaming server of one node."""

    def __init__(self, pods: Pods) -> None:
        self._pods = pods
        self._offers: dict[str, tuple[str, Session]] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Listen on a free port. Raises OSError."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_BYTES_MAX)

    async def end(self) -> None:
        """Close all streams."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def offer_exec(self, request: Any) -> str:
        """Where a command's streams can be had. Raises RuntimeFault if the container does not run."""
        container = self._pods.containers.get(request.container_id)
        if not container.running:
            raise not_possible_now(f"{container.title}: exec - it does not run. Wait until it does.")
        folder = self._pods.containers.folder(container)
        return self._offer("exec", ExecSession(container, folder, request).run)

    def offer_attach(self, request: Any) -> str:
        """Where a container's own streams can be had. Raises RuntimeFault if it does not run."""
        container = self._pods.containers.get(request.container_id)
        if not container.running:
            raise not_possible_now(f"{container.title}: attach - it does not run. Its log remains.")
        return self._offer("attach", AttachSession(self._pods, container, request).run)

    def offer_port_forward(self, request: Any) -> str:
        """Where connections to a pod's ports can be had. Raises RuntimeFault if the sandbox is not ready."""
        sandbox = self._pods.sandboxes.get(request.pod_sandbox_id)
        if sandbox.state != "ready":
            raise not_possible_now(
                f"{sandbox.title}: port-forward - its sandbox is not ready. Wait until the pod runs."
            )
        return self._offer("portforward", PortForwardSession(None if sandbox.link is None else sandbox.link.file).run)

    def _offer(self, kind: str, session: Session) -> str:
        assert self._server is not None
        token = secrets.token_urlsafe(16)
        self._offers[token] = (kind, session)
        asyncio.get_running_loop().call_later(limits.STREAM_TOKEN_SECONDS, self._offers.pop, token, None)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/{kind}/{token}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            session = await self._upgrade(reader, writer)
            if session is None:
                return
            connection = spdy.Connection(reader, writer)
            reading = asyncio.create_task(connection.run())
            try:
                await session(connection)
            finally:
                await connection.close()
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, spdy.ProtocolError) as error:
            log.info("a stream ended early: %s", error)
        except RuntimeFault as fault:
            log.warning("%s", fault)
        except Exception:
            log.exception("a stream failed")
        finally:
            self._connections.discard(task)
            writer.close()

    async def _upgrade(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Session | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1] if head[0].count(" ") >= 2 else ""
        headers: dict[str, list[str]] = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers.setdefault(name.strip().lower(), []).extend(word.strip() for word in value.split(","))
        kind, session = self._offers.pop(path.rpartition("/")[2].partition("?")[0], (None, None))
        if kind is None:
            await _refuse(writer, "404 Not Found", "this address was used before, or is too old; ask again")
            return None
        if "spdy/3.1" not in (word.lower() for word in headers.get("upgrade", [])):
            await _refuse(
                writer, "400 Bad Request", "only an upgrade to SPDY/3.1 is spoken here, which is what kubelets ask for"
            )
            return None
        offered = headers.get("x-stream-protocol-version", [])
        protocol = _PROTOCOLS[kind]
        if offered and protocol not in offered:
            await _refuse(writer, "403 Forbidden", f"none of {', '.join(offered)} is spoken here, only {protocol}")
            return None
        lines = (
            "HTTP/1.1 101 Switching Protocols",
            "Connection: Upgrade",
            "Upgrade: SPDY/3.1",
            f"X-Stream-Protocol-Version: {protocol}",
        )
        writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        await writer.drain()
        return session


async def _refuse(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()

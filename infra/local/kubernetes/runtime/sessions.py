"""What happens on an upgraded connection: a command's streams, a container's own streams, or connections to a pod's
ports."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import struct
import termios
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from local.kubernetes.runtime import execution, limits, network, pipes, shim, spdy
from local.kubernetes.runtime.containers import Container
from local.kubernetes.runtime.faults import RuntimeFault
from local.kubernetes.runtime.pods import Pods

_CHUNK = 32 * 1024


async def expected_streams(connection: spdy.Connection, request: Any) -> dict[str, spdy.Stream]:
    """The streams that an Exec or Attach request announced, by kind. Raises ProtocolError if they do not come."""
    wanted = {"error"}
    wanted.update(name for name in ("stdin", "stdout", "stderr") if getattr(request, name))
    if request.tty:
        wanted.add("resize")
    found: dict[str, spdy.Stream] = {}
    try:
        async with asyncio.timeout(limits.STREAM_OPEN_SECONDS):
            while wanted - found.keys():
                stream = await connection.opened.get()
                if stream is None:
                    raise spdy.ProtocolError("the client left before it opened its streams")
                found[stream.headers.get("streamtype", "")] = stream
    except TimeoutError:
        raise spdy.ProtocolError(f"the client did not open {', '.join(sorted(wanted - found.keys()))}") from None
    return found


async def report(stream: spdy.Stream, exit_code: int, failure: str = "") -> None:
    """Tell the client how it ended, as the Status object of the Kubernetes API."""
    status: dict[str, Any] = {"metadata": {}, "status": "Success"}
    if failure:
        status = {"metadata": {}, "status": "Failure", "reason": "InternalError", "message": failure, "code": 500}
    elif exit_code != 0:
        cause = {"reason": "ExitCode", "message": str(exit_code)}
        message = f"command terminated with non-zero exit code: exit status {exit_code}"
        status = {
            "metadata": {},
            "status": "Failure",
            "reason": "NonZeroExitCode",
            "message": message,
            "details": {"causes": [cause]},
        }
    await stream.write(json.dumps(status).encode())
    await stream.close()


async def resizes(stream: spdy.Stream, apply: Callable[[int, int], Awaitable[None]]) -> None:
    """Hand on each terminal size (rows, columns) that the client tells."""
    decoder, text = json.JSONDecoder(), ""
    while data := await stream.read():
        text += data.decode(errors="replace")
        while text := text.lstrip():
            try:
                size, end = decoder.raw_decode(text)
            except ValueError:
                break
            text = text[end:]
            await apply(int(size["Height"]), int(size["Width"]))


class ExecSession:
    """`kubectl exec`: one command and its streams."""

    def __init__(self, container: Container, folder: Path, request: Any) -> None:
        self._container = container
        self._folder = folder
        self._request = request

    async def run(self, connection: spdy.Connection) -> None:
        """Run the command to its end, or to the client's."""
        streams = await expected_streams(connection, self._request)
        try:
            run = self._run_in_terminal if self._request.tty else self._run_with_pipes
            code = await run(streams, connection)
        except RuntimeFault as fault:
            await report(streams["error"], 0, str(fault))
            return
        for name in ("stdout", "stderr"):
            if name in streams:
                await streams[name].close()
        await report(streams["error"], code)

    async def _run_with_pipes(self, streams: dict[str, spdy.Stream], connection: spdy.Connection) -> int:
        names = [name for name in ("stdin", "stdout", "stderr") if name in streams]
        command = await execution.start(self._container, self._folder, list(self._request.cmd), streams=names)
        outputs = [asyncio.create_task(_carry(reader, streams[name])) for name, reader in command.outputs.items()]
        inputs = []
        if command.stdin is not None:
            inputs.append(asyncio.create_task(_carry_in(streams["stdin"], command.stdin)))
        return await _until_end(command, connection, outputs, inputs)

    async def _run_in_terminal(self, streams: dict[str, spdy.Stream], connection: spdy.Connection) -> int:
        own, theirs = pty.openpty()
        try:
            command = await execution.start(self._container, self._folder, list(self._request.cmd), terminal=theirs)
        except BaseException:
            os.close(own)
            raise
        finally:
            os.close(theirs)
        async with _terminal(own) as (reader, writer):

            async def resize(rows: int, columns: int) -> None:
                fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

            outputs = [asyncio.create_task(_carry(reader, streams["stdout"]))] if "stdout" in streams else []
            inputs = [asyncio.create_task(resizes(streams["resize"], resize))]
            if "stdin" in streams:
                inputs.append(asyncio.create_task(_carry_in(streams["stdin"], writer, close=False)))
            return await _until_end(command, connection, outputs, inputs)


class AttachSession:
    """`kubectl attach`: the streams of a container that runs."""

    def __init__(self, pods: Pods, container: Container, request: Any) -> None:
        self._pods = pods
        self._container = container
        self._request = request

    async def run(self, connection: spdy.Connection) -> None:
        """Carry the streams until the container or the client ends."""
        streams = await expected_streams(connection, self._request)
        try:
            reader, writer = await self._pods.connect_to_shim(self._container)
        except RuntimeFault as fault:
            await report(streams["error"], 0, str(fault))
            return
        inputs = []
        if "stdin" in streams:
            inputs.append(asyncio.create_task(self._carry_in(streams["stdin"], writer)))
        if "resize" in streams:

            async def resize(rows: int, columns: int) -> None:
                await self._send(writer, shim.RESIZE, f"{rows} {columns}".encode())

            inputs.append(asyncio.create_task(resizes(streams["resize"], resize)))
        gone = asyncio.create_task(_client_gone(connection))
        output = asyncio.create_task(self._carry_out(reader, streams))
        try:
            await asyncio.wait((gone, output), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, output, *inputs):
                task.cancel()
            writer.close()
        if output.done() and not output.cancelled():
            for name in ("stdout", "stderr"):
                if name in streams:
                    await streams[name].close()
            await report(streams["error"], 0)

    async def _carry_out(self, reader: asyncio.StreamReader, streams: dict[str, spdy.Stream]) -> None:
        names = {shim.STDOUT: "stdout", shim.STDERR: "stderr"}
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                channel, length = shim.HEADER.unpack(await reader.readexactly(shim.HEADER.size))
                data = await reader.readexactly(length)
                if (stream := streams.get(names.get(channel, ""))) is not None:
                    await stream.write(data)

    async def _carry_in(self, stream: spdy.Stream, writer: asyncio.StreamWriter) -> None:
        while data := await stream.read():
            await self._send(writer, shim.STDIN, data)
        await self._send(writer, shim.STDIN, b"")

    async def _send(self, writer: asyncio.StreamWriter, channel: int, data: bytes) -> None:
        writer.write(shim.HEADER.pack(channel, len(data)) + data)
        await writer.drain()


class PortForwardSession:
    """`kubectl port-forward`: any number of connections to ports of one pod."""

    def __init__(self, namespace: Path | None) -> None:
        self._namespace = namespace

    async def run(self, connection: spdy.Connection) -> None:
        """Serve pairs of streams until the client ends."""
        halves: dict[str, dict[str, spdy.Stream]] = {}
        running: set[asyncio.Task[None]] = set()
        try:
            while (stream := await connection.opened.get()) is not None:
                kind = stream.headers.get("streamtype", "")
                # Old clients give no id; they open the two streams one after the other.
                request = stream.headers.get("requestid", str(stream.id - 2 if kind == "data" else stream.id))
                pair = halves.setdefault(request, {})
                pair[kind] = stream
                if {"error", "data"} <= pair.keys():
                    del halves[request]
                    task = asyncio.create_task(self._forward(connection, pair["data"], pair["error"]))
                    running.add(task)
                    task.add_done_callback(running.discard)
        finally:
            for task in running:
                task.cancel()

    async def _forward(self, connection: spdy.Connection, data: spdy.Stream, error: spdy.Stream) -> None:
        port = data.headers.get("port", "")
        try:
            link = await asyncio.to_thread(network.connect_to_port, self._namespace, int(port))
            reader, writer = await asyncio.open_connection(sock=link)
        except (OSError, ValueError) as failure:
            await error.write(f"port {port} of the pod: {failure}".encode())
        else:
            sending = asyncio.create_task(_carry_in(data, writer))
            try:
                await _carry(reader, data)
            finally:
                sending.cancel()
                writer.close()
        finally:
            with contextlib.suppress(ConnectionError):
                await data.close()
                await error.close()
            connection.forget(data)
            connection.forget(error)


async def _until_end(
    command: execution.Command,
    connection: spdy.Connection,
    outputs: list[asyncio.Task[None]],
    inputs: list[asyncio.Task[None]],
) -> int:
    """The exit code, when the command has ended and its output is through.

    Raises ConnectionError if the client leaves before; the command is then ended, since nobody can end it any more.
    """
    gone, done = asyncio.create_task(_client_gone(connection)), asyncio.create_task(command.wait())
    try:
        await asyncio.wait((gone, done), return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            raise ConnectionError("the client of an executed command left")
        code = done.result()
        if outputs:
            await asyncio.wait(outputs, timeout=limits.DRAIN_SECONDS)
        return code
    finally:
        await asyncio.shield(command.end())
        tasks = (gone, done, *outputs, *inputs)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _carry(source: asyncio.StreamReader, stream: spdy.Stream) -> None:
    # A terminal whose other side is closed gives EIO where a pipe gives its end.
    with contextlib.suppress(OSError):
        while data := await source.read(_CHUNK):
            await stream.write(data)


async def _carry_in(stream: spdy.Stream, target: asyncio.StreamWriter, *, close: bool = True) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await stream.read():
            target.write(data)
            await target.drain()
        if close and target.can_write_eof():
            target.write_eof()


async def _client_gone(connection: spdy.Connection) -> None:
    while await connection.opened.get() is not None:
        pass


@contextlib.asynccontextmanager
async def _terminal(descriptor: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Reader and writer for our side of a terminal, which is closed at the end."""
    reader, transport = await pipes.reader_of(os.dup(descriptor))
    writer = await pipes.writer_of(os.dup(descriptor))
    try:
        yield reader, writer
    finally:
        transport.close()
        writer.close()
        os.close(descriptor)

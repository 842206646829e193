"""SPDY/3.1 as kubelet and API server speak it: the streams of `kubectl exec`, `attach` and `port-forward`.

Whatever kubectl uses (it prefers WebSocket), the kubelet turns it into SPDY towards the runtime. Flow control windows
are not kept, as their side does not keep them either; a slow reader is held back by TCP.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Mapping

_VERSION = 3
SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
_FLAG_FIN = 1
_FRAME_BYTES_MAX = 32 * 1024
"""Longest data frame sent: small enough that streams take turns."""
_UNREAD_BYTES_MAX = 1024 * 1024
"""Bytes that may wait in one stream before the connection stops reading."""

_WORDS = (
    "options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|accept-ranges|age|allow"
    "|authorization|cache-control|connection|content-base|content-encoding|content-language|content-length|content-lo"
    "cation|content-md5|content-range|content-type|date|etag|expect|expires|from|host|if-match|if-modified-since|if-n"
    "one-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|proxy-authenticate|proxy-autho"
    "rization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|user-agent|vary|via|warning|www-a"
    "uthenticate|method|get|status|200 OK|version|HTTP/1.1|url|public|set-cookie|keep-alive|origin"
)
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Inter"
    "nal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00"
    ":00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,applic"
    "ation/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1"
    ",utf-,*,enq=0."
)
DICTIONARY = b"".join(struct.pack(">I", len(word)) + word.encode() for word in _WORDS.split("|")) + _TAIL.encode()
"""What header blocks are compressed against (section 2.6.10.1 of the SPDY/3 draft)."""


class ProtocolError(Exception):
    """The other side does not speak SPDY/3.1 as it should."""


class Stream:
    """One stream of a connection, opened by the other side."""

    def __init__(self, connection: Connection, identifier: int, headers: Mapping[str, str]) -> None:
        self._connection = connection
        self.id = identifier
        self.headers = headers
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._unread = 0
        self._closed = False
        self.room = asyncio.Event()
        self.room.set()

    async def read(self) -> bytes:
        """The next bytes; empty at the end of the stream."""
        data = await self._chunks.get()
        if not data:
            self._chunks.put_nowait(b"")  # whoever reads again finds the end again
        self._unread -= len(data)
        if self._unread <= _UNREAD_BYTES_MAX:
            self.room.set()
        return data

    async def write(self, data: bytes) -> None:
        """Send bytes. Raises ConnectionError if the other side is gone."""
        for start in range(0, len(data), _FRAME_BYTES_MAX):
            await self._connection.send_data(self.id, data[start : start + _FRAME_BYTES_MAX])

    async def close(self) -> None:
        """End what this side sends. Raises ConnectionError if the other side is gone."""
        if not self._closed:
            self._closed = True
            await self._connection.send_data(self.id, b"", last=True)

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived; empty for the end."""
        self._unread += len(data)
        self._chunks.put_nowait(data)
        if self._unread > _UNREAD_BYTES_MAX:
            self.room.clear()


class Connection:
    """The server's side of one connection that was upgraded to SPDY/3.1."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self._streams: dict[int, Stream] = {}
        self._last_stream = 0
        self.opened: asyncio.Queue[Stream | None] = asyncio.Queue()
        """Streams as the other side opens them; None when the connection is over."""

    async def run(self) -> None:
        """Read frames until the connection is over. Raises ProtocolError."""
        try:
            while await self._read_frame():
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            for stream in self._streams.values():
                stream.feed(b"")
            self.opened.put_nowait(None)

    async def send_data(self, stream: int, data: bytes, *, last: bool = False) -> None:
        """Send one data frame. Raises ConnectionError if the other side is gone."""
        self._writer.write(struct.pack(">II", stream, (_FLAG_FIN if last else 0) << 24 | len(data)) + data)
        await self._writer.drain()

    async def close(self) -> None:
        """Say goodbye and close."""
        try:
            self._send_control(GOAWAY, struct.pack(">II", self._last_stream, 0))
            await self._writer.drain()
        except ConnectionError:
            pass
        finally:
            self._writer.close()

    def forget(self, stream: Stream) -> None:
        """Drop what is known of a stream that both sides are done with."""
        self._streams.pop(stream.id, None)

    async def _read_frame(self) -> bool:
        head, tail = struct.unpack(">II", await self._reader.readexactly(8))
        flags, length = tail >> 24, tail & 0xFFFFFF
        body = await self._reader.readexactly(length)
        if not head >> 31:
            await self._take_data(head, body, last=bool(flags & _FLAG_FIN))
            return True
        version, kind = head >> 16 & 0x7FFF, head & 0xFFFF
        if version != _VERSION:
            raise ProtocolError(f"SPDY version {version}; only {_VERSION} is spoken here")
        if kind == SYN_STREAM:
            await self._open(body, last=bool(flags & _FLAG_FIN))
        elif kind == RST_STREAM:
            stream = self._streams.get(struct.unpack(">I", body[:4])[0])
            if stream is not None:
                stream.feed(b"")
        elif kind == HEADERS:
            self._read_headers(body[4:])  # the compression's state has to follow
        elif kind == PING and struct.unpack(">I", body)[0] % 2 == 1:
            self._send_control(PING, body)
            await self._writer.drain()
        return bool(kind != GOAWAY)

    async def _open(self, body: bytes, *, last: bool) -> None:
        identifier = struct.unpack(">I", body[:4])[0] & 0x7FFFFFFF
        stream = Stream(self, identifier, self._read_headers(body[10:]))
        self._streams[identifier] = stream
        self._last_stream = identifier
        if last:
            stream.feed(b"")
        no_headers = self._deflate.compress(struct.pack(">I", 0)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        self._send_control(SYN_REPLY, struct.pack(">I", identifier) + no_headers)
        await self._writer.drain()
        self.opened.put_nowait(stream)

    async def _take_data(self, identifier: int, data: bytes, *, last: bool) -> None:
        stream = self._streams.get(identifier)
        if stream is None:
            return
        if data:
            stream.feed(data)
        if last:
            stream.feed(b"")
        await stream.room.wait()

    def _read_headers(self, block: bytes) -> dict[str, str]:
        try:
            text = self._inflate.decompress(block)
            (count,) = struct.unpack_from(">I", text)
            at, words = 4, []
            for _ in range(2 * count):
                (length,) = struct.unpack_from(">I", text, at)
                words.append(text[at + 4 : at + 4 + length].decode())
                at += 4 + length
        except (zlib.error, struct.error, UnicodeDecodeError) as error:
            raise ProtocolError(f"a header block cannot be read: {error}") from error
        return {name.lower(): value for name, value in zip(words[::2], words[1::2], strict=True)}

    def _send_control(self, kind: int, body: bytes) -> None:
        self._writer.write(struct.pack(">II", 1 << 31 | _VERSION << 16 | kind, len(body)) + body)

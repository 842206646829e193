"""What `kubectl exec`, `attach` and `port-forward` do, from the kubelet's side: an upgraded connection with SPDY
streams."""

from __future__ import annotations

import json
import socket
import struct
import time
import zlib
from typing import Any
from urllib.parse import urlsplit

import pytest
from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime.spdy import DICTIONARY

V4 = "v4.channel.k8s.io"


class Client:
    """The kubelet's side of a stream, blocking and simple. Connects from inside the node's network."""

    def __init__(self, node: Any, url: str, protocol: str = V4, upgrade: str = "SPDY/3.1") -> None:
        address = urlsplit(url)
        # The server listens on the loopback of the world, which is another network namespace than the test's.
        self._socket = node.world.connect(address.port)
        self._file = self._socket.makefile("rb")
        lines = [f"POST {address.path} HTTP/1.1", "Host: x", "Connection: Upgrade", f"Upgrade: {upgrade}"]
        lines.append(f"X-Stream-Protocol-Version: {protocol}")
        self._socket.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        self.status = int(self._file.readline().split()[1])
        self.headers = {}
        while line := self._file.readline().strip().decode():
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._next = 1
        self.received: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.replied: set[int] = set()
        self.pings: list[int] = []

    def body(self) -> bytes:
        return bytes(self._file.read(int(self.headers["content-length"])))

    def open(self, **headers: str) -> int:
        stream, self._next = self._next, self._next + 2
        block = struct.pack(">I", len(headers))
        for name, value in headers.items():
            block += struct.pack(">I", len(name)) + name.encode() + struct.pack(">I", len(value)) + value.encode()
        packed = self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        self._control(1, struct.pack(">IIBB", stream, 0, 0, 0) + packed)
        self.received[stream] = b""
        return stream

    def send(self, stream: int, data: bytes, *, last: bool = False) -> None:
        self._socket.sendall(struct.pack(">II", stream, (1 << 24 if last else 0) | len(data)) + data)

    def ping(self, number: int) -> None:
        self._control(6, struct.pack(">I", number))

    def read_frame(self) -> bool:
        """False at the end of the connection."""
        header = self._file.read(8)
        if len(header) < 8:
            return False
        head, tail = struct.unpack(">II", header)
        body = self._file.read(tail & 0xFFFFFF)
        if head >> 31:
            kind = head & 0xFFFF
            if kind == 2:
                assert struct.unpack(">I", self._inflate.decompress(body[4:])) == (0,)
                self.replied.add(struct.unpack(">I", body[:4])[0])
            if kind == 6:
                self.pings.append(struct.unpack(">I", body)[0])
            return kind != 7
        self.received[head] += body
        if tail >> 24 & 1:
            self.ended.add(head)
        return True

    def read_all(self) -> None:
        while self.read_frame():
            pass

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _control(self, kind: int, body: bytes) -> None:
        self._socket.sendall(struct.pack(">II", 1 << 31 | 3 << 16 | kind, len(body)) + body)


@pytest.fixture(scope="module")
def container(node: Any) -> str:
    return str(node.launch(node.run_sandbox("streams"), "exec sleep 1000"))


def exec_url(node: Any, container: str, *argv: str, tty: bool = False, stdin: bool = False) -> str:
    request = cri.ExecRequest(container_id=container, cmd=argv, tty=tty, stdin=stdin, stdout=True, stderr=not tty)
    return str(node.runtime.Exec(request).url)


def test_a_commands_streams_are_apart_and_its_exit_code_is_told(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "sh", "-c", "echo out; echo err >&2; exit 7"))
    assert (client.status, client.headers["x-stream-protocol-version"]) == (101, V4)
    error, out, err = (client.open(streamtype=kind) for kind in ("error", "stdout", "stderr"))
    client.read_all()
    assert client.replied == {error, out, err}
    assert (client.received[out], client.received[err]) == (b"out\n", b"err\n")
    status = json.loads(client.received[error])
    assert status["status"] == "Failure"
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}]
    assert client.ended == {error, out, err}


def test_what_is_sent_to_a_command_comes_back_whole(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "cat", stdin=True))
    error, inp, out, _ = (client.open(streamtype=kind) for kind in ("error", "stdin", "stdout", "stderr"))
    data = bytes(range(256)) * 4096
    for start in range(0, len(data), 65536):
        client.send(inp, data[start : start + 65536])
    client.send(inp, b"", last=True)
    client.read_all()
    assert client.received[out] == data
    assert json.loads(client.received[error])["status"] == "Success"


def test_a_command_in_a_terminal_has_one_and_learns_its_size(node: Any, container: str) -> None:
    script = "test -t 0 && test -t 1 && echo terminal $TERM; read x; stty size; exit 3"
    client = Client(node, exec_url(node, container, "sh", "-c", script, tty=True, stdin=True))
    error, inp, out, size = (client.open(streamtype=kind) for kind in ("error", "stdin", "stdout", "resize"))
    client.send(size, b'{"Width":123,"Height":45}\n')
    while b"terminal xterm" not in client.received[out]:
        assert client.read_frame()
    client.send(inp, b"go\n")
    client.read_all()
    assert b"45 123" in client.received[out]
    assert json.loads(client.received[error])["details"]["causes"][0]["message"] == "3"


def test_a_client_that_leaves_takes_its_command_with_it(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "sh", "-c", "echo here; exec sleep 8642"))
    _, out, _ = (client.open(streamtype=kind) for kind in ("error", "stdout", "stderr"))
    while client.received[out] != b"here\n":
        assert client.read_frame()
    client.close()
    deadline = time.monotonic() + 20
    while [line for line in node.processes() if "sleep 8642" in line]:
        assert time.monotonic() < deadline, "it still runs"


def test_pings_are_answered(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "cat", stdin=True))
    for kind in ("error", "stdin", "stdout", "stderr"):
        client.open(streamtype=kind)
    client.ping(5)
    while not client.pings:
        assert client.read_frame()
    assert client.pings == [5]
    client.close()


def test_attaching_shows_what_a_container_says_from_then_on_and_feeds_its_input(node: Any) -> None:
    script = "while read line; do echo got $line; [ $line = end ] && exit 0; done"
    container = node.launch(node.run_sandbox(), script, stdin=True)
    request = cri.AttachRequest(container_id=container, stdin=True, stdout=True, stderr=True)
    client = Client(node, node.runtime.Attach(request).url)
    error, inp, out, _ = (client.open(streamtype=kind) for kind in ("error", "stdin", "stdout", "stderr"))
    client.send(inp, b"one\nend\n")
    client.read_all()
    assert client.received[out] == b"got one\ngot end\n"
    assert json.loads(client.received[error])["status"] == "Success"
    assert node.wait_exited(container).exit_code == 0
    assert [line.split(" ", 3)[3] for line in node.log_lines(container)] == ["got one", "got end"]


def test_input_ends_with_the_first_client_where_the_pod_says_once(node: Any) -> None:
    container = node.launch(node.run_sandbox(), "cat; echo done", stdin=True, stdin_once=True)
    request = cri.AttachRequest(container_id=container, stdin=True, stdout=True, stderr=True)
    client = Client(node, node.runtime.Attach(request).url)
    _, inp, *_ = (client.open(streamtype=kind) for kind in ("error", "stdin", "stdout", "stderr"))
    client.send(inp, b"all\n", last=True)
    client.read_all()
    assert node.wait_exited(container).exit_code == 0
    assert node.log_lines(container)[-1].endswith("done")


def test_a_port_that_only_the_pod_itself_can_reach_is_forwarded(node: Any) -> None:
    sandbox = node.run_sandbox("server")
    script = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 5555)); print('up')\n"
        "while True:\n"
        "    c, _ = server.accept(); c.sendall(c.recv(100).upper()); c.close()\n"
    )
    container = node.launch(sandbox, image="python", args=["-c", script])
    while not node.log_lines(container):
        pass
    url = node.runtime.PortForward(cri.PortForwardRequest(pod_sandbox_id=sandbox[0], port=[5555])).url
    client = Client(node, url, protocol="portforward.k8s.io")
    for number in range(2):
        error = client.open(streamtype="error", port="5555", requestid=str(number))
        data = client.open(streamtype="data", port="5555", requestid=str(number))
        client.send(data, b"hello")
        while not {error, data} <= client.ended:
            assert client.read_frame()
        assert (client.received[data], client.received[error]) == (b"HELLO", b"")
    error = client.open(streamtype="error", port="5556", requestid="none")
    data = client.open(streamtype="data", port="5556", requestid="none")
    while error not in client.ended:
        assert client.read_frame()
    assert b"port 5556" in client.received[error]
    assert b"refused" in client.received[error]
    client.close()


def test_an_address_works_once(node: Any, container: str) -> None:
    url = exec_url(node, container, "true")
    Client(node, url).close()
    second = Client(node, url)
    assert second.status == 404
    assert b"used before" in second.body()


def test_anything_but_spdy_is_refused_in_words(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "true"), upgrade="websocket")
    assert client.status == 400
    assert b"SPDY/3.1" in client.body()
    client = Client(node, exec_url(node, container, "true"), protocol="v9.channel.k8s.io")
    assert client.status == 403
    assert b"v9.channel.k8s.io" in client.body()


def test_garbage_ends_its_own_connection_only(node: Any, container: str) -> None:
    client = Client(node, exec_url(node, container, "true"))
    client._socket.sendall(b"\x80\x09garbage-garbage-garbage")
    assert isinstance(client._socket, socket.socket)
    client.close()
    assert node.execute(container, "true").exit_code == 0

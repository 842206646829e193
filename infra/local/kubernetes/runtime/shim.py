"""The process that stands by one container: starts it, keeps its log, and writes down how it ended.

Run as `python -S -s -P -m local.kubernetes.runtime.shim FOLDER LOCK READY`: the container's folder, and two inherited
descriptors: a locked file, so that anyone can tell whether the shim lives, and a pipe for one line of JSON when the
start has worked or failed.

It needs nothing of the runtime after that, so the runtime can be killed and replaced. If the shim itself is killed, the
kernel kills the container's first process and with it, since that is the first of a process namespace, all others.
"""

# pathlib would cost each container 1 MB and 5 ms.
# ruff: noqa: PTH100, PTH105, PTH116, PTH123

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from socket import AF_UNIX, SOCK_STREAM, socket
from types import FrameType

from local import linux
from local.kubernetes.runtime import container_process
from local.kubernetes.runtime.container_log import LogFile
from local.kubernetes.runtime.launch import (
    EXIT_FILE,
    LAUNCH_FILE,
    PROCESS_FILE,
    SOCKET_FILE,
    START_FAILED_CODE,
    ExitRecord,
    Launch,
    ProcessRecord,
    read_launch,
    start_time,
)

HEADER = struct.Struct(">BI")
"""Frame on the shim's socket, both ways: channel, number of bytes that follow."""
STDIN, STDOUT, STDERR, REOPEN, RESIZE = range(5)
"""Channels. STDIN without bytes: end of input. REOPEN is answered on the same channel, with nothing or with an
error's words. RESIZE holds two numbers, `rows columns`, as text."""

_CHUNK = 64 * 1024
_BACKLOG_MAX = 4 * 1024 * 1024
"""Bytes kept for an attached client that does not read; then it is dropped, for the container must not wait for it."""
_RETRY_SECONDS = 0.5
"""Between attempts to write the end down on a full disk, which tells nobody when it has room again."""


class StartFailed(Exception):
    """The program could not be started; the text says why."""


class Client:
    """One connection to the shim's socket."""

    def __init__(self, connection: socket) -> None:
        self.connection = connection
        self.received = b""
        self.backlog = b""
        self.sent_stdin = False

    def frames(self) -> list[tuple[int, bytes]] | None:
        """Whole frames that have arrived; None when the client is gone."""
        try:
            data = self.connection.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self.received += data
        found = []
        while len(self.received) >= HEADER.size:
            channel, length = HEADER.unpack_from(self.received)
            if len(self.received) < HEADER.size + length:
                break
            found.append((channel, self.received[HEADER.size : HEADER.size + length]))
            self.received = self.received[HEADER.size + length :]
        return found

    def send(self, channel: int, data: bytes) -> bool:
        """Queue a frame; False if the client reads too slowly or is gone."""
        self.backlog += HEADER.pack(channel, len(data)) + data
        return self.flush() and len(self.backlog) <= _BACKLOG_MAX

    def flush(self) -> bool:
        try:
            while self.backlog:
                self.backlog = self.backlog[self.connection.send(self.backlog) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


class Shim:
    """One running container and its streams."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.log = LogFile(launch["log"])
        self.outputs: dict[int, tuple[str, int]] = {}
        self.input: int | None = None
        self.clients: dict[int, Client] = {}
        self.to_stdin = b""
        self.end_of_input = False
        self.listener = _listen()
        self.pid = 0
        self.pidfd = -1

    def start(self) -> ProcessRecord:
        """Start the program. Raises StartFailed."""
        streams, mine = self._open_streams()
        status_read, status_write = os.pipe()
        go_read, go_write = os.pipe()
        linux.unshare(linux.CLONE_NEWPID)
        self.pid = os.fork()
        if self.pid == 0:
            _run_container(self.launch, streams, status_write, go_read, close=(status_read, go_write, *mine))
        for descriptor in {*streams, status_write, go_read}:
            os.close(descriptor)
        self.pidfd = os.pidfd_open(self.pid)
        try:
            said = os.read(status_read, _CHUNK)
            if said != container_process.READY:
                raise StartFailed(said.decode(errors="replace") or "its process ended while it was being set up")
            record: ProcessRecord = {
                "pid": self.pid,
                "start_time": start_time(self.pid),
                "shim_pid": os.getpid(),
                "shim_start_time": start_time(os.getpid()),
                "pid_namespace": os.stat(f"/proc/{self.pid}/ns/pid").st_ino,
                "started_at": time.time_ns(),
            }
            _write_json(PROCESS_FILE, record)
            os.write(go_write, b"\x01")
            if said := os.read(status_read, _CHUNK):
                raise StartFailed(said.decode(errors="replace"))
        except (OSError, StartFailed) as error:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise error if isinstance(error, StartFailed) else StartFailed(str(error)) from error
        finally:
            os.close(status_read)
            os.close(go_write)
        return record

    def _open_streams(self) -> tuple[tuple[int, int, int], list[int]]:
        """Descriptors for the container (stdin, stdout, stderr), and the ends the shim keeps."""
        if self.launch["tty"]:
            own, theirs = pty.openpty()
            os.set_blocking(own, False)
            self.outputs[own] = ("stdout", STDOUT)
            self.input = own if self.launch["stdin"] else None
            return (theirs, theirs, theirs), [own]
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        self.outputs = {out_read: ("stdout", STDOUT), err_read: ("stderr", STDERR)}
        mine = [out_read, err_read]
        if self.launch["stdin"]:
            in_read, in_write = os.pipe()
            os.set_blocking(in_write, False)
            self.input = in_write
            mine.append(in_write)
        else:
            in_read = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for descriptor in (out_read, err_read):
            os.set_blocking(descriptor, False)
        return (in_read, out_write, err_write), mine

    def serve(self) -> ExitRecord:
        """Carry streams until the container has ended."""
        poll = select.epoll()
        poll.register(self.pidfd, select.EPOLLIN)
        poll.register(self.listener, select.EPOLLIN)
        for descriptor in self.outputs:
            poll.register(descriptor, select.EPOLLIN)
        ended = False
        while not ended:
            for descriptor, _ in poll.poll():
                if descriptor == self.pidfd:
                    ended = True
                elif descriptor == self.listener.fileno():
                    self._accept(poll)
                elif descriptor in self.clients:
                    self._serve_client(poll, descriptor)
                elif descriptor in self.outputs:
                    if not self._carry_output(poll, descriptor):
                        poll.unregister(descriptor)
                        del self.outputs[descriptor]
                elif descriptor == self.input:
                    pass
            self._carry_input(poll)
        for descriptor in list(self.outputs):
            while self._carry_output(poll, descriptor, once=True):
                pass
        self.log.finish()
        _, status = os.waitpid(self.pid, 0)
        return exit_record(status, self.log.bytes_lost)

    def _accept(self, poll: select.epoll) -> None:
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        self.clients[connection.fileno()] = Client(connection)
        poll.register(connection, select.EPOLLIN)

    def _drop(self, poll: select.epoll, descriptor: int) -> None:
        client = self.clients.pop(descriptor)
        poll.unregister(descriptor)
        client.connection.close()
        if client.sent_stdin and self.launch["stdin_once"]:
            self.end_of_input = True

    def _serve_client(self, poll: select.epoll, descriptor: int) -> None:
        client = self.clients[descriptor]
        frames = client.frames()
        if frames is None or not client.flush():
            self._drop(poll, descriptor)
            return
        alive = True
        for channel, data in frames:
            if channel == STDIN:
                client.sent_stdin = True
                self.to_stdin += data
                # Without stdin_once the input stays open for the next one who attaches.
                self.end_of_input = self.end_of_input or (not data and self.launch["stdin_once"])
            elif channel == REOPEN:
                alive = client.send(REOPEN, self._reopen_log()) and alive
            elif channel == RESIZE and self.launch["tty"]:
                rows, columns = (int(word) for word in data.split())
                fcntl.ioctl(next(iter(self.outputs)), termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if alive:
            self._watch_client(poll, client)
        else:
            self._drop(poll, descriptor)

    def _watch_client(self, poll: select.epoll, client: Client) -> None:
        poll.modify(client.connection, select.EPOLLIN | (select.EPOLLOUT if client.backlog else 0))

    def _reopen_log(self) -> bytes:
        try:
            self.log.reopen()
        except OSError as error:
            return str(error).encode()
        return b""

    def _carry_output(self, poll: select.epoll, descriptor: int, *, once: bool = False) -> bool:
        """Read once from the container; False at the end of that stream (or, with `once`, when there is nothing
        left)."""
        name, channel = self.outputs[descriptor]
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return not once
        except OSError:
            return False  # a terminal whose other side is closed
        if not data:
            return False
        self.log.write(name, data)
        for number, client in list(self.clients.items()):
            if client.send(channel, data):
                self._watch_client(poll, client)
            else:
                self._drop(poll, number)
        return True

    def _carry_input(self, poll: select.epoll) -> None:
        if self.input is None:
            self.to_stdin = b""
            return
        try:
            while self.to_stdin:
                self.to_stdin = self.to_stdin[os.write(self.input, self.to_stdin) :]
        except BlockingIOError:
            self._watch_input(poll, writable=True)
            return
        except OSError:
            self.to_stdin = b""  # the container has closed its input
        self._watch_input(poll, writable=False)
        if self.end_of_input and not self.launch["tty"]:
            os.close(self.input)
            self.input = None

    def _watch_input(self, poll: select.epoll, *, writable: bool) -> None:
        if self.input is None:
            return
        events = select.EPOLLOUT if writable else 0
        if self.launch["tty"]:
            poll.modify(self.input, select.EPOLLIN | events)
        elif writable:
            try:
                poll.register(self.input, events)
            except FileExistsError:
                poll.modify(self.input, events)
        else:
            try:
                poll.unregister(self.input)
            except (FileNotFoundError, OSError):
                return


def exit_record(status: int, bytes_lost: int) -> ExitRecord:
    """How a container with this wait status ended."""
    code = os.waitstatus_to_exitcode(status)
    message = f"{bytes_lost} bytes of its log were lost: the disk was full" if bytes_lost else ""
    if code < 0:
        message = "; ".join(word for word in (f"ended by signal {-code}", message) if word)
        code = 128 - code
    return {
        "exit_code": code,
        "finished_at": time.time_ns(),
        "reason": "Completed" if code == 0 else "Error",
        "message": message,
    }


def _run_container(launch: Launch, streams: tuple[int, int, int], status: int, go: int, close: tuple[int, ...]) -> None:
    """The forked child: never returns."""
    try:
        for descriptor in close:
            os.close(descriptor)
        os.setsid()
        container_process.take_streams(*streams, terminal=launch["tty"])
        container_process.enter_own_namespaces(launch, os.path.abspath("root"))
        container_process.become(launch)
        os.write(status, container_process.READY)
        # The shim may have been killed before the kernel was told to end this process with it; then nobody says go.
        if os.read(go, 1):
            container_process.execute(launch["argv"], launch["env"])
    except BaseException as error:  # noqa: BLE001 - whatever it is, the shim has to hear it, and this process must not go on as a shim
        said = error.strerror if isinstance(error, OSError) and not error.filename else None
        os.write(status, (said or str(error)).encode(errors="replace"))
    os._exit(START_FAILED_CODE)


def _listen() -> socket:
    listener = socket(AF_UNIX, SOCK_STREAM)
    # By a relative name: the folder's full path may be longer than a socket's address.
    listener.bind(SOCKET_FILE)
    listener.listen(16)
    listener.setblocking(False)
    return listener


def _write_json(path: str, value: ProcessRecord | ExitRecord) -> None:
    temporary = f".{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(temporary, path)


def _write_exit(record: ExitRecord) -> None:
    """Write the end down, however long the disk stays full: without it the runtime could only guess."""
    while True:
        try:
            _write_json(EXIT_FILE, record)
        except OSError:
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Signals to a whole group of processes are not meant for the shim."""


def main() -> None:
    folder, lock, ready = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(lock, False)
    os.set_inheritable(ready, False)
    os.chdir(folder)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore)
    try:
        shim = Shim(read_launch(LAUNCH_FILE))
        answer: dict[str, object] = {"process": shim.start()}
    except (OSError, ValueError, StartFailed) as error:
        _write_exit(
            {
                "exit_code": START_FAILED_CODE,
                "finished_at": time.time_ns(),
                "reason": "StartError",
                "message": str(error),
            }
        )
        _answer(ready, {"error": str(error)})
        return
    _answer(ready, answer)
    _write_exit(shim.serve())


def _answer(ready: int, value: dict[str, object]) -> None:
    try:
        os.write(ready, json.dumps(value).encode())
    except BrokenPipeError:
        pass  # the runtime was killed; its successor reads the files
    finally:
        os.close(ready)


if __name__ == "__main__":
    main()

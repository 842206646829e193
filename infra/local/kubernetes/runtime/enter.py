"""Runs one command in a running container, for probes and `kubectl exec`.

Run as `python -S -s -P -m local.kubernetes.runtime.enter FOLDER PIDFD TERMINAL -- ARGV...`: the container's folder, an
inherited pidfd of its first process, and 1 if standard input is a terminal. Ends with the command's exit code; 126 or
127 if it cannot be executed.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

from local import linux
from local.kubernetes.runtime import container_process
from local.kubernetes.runtime.launch import LAUNCH_FILE, Launch, read_launch

NOT_FOUND, NOT_EXECUTABLE = 127, 126


def main() -> None:
    folder, pidfd, terminal = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
    argv = sys.argv[5:]
    launch = read_launch(f"{folder}/{LAUNCH_FILE}")
    # By the pidfd: its process cannot have been replaced by another one with the same number.
    namespaces = linux.CLONE_NEWPID | linux.CLONE_NEWNET | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC | linux.CLONE_NEWNS
    linux.setns(pidfd, namespaces)
    os.close(pidfd)
    # A request to end that comes before the command is known must not leave the command behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    child = os.fork()
    if child == 0:
        _run(argv, launch["env"], launch, terminal)
    # The terminal's own signals go to the command, which has the terminal.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # At once: the interpreter's own end would look for files that the container does not have.
    os._exit(code if code >= 0 else 128 - code)


def _run(argv: list[str], env: dict[str, str], launch: Launch, terminal: bool) -> None:
    code = NOT_EXECUTABLE
    try:
        os.setsid()
        container_process.take_streams(0, 1, 2, terminal=terminal)
        container_process.become(launch)
        container_process.execute(argv, {"TERM": "xterm", **env} if terminal else env)
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        os.write(2, f"exec: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()

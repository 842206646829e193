"""A container runtime in a private world of its own, and the calls a kubelet makes to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.cri import runtime_pb2_grpc as cri_grpc

HERE = Path(__file__).resolve().parent
INFRA = Path(__file__).resolve().parents[4] / "infra"


KUBELET_MESSAGE_BYTES_MAX = 16 * 1024 * 1024
"""What a kubelet accepts from its runtime."""


def world_command(*, user: bool) -> list[str]:
    """The start of a world: for root, or (with `user`) as an unprivileged user has it."""
    mapping = ["--user", "--map-root-user"] if user or os.geteuid() != 0 else []
    return ["unshare", *mapping, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]


class World:
    """Namespaces with a bridge; everything in them ends with it."""

    def __init__(self, *, user: bool = False) -> None:
        command = [*world_command(user=user), sys.executable, str(HERE / "world_init.py")]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(INFRA)},
        )
        assert self._read()["ready"]

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply = self._read()
        assert "error" not in reply, reply
        return reply

    def run(self, *argv: str) -> str:
        reply = self.ask(run=argv)
        assert reply["code"] == 0, reply
        return str(reply["out"])

    def connect(self, port: int) -> socket.socket:
        """A connection to a port on the loopback of the world."""
        ours, theirs = socket.socketpair()
        relay = (
            "import socket, threading, sys\n"
            f"far = socket.create_connection(('127.0.0.1', {port})); near = socket.socket(fileno=0)\n"
            "def carry(a, b):\n"
            "    try:\n"
            "        while data := a.recv(65536): b.sendall(data)\n"
            "    except OSError: pass\n"
            "    b.shutdown(socket.SHUT_WR)\n"
            "thread = threading.Thread(target=carry, args=(near, far)); thread.start(); carry(far, near); thread.join()\n"
        )
        inside = int(Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()[0])
        command = ["nsenter", "-t", str(inside), "-U", "--preserve-credentials", "-n", sys.executable, "-c", relay]
        if Path(f"/proc/{inside}/ns/user").readlink() == Path("/proc/self/ns/user").readlink():
            command = ["nsenter", "-t", str(inside), "-n", sys.executable, "-c", relay]
        subprocess.Popen(command, stdin=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(30)
        return ours

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the world has ended"
        return dict(json.loads(line))


class Node:
    """One runtime and the kubelet's side of its socket."""

    def __init__(self, world: World, folder: Path, images: Path, cache: Path, subnet: str = "10.200.128.0/24") -> None:
        self.world = world
        self.folder = folder
        self.state = folder / "state"
        self.state.mkdir(parents=True, exist_ok=True)
        self.logs = folder / "logs"
        self._command = [
            "env",
            f"PYTHONPATH={INFRA}",
            f"TANDEM_CACHE={cache}",
            sys.executable,
            "-m",
            "local.kubernetes.runtime",
            "--node",
            "ip-10-200-128-5.ec2.internal",
            "--state",
            str(self.state),
            "--socket",
            str(folder / "cri.sock"),
            "--subnet",
            subnet,
            "--bridge",
            "tandem0",
            "--gateway",
            "10.200.0.1",
            "--images",
            str(images),
        ]
        self.pid = 0
        self.count = 0
        self.start()

    def start(self) -> None:
        self.pid = self.world.ask(start=self._command, log=str(self.folder / "runtime.log"))["pid"]
        self._channel = grpc.insecure_channel(
            f"unix:{self.folder / 'cri.sock'}", options=[("grpc.max_receive_message_length", KUBELET_MESSAGE_BYTES_MAX)]
        )
        self.runtime = cri_grpc.RuntimeServiceStub(self._channel)
        self.images = cri_grpc.ImageServiceStub(self._channel)
        self.runtime.Version(cri.VersionRequest(), wait_for_ready=True, timeout=20)

    def stop(self, signal: int) -> None:
        self.world.ask(kill=self.pid, signal=signal)
        self.world.ask(wait=self.pid)
        self._channel.close()

    def log(self) -> str:
        return (self.folder / "runtime.log").read_text()

    def sandbox_config(self, name: str, **linux: Any) -> Any:
        self.count += 1
        return cri.PodSandboxConfig(
            metadata=cri.PodSandboxMetadata(name=name, uid=f"uid-{self.count}", namespace="tandem"),
            hostname=name[:63],
            log_directory=str(self.logs / f"{self.count}"),
            dns_config=cri.DNSConfig(
                servers=["10.96.0.10"], searches=["tandem.svc.cluster.local"], options=["ndots:5"]
            ),
            labels={"io.kubernetes.pod.name": name},
            linux=cri.LinuxPodSandboxConfig(
                **linux,
                security_context=cri.LinuxSandboxSecurityContext(
                    namespace_options=cri.NamespaceOption(pid=cri.CONTAINER)
                ),
            ),
        )

    def run_sandbox(self, name: str = "pod", **linux: Any) -> tuple[str, Any]:
        config = self.sandbox_config(name, **linux)
        return self.runtime.RunPodSandbox(cri.RunPodSandboxRequest(config=config)).pod_sandbox_id, config

    def address(self, sandbox: str) -> str:
        request = cri.PodSandboxStatusRequest(pod_sandbox_id=sandbox)
        return str(self.runtime.PodSandboxStatus(request).status.network.ip)

    def create(
        self, sandbox: tuple[str, Any], script: str = "", *, name: str = "main", image: str = "shell", **config: Any
    ) -> str:
        if script:
            config.setdefault("args", ["-c", script])
        container = cri.ContainerConfig(
            metadata=cri.ContainerMetadata(name=name),
            image=cri.ImageSpec(image=image, user_specified_image=image),
            log_path=f"{name}.log",
            **config,
        )
        request = cri.CreateContainerRequest(pod_sandbox_id=sandbox[0], config=container, sandbox_config=sandbox[1])
        return str(self.runtime.CreateContainer(request).container_id)

    def launch(self, sandbox: tuple[str, Any], script: str = "", **config: Any) -> str:
        container = self.create(sandbox, script, **config)
        self.runtime.StartContainer(cri.StartContainerRequest(container_id=container))
        return container

    def status(self, container: str) -> Any:
        return self.runtime.ContainerStatus(cri.ContainerStatusRequest(container_id=container)).status

    def info(self, container: str) -> dict[str, Any]:
        request = cri.ContainerStatusRequest(container_id=container, verbose=True)
        return dict(json.loads(self.runtime.ContainerStatus(request).info["info"]))

    def stop_container(self, container: str, seconds: int) -> None:
        self.runtime.StopContainer(cri.StopContainerRequest(container_id=container, timeout=seconds))

    def remove_container(self, container: str) -> None:
        self.runtime.RemoveContainer(cri.RemoveContainerRequest(container_id=container))

    def stop_sandbox(self, sandbox: str) -> None:
        self.runtime.StopPodSandbox(cri.StopPodSandboxRequest(pod_sandbox_id=sandbox))

    def remove_sandbox(self, sandbox: str) -> None:
        self.runtime.RemovePodSandbox(cri.RemovePodSandboxRequest(pod_sandbox_id=sandbox))

    def execute(self, container: str, *argv: str, seconds: int = 20) -> Any:
        return self.runtime.ExecSync(cri.ExecSyncRequest(container_id=container, cmd=argv, timeout=seconds))

    def output(self, container: str, *argv: str) -> str:
        done = self.execute(container, *argv)
        assert done.exit_code == 0, done
        return str(done.stdout.decode())

    def wait_exited(self, container: str, seconds: float = 20) -> Any:
        until(lambda: self.status(container).state == cri.CONTAINER_EXITED, seconds)
        return self.status(container)

    def launch_trapped(self, sandbox: tuple[str, Any], traps: str, **config: Any) -> str:
        """Starts a shell that loops for ever, and gives it when its traps are set: a signal before that would not meet them."""
        container = self.launch(sandbox, f"{traps}; echo set; while :; do sleep 0.05; done", **config)
        while not any(line.endswith("set") for line in self.log_lines(container)):
            time.sleep(0.01)
        return container

    def log_lines(self, container: str) -> list[str]:
        return Path(self.status(container).log_path).read_text().splitlines()

    def process(self, container: str) -> dict[str, Any]:
        return dict(json.loads((self.state / "containers" / container / "process.json").read_text()))

    def processes(self) -> list[str]:
        """Command lines of everything in the world but the runtime, its shims, and the world's own."""
        lines = self.world.run("ps", "-e", "-o", "args=").splitlines()
        own = ("local.kubernetes.runtime", "world_init", "ps -e")
        return [line for line in lines if not any(word in line for word in own) and "<defunct>" not in line]


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for what happens outside this process."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come to pass in time"
        time.sleep(0.02)

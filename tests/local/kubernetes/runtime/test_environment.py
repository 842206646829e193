from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import grpc
import pytest
from local.kubernetes.cri import runtime_pb2 as cri

ROOT = os.geteuid() == 0


def said(node: Any, container: str) -> str:
    status = node.wait_exited(container)
    text = "\n".join(line.split(" ", 3)[3] for line in node.log_lines(container))
    assert status.exit_code == 0, text or status.message
    return text


def test_the_pods_environment_wins_over_the_images(node: Any) -> None:
    odd = "line\nbreak 'quoted' $HOME ä"
    envs = [cri.KeyValue(key="GREETING", value=b"hi"), cri.KeyValue(key="ODD", value=odd.encode())]
    container = node.launch(node.run_sandbox("env-pod"), 'printf "%s|%s|%s" "$GREETING" "$ODD" "$HOSTNAME"', envs=envs)
    assert said(node, container) == f"hi|{odd}|env-pod"


def test_bytes_that_are_no_text_arrive_in_the_environment(node: Any) -> None:
    envs = [cri.KeyValue(key="RAW", value=b"\xff\xfe")]
    assert said(node, node.launch(node.run_sandbox(), 'printf "%s" "$RAW" | od -An -tx1', envs=envs)).split() == [
        "ff",
        "fe",
    ]


def test_nothing_of_the_runtimes_own_environment_leaks_in(node: Any) -> None:
    names = {line.partition("=")[0] for line in said(node, node.launch(node.run_sandbox(), "env")).splitlines()}
    assert names <= {"GREETING", "HOME", "HOSTNAME", "PATH", "PWD", "SHLVL", "_", "OLDPWD"}


def test_the_image_is_at_opt_app_and_cannot_be_changed(node: Any) -> None:
    container = node.launch(node.run_sandbox(), image="python", args=["program.py"])
    assert said(node, container) == "program"
    script = "touch /opt/app/x /opt/venv/x 2>&1 | grep -c 'Read-only file system'; ls /opt/app"
    assert said(node, node.launch(node.run_sandbox(), script)) == "2\nContainerfile"


def test_the_python_of_an_image_is_its_own_environment(node: Any) -> None:
    script = "import sys; print(sys.prefix, 'grpc' in sys.modules, sys.version_info[0])"
    assert said(node, node.launch(node.run_sandbox(), image="python", args=["-c", script])) == "/opt/venv False 3"


def test_the_machines_own_files_are_not_in_the_container(node: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    listing = said(node, node.launch(node.run_sandbox(), f"ls -d /work {secret} 2>/dev/null; echo /*")).split()
    assert "/work" not in listing
    assert str(secret) not in listing


def test_volumes_are_where_they_belong_whatever_the_order_and_place(node: Any, tmp_path: Path) -> None:
    for name in ("outer", "inner", "conf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    (tmp_path / "single").write_text("single")
    mounts = [
        cri.Mount(container_path="/data/inner", host_path=str(tmp_path / "inner"), readonly=True),
        cri.Mount(container_path="/data", host_path=str(tmp_path / "outer")),
        cri.Mount(container_path="/etc/program/conf", host_path=str(tmp_path / "conf"), readonly=True),
        cri.Mount(container_path="/etc/ssl/extra", host_path=str(tmp_path / "conf")),
        cri.Mount(container_path="/etc/hosts", host_path=str(tmp_path / "single")),
        cri.Mount(container_path="/var/run/secrets/x", host_path=str(tmp_path / "conf")),
        cri.Mount(container_path="/made", host_path=str(tmp_path / "made" / "by" / "runtime")),
    ]
    (tmp_path / "outer" / "inner").mkdir()
    script = (
        "cat /data/file /data/inner/file /etc/program/conf/file /etc/ssl/extra/file /etc/hosts /var/run/secrets/x/file;"
        "echo; touch /data/new; touch /made/new; touch /data/inner/new 2>&1 | grep -c Read-only; ls /etc/ssl | wc -l"
    )
    text = said(node, node.launch(node.run_sandbox(), script, mounts=mounts)).splitlines()
    assert text[0] == "outerinnerconfconfsingleconf"
    assert text[1] == "1"
    assert int(text[2]) == len(list(Path("/etc/ssl").iterdir())) + 1, "what the node has in /etc/ssl stays visible"
    assert (tmp_path / "outer" / "new").exists()
    assert (tmp_path / "made" / "by" / "runtime" / "new").exists()


def test_a_mount_over_the_root_is_refused(node: Any, tmp_path: Path) -> None:
    with pytest.raises(grpc.RpcError, match="cannot be the root"):
        node.create(node.run_sandbox(), "true", mounts=[cri.Mount(container_path="/a/..", host_path=str(tmp_path))])


def test_a_mount_that_cannot_be_made_names_its_path(node: Any, tmp_path: Path) -> None:
    mounts = [cri.Mount(container_path="/usr/no-such-folder", host_path=str(tmp_path))]
    container = node.create(node.run_sandbox(), "true", mounts=mounts)
    with pytest.raises(grpc.RpcError, match="/usr/no-such-folder"):
        node.runtime.StartContainer(cri.StartContainerRequest(container_id=container))


def test_names_are_resolved_as_the_sandbox_says(node: Any) -> None:
    sandbox = node.run_sandbox("resolver")
    text = said(node, node.launch(sandbox, "cat /etc/resolv.conf; cat /etc/hosts; hostname; uname -n"))
    assert "nameserver 10.96.0.10\nsearch tandem.svc.cluster.local\noptions ndots:5\n" in text
    assert f"{node.address(sandbox[0])}\tresolver" in text
    assert text.splitlines()[-2:] == ["resolver", "resolver"]


def test_a_read_only_root_still_has_a_writable_volume(node: Any, tmp_path: Path) -> None:
    linux = cri.LinuxContainerConfig(security_context=cri.LinuxContainerSecurityContext(readonly_rootfs=True))
    mounts = [cri.Mount(container_path="/scratch", host_path=str(tmp_path))]
    script = "touch /x 2>&1 | grep -c Read-only; touch /scratch/x; echo ok"
    assert said(node, node.launch(node.run_sandbox(), script, linux=linux, mounts=mounts)) == "1\nok"


@pytest.mark.skipif(not ROOT, reason="only root has other users")
def test_the_user_of_the_image_is_who_it_runs_as(node: Any) -> None:
    script = "import os; print(os.getuid(), os.getgid(), os.getgroups())"
    container = node.launch(node.run_sandbox(), image="python", args=["-c", script])
    assert said(node, container) == "10001 10002 [10002]"


@pytest.mark.skipif(not ROOT, reason="only root has other users")
def test_the_pods_user_and_groups_win_over_the_images(node: Any) -> None:
    context = cri.LinuxContainerSecurityContext(
        run_as_user=cri.Int64Value(value=65534), run_as_group=cri.Int64Value(value=777), supplemental_groups=[888]
    )
    linux = cri.LinuxContainerConfig(security_context=context)
    script = "import os; print(os.getuid(), os.getgid(), sorted(os.getgroups()))"
    container = node.launch(node.run_sandbox(), image="python", args=["-c", script], linux=linux)
    assert said(node, container) == "65534 777 [777, 888]"
    named = cri.LinuxContainerConfig(security_context=cri.LinuxContainerSecurityContext(run_as_username="nobody"))
    assert said(node, node.launch(node.run_sandbox(), "id -un", linux=named)) == "nobody"


@pytest.mark.skipif(not ROOT, reason="only root has other users")
def test_a_user_can_open_its_own_output_by_name(node: Any) -> None:
    script = "open('/dev/stdout', 'w').write('by name'); open('/proc/1/fd/2', 'w').write('')"
    assert said(node, node.launch(node.run_sandbox(), image="python", args=["-c", script])) == "by name"


def test_a_user_nobody_knows_is_refused_with_the_way_out(node: Any) -> None:
    linux = cri.LinuxContainerConfig(security_context=cri.LinuxContainerSecurityContext(run_as_username="no-such-user"))
    with pytest.raises(grpc.RpcError, match="Write its number"):
        node.create(node.run_sandbox(), "true", linux=linux)


def test_a_container_has_the_usual_capabilities_and_those_it_asks_for(node: Any) -> None:
    def bounding(**given: Any) -> int:
        context = cri.LinuxContainerSecurityContext(**given)
        linux = cri.LinuxContainerConfig(security_context=context)
        text = said(node, node.launch(node.run_sandbox(), "grep CapBnd /proc/self/status", linux=linux))
        return int(text.split()[1], 16)

    net_admin, chown = 1 << 12, 1 << 0
    usual = bounding()
    assert not usual & net_admin
    assert usual & chown
    assert bounding(capabilities=cri.Capability(add_capabilities=["NET_ADMIN"])) & net_admin
    assert bounding(capabilities=cri.Capability(drop_capabilities=["ALL"])) == 0
    assert bounding(privileged=True) & net_admin


def test_settings_of_the_pods_network_are_its_own(node: Any) -> None:
    sandbox = node.run_sandbox(sysctls={"net.ipv4.ip_local_port_range": "40000 49999"})
    container = node.launch(
        sandbox, "cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/net/ipv4/ip_unprivileged_port_start"
    )
    assert said(node, container).split() == ["40000", "49999", "0"]
    assert "40000" not in node.world.run("cat", "/proc/sys/net/ipv4/ip_local_port_range")


def test_a_setting_that_does_not_exist_fails_the_pod_and_leaves_nothing(node: Any) -> None:
    before = node.world.run("ip", "netns")
    with pytest.raises(grpc.RpcError, match=r"net\.ipv4\.no_such_thing"):
        node.run_sandbox(sysctls={"net.ipv4.no_such_thing": "1"})
    assert node.world.run("ip", "netns") == before


def test_the_containers_processes_are_its_own(node: Any) -> None:
    text = said(
        node, node.launch(node.run_sandbox(), "echo $$; ls -d /proc/[0-9]* | wc -l; touch /dev/shm/x && echo shm")
    )
    assert text.splitlines()[0] == "1"
    assert int(text.splitlines()[1]) <= 3
    assert text.splitlines()[2] == "shm"


@pytest.mark.parametrize("name", ["a", "x" * 253, "with.dots-and-dashes", "üñí", "trailing-" + "-" * 60])
def test_pods_with_odd_names_run(node: Any, name: str) -> None:
    sandbox = node.run_sandbox(name)
    assert said(node, node.launch(sandbox, "hostname", name="c" * 63))
    request = cri.PodSandboxStatusRequest(pod_sandbox_id=sandbox[0])
    assert node.runtime.PodSandboxStatus(request).status.metadata.name == name


def test_odd_labels_and_annotations_come_back_as_they_were(node: Any) -> None:
    odd = {"a/b.c": "", "k": 'quote" and \\ and \n and ü', "": "empty key"}
    container = node.create(node.run_sandbox(), "true", labels=odd, annotations=odd)
    assert dict(node.status(container).labels) == odd
    assert dict(node.status(container).annotations) == odd

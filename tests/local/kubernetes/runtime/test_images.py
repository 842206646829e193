from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from local.kubernetes import images as images_module
from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.images import BuildFailed, Images, build, name_of
from local.records import read_record


def pull(node: Any, reference: str) -> Any:
    return node.images.PullImage(cri.PullImageRequest(image=cri.ImageSpec(image=reference)))


@pytest.mark.parametrize(
    "reference",
    [
        "shell",
        "shell:1",
        "tandem/shell",
        "123456789012.dkr.ecr.us-east-1.amazonaws.com/tandem/shell:1",
        "localhost:5000/shell",
        "shell@sha256:abc",
    ],
)
def test_an_image_is_known_by_the_last_part_of_its_repository(reference: str) -> None:
    assert name_of(reference) == "shell"


def test_a_known_image_is_there_before_it_is_pulled_and_pulling_gives_its_id(node: Any) -> None:
    reference = "123456789012.dkr.ecr.us-east-1.amazonaws.com/tandem/python:1"
    status = node.images.ImageStatus(cri.ImageStatusRequest(image=cri.ImageSpec(image=reference)))
    assert list(status.image.repo_tags) == [reference]
    assert status.image.uid.value == 10001, "runAsNonRoot is judged by it"
    assert pull(node, reference).image_ref == status.image.id
    again = node.images.ImageStatus(cri.ImageStatusRequest(image=cri.ImageSpec(image=status.image.id)))
    assert again.image.id == status.image.id


def test_an_unknown_image_is_not_found_and_the_message_names_those_that_are(node: Any) -> None:
    assert not node.images.ImageStatus(cri.ImageStatusRequest(image=cri.ImageSpec(image="nginx"))).HasField("image")
    with pytest.raises(grpc.RpcError) as caught:
        pull(node, "nginx:1.27")
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert "no image nginx" in caught.value.details()
    assert "python, shell, unbuilt" in caught.value.details()


@pytest.mark.parametrize("reference", ["a/..", "", ".", ".."])
def test_a_reference_never_leads_out_of_the_folder(node: Any, reference: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        pull(node, reference)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_an_image_without_its_environment_names_the_command_that_makes_it(node: Any) -> None:
    assert not node.images.ImageStatus(cri.ImageStatusRequest(image=cri.ImageSpec(image="unbuilt"))).HasField("image")
    with pytest.raises(grpc.RpcError, match=r"python -m local\.kubernetes\.images build"):
        pull(node, "unbuilt")
    with pytest.raises(grpc.RpcError, match=r"python -m local\.kubernetes\.images build"):
        node.create(node.run_sandbox(), image="unbuilt")


def test_only_images_that_can_run_are_listed(node: Any) -> None:
    listed = node.images.ListImages(cri.ListImagesRequest()).images
    assert sorted(tag for image in listed for tag in image.repo_tags) == ["python:latest", "shell:latest"]


def test_the_disk_use_of_images_is_reported(node: Any) -> None:
    usage = node.images.ImageFsInfo(cri.ImageFsInfoRequest()).image_filesystems[0]
    assert usage.used_bytes.value > 0
    assert Path(usage.fs_id.mountpoint).is_dir()


def test_removing_an_image_deletes_nothing(node: Any, images: Path) -> None:
    node.images.RemoveImage(cri.RemoveImageRequest(image=cri.ImageSpec(image="shell")))
    assert (images / "shell" / "Containerfile").exists()
    assert pull(node, "shell").image_ref


def _definition(folder: Path, name: str, requirements: str | None = None) -> Images:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "Containerfile").write_text('ENTRYPOINT ["/bin/true"]\n')
    if requirements is not None:
        (folder / name / "requirements.txt").write_text(requirements)
    return Images(folder, folder / "cache")


def test_an_environment_is_built_once_and_its_scripts_work_where_the_container_has_it(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires=[]\nbuild-backend="backend"\nbackend-path=["."]\n'
    )
    # A backend of a few lines, so that the build needs no network.
    (package / "backend.py").write_text(
        "import zipfile, os\n"
        "def build_wheel(folder, config=None, metadata=None):\n"
        "    name = 'hello-1-py3-none-any.whl'\n"
        "    with zipfile.ZipFile(os.path.join(folder, name), 'w') as file:\n"
        "        file.writestr('hello.py', 'def main(): print(1)')\n"
        "        info = 'hello-1.dist-info/'\n"
        "        file.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: hello\\nVersion: 1\\n')\n"
        "        file.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "        file.writestr(info + 'entry_points.txt', '[console_scripts]\\nhello=hello:main\\n')\n"
        "        file.writestr(info + 'RECORD', '')\n"
        "    return name\n"
    )
    known = _definition(tmp_path / "images", "hello", f"hello @ {package.as_uri()}\n")
    said: list[str] = []
    build(known.load("hello"), said.append)
    image = known.load("hello")
    assert image.built
    script = (image.venv / "bin" / "hello").read_text()
    assert "/opt/venv/bin/python" in script
    assert str(tmp_path) not in script
    assert read_record(image.environment / "environment.json")["bytes"] > 0
    said.clear()
    build(known.load("hello"), said.append)
    assert said == ["hello: environment is there"]


def test_a_failed_build_says_what_pip_said_and_leaves_no_half_environment(tmp_path: Path) -> None:
    known = _definition(tmp_path, "broken", "broken @ file:///no/such/folder\n")
    with pytest.raises(BuildFailed, match=r"requirements\.txt"):
        build(known.load("broken"), lambda line: None)
    assert not known.load("broken").built


def test_other_requirements_are_another_environment(tmp_path: Path) -> None:
    before = _definition(tmp_path, "a", "").load("a")
    after = _definition(tmp_path, "a", "click\n").load("a")
    assert before.environment != after.environment
    assert before.id != after.id


def test_a_large_image_is_only_built_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _definition(tmp_path, "large", "no-such @ file:///no/such/folder\n")
    with (tmp_path / "large" / "Containerfile").open("a") as file:
        file.write("LABEL dev.tandem.build=on-demand\n")
    assert images_module.main(["build", "--images", str(tmp_path)]) == 0
    assert images_module.main(["build", "large", "--images", str(tmp_path)]) != 0
    assert "requirements" in capsys.readouterr().err


def test_what_is_installed_without_its_dependencies_is_a_part_of_the_environment_too(tmp_path: Path) -> None:
    before = _definition(tmp_path, "a", "").load("a")
    (tmp_path / "a" / "requirements-no-deps.txt").write_text("click\n")
    assert _definition(tmp_path, "a", "").load("a").environment != before.environment


def test_the_command_lists_images_and_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _definition(tmp_path, "a")
    assert images_module.main(["list", "--images", str(tmp_path)]) == 0
    assert "a\tnot built" in capsys.readouterr().out
    assert images_module.main(["build", "b", "--images", str(tmp_path)]) == 1
    assert "no image b" in capsys.readouterr().err
    assert images_module.main(["build", "--images", str(tmp_path / "none")]) == 2
    assert "holds no folder with a Containerfile" in capsys.readouterr().err

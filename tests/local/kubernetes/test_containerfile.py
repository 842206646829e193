from __future__ import annotations

import pytest
from local.kubernetes.containerfile import DEFAULT_PATH, parse_containerfile
from tandem.errors import ConfigError

WHOLE = r"""
# syntax=docker/dockerfile:1
ARG PYTHON=3.11
FROM python:${PYTHON}-slim AS base
ENV PATH=/opt/venv/bin:$PATH \
    # a comment in between
    GREETING="hello world" EMPTY=
ENV LEGACY some value with spaces
WORKDIR /opt
WORKDIR app
RUN <<EOF
ENTRYPOINT ["not", "this"]
EOF
FROM scratch AS other
ENTRYPOINT ["/other"]
FROM base
USER 10001:10002
COPY . .
EXPOSE 30000/tcp
STOPSIGNAL SIGINT
ENTRYPOINT ["python", "-m", "engine_sim"]
CMD ["--port", "30000"]
"""


def test_the_last_stage_with_what_it_inherits_is_what_runs() -> None:
    config = parse_containerfile(WHOLE, "Containerfile")
    assert config.entrypoint == ("python", "-m", "engine_sim")
    assert config.command == ("--port", "30000")
    assert config.env == {
        "PATH": f"/opt/venv/bin:{DEFAULT_PATH}",
        "GREETING": "hello world",
        "EMPTY": "",
        "LEGACY": "some value with spaces",
    }
    assert config.user == "10001:10002"
    assert config.working_folder == "/opt/app"
    assert config.stop_signal == "SIGINT"


def test_a_stage_that_inherits_nothing_starts_empty() -> None:
    config = parse_containerfile('FROM a\nENV A=1\nFROM b\nCMD ["x"]\n', "f")
    assert config.env == {"PATH": DEFAULT_PATH}


@pytest.mark.parametrize("line", ["ENTRYPOINT python -m x", "CMD run me", 'ENTRYPOINT "x"', "ENTRYPOINT [1]"])
def test_the_shell_form_is_refused_with_place_and_reason(line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_containerfile(f"FROM x\n{line}\n", "images/a/Containerfile")
    assert "images/a/Containerfile:2" in str(caught.value)
    assert "exec form" in str(caught.value)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_containerfile("ENV A=1 B\nCMD x\nENTRYPOINT y\n", "f")
    assert len(caught.value.faults) == 3


def test_an_image_without_a_program_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs an ENTRYPOINT"):
        parse_containerfile("FROM x\n", "f")


def test_a_new_entrypoint_drops_the_arguments_that_were_inherited() -> None:
    config = parse_containerfile('FROM a AS b\nENTRYPOINT ["x"]\nCMD ["1"]\nFROM b\nENTRYPOINT ["y"]\n', "f")
    assert (config.entrypoint, config.command) == (("y",), ())


@pytest.mark.parametrize("text", ["ENV", "ENV ", "USER", "\\", "RUN <<EOF", "FROM", "FROM x AS"])
def test_broken_lines_are_faults_or_nothing_but_never_a_crash(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_containerfile(f"{text}", "f")

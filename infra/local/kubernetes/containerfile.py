"""Reads what the local runtime needs from a Containerfile: ENTRYPOINT, CMD, ENV, LABEL, USER, WORKDIR and STOPSIGNAL of
its last stage.

Instructions that only make layers (RUN, COPY, EXPOSE ...) have no meaning here and are passed over.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from tandem.errors import ConfigError, Fault

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""PATH of an image that sets none, as in the usual base images."""


@dataclass(frozen=True)
class ImageConfig:
    """What an image says about the process it starts."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=lambda: {"PATH": DEFAULT_PATH})
    user: str = ""
    """`USER[:GROUP]`, names or numbers; empty is root."""
    working_folder: str = "/"
    stop_signal: str = "SIGTERM"
    labels: dict[str, str] = field(default_factory=dict)


def read_containerfile(path: Path) -> ImageConfig:
    """The last stage of the Containerfile at `path`. Raises ConfigError with every fault, OSError if it cannot be
    read."""
    return parse_containerfile(path.read_text(encoding="utf-8"), str(path))


def parse_containerfile(text: str, where: str) -> ImageConfig:
    """The last stage of a Containerfile's `text`; `where` names it in faults. Raises ConfigError."""
    faults: list[Fault] = []
    arguments: dict[str, str] = {}
    stages: dict[str, ImageConfig] = {}
    config = ImageConfig()
    name = ""
    for number, word, rest in _instructions(text):
        place = f"{where}:{number}"
        if word == "FROM":
            stages[name] = config
            # A name of an earlier stage inherits from it; any other base image is not looked at.
            words = [each for each in _expand(rest, arguments).split() if not each.startswith("--")]
            config = stages.get(words[0].lower(), ImageConfig()) if words else ImageConfig()
            name = words[2].lower() if len(words) >= 3 and words[1].lower() == "as" else f"#{number}"
        elif word == "ARG":
            key, _, default = rest.partition("=")
            arguments.setdefault(key.strip(), _unquote(default.strip()))
        else:
            try:
                config = _apply(config, word, rest, arguments)
            except ValueError as error:
                faults.append(Fault(place, f"{word} {rest}", str(error), "Correct the line"))
    if not faults and not config.entrypoint and not config.command:
        faults.append(
            Fault(
                where,
                "",
                "an image needs an ENTRYPOINT, since a pod gives arguments only",
                'Add ENTRYPOINT ["program"]',
            )
        )
    if faults:
        raise ConfigError(faults)
    return config


def _apply(config: ImageConfig, word: str, rest: str, arguments: dict[str, str]) -> ImageConfig:
    known = {**arguments, **config.env}
    if word == "ENTRYPOINT":
        return replace(config, entrypoint=_exec_form(rest), command=())
    if word == "CMD":
        return replace(config, command=_exec_form(rest))
    if word == "ENV":
        return replace(config, env={**config.env, **_assignments(rest, known)})
    if word == "LABEL":
        return replace(config, labels={**config.labels, **_assignments(rest, known)})
    if word == "USER":
        return replace(config, user=_expand(rest, known))
    if word == "WORKDIR":
        return replace(
            config, working_folder=posixpath.normpath(posixpath.join(config.working_folder, _expand(rest, known)))
        )
    if word == "STOPSIGNAL":
        return replace(config, stop_signal=_expand(rest, known))
    return config


def _instructions(text: str) -> list[tuple[int, str, str]]:
    """Line number, upper-case instruction and the rest, with continued lines joined and comments and here-documents
    left out."""
    found: list[tuple[int, str, str]] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at].strip()
        at += 1
        if not line or line.startswith("#"):
            continue
        while line.endswith("\\"):
            line = line[:-1].rstrip()
            while at < len(lines) and lines[at].lstrip().startswith("#"):
                at += 1
            if at >= len(lines):
                break
            line = f"{line} {lines[at].strip()}"
            at += 1
        word, _, rest = line.partition(" ")
        for marker in re.findall(r"<<-?[\"']?(\w+)[\"']?", rest) if word.upper() in ("RUN", "COPY") else ():
            while at < len(lines) and lines[at].strip() != marker:
                at += 1
            at += 1
        found.append((number, word.upper(), rest.strip()))
    return found


def _exec_form(text: str) -> tuple[str, ...]:
    try:
        words = json.loads(text)
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError('must be in exec form, ["program", "argument"]: the shell form hides signals from the program')
    return tuple(words)


def _assignments(text: str, known: dict[str, str]) -> dict[str, str]:
    if not text:
        raise ValueError("needs NAME=VALUE")
    if "=" not in text.split(maxsplit=1)[0]:
        key, _, value = text.partition(" ")
        return {key: _expand(value.strip(), known)}
    values = {}
    for word in shlex.split(text):
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word} has no value; write {word}=VALUE")
        values[key] = _expand(value, known)
    return values


def _expand(text: str, known: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = known.get(match["plain"] or match["name"], "")
        return found or match["default"] or ""

    return re.sub(r"\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})", value, text)


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text

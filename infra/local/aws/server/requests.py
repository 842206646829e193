"""Which requests may change state. A request that is not surely a read counts as a change."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

_READING_ACTION = re.compile(
    r"^(Describe|List|Get|BatchGet|Search|Lookup|Check|Query|Scan|Select|Test|Head)(?=[A-Z]|$)"
)
_STATELESS_ACTIONS = frozenset(
    {"AssumeRole", "AssumeRoleWithWebIdentity", "Decrypt", "Encrypt", "ReEncrypt", "GenerateDataKey", "Sign", "Verify"}
)
"""Verbs that are no reads by name but leave nothing behind."""
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_KEPT_KEYS = frozenset(
    {"REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "RAW_URI", "REQUEST_URI", "CONTENT_TYPE", "CONTENT_LENGTH"}
    | {"moto.preserved_header_names"}
)
_DROPPED_HEADERS = frozenset(
    {"HTTP_USER_AGENT", "HTTP_AMZ_SDK_INVOCATION_ID", "HTTP_AMZ_SDK_REQUEST", "HTTP_ACCEPT_ENCODING"}
    | {"HTTP_CONNECTION", "HTTP_EXPECT", "HTTP_ACCEPT", "HTTP_TRANSFER_ENCODING"}
)
"""Headers on which no outcome depends; they would make up half of the journal."""


def action_of(environ: dict[str, Any], body: bytes) -> str | None:
    """The AWS action a request names, or None for services that are plain HTTP resources (EKS, S3, Route 53)."""
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return str(target).rpartition(".")[2]
    if str(environ.get("CONTENT_TYPE", "")).startswith("application/x-www-form-urlencoded"):
        named: list[str] = parse_qs(body.decode("utf-8", "replace")).get("Action", [])
    else:
        named = parse_qs(str(environ.get("QUERY_STRING", ""))).get("Action", [])
    return named[0] if named else None


def may_change_state(environ: dict[str, Any], body: bytes) -> bool:
    action = action_of(environ, body)
    if action is not None:
        return not (_READING_ACTION.match(action) or action in _STATELESS_ACTIONS)
    return environ["REQUEST_METHOD"] not in _READING_METHODS


def recordable(environ: dict[str, Any]) -> dict[str, Any]:
    """The part of a WSGI environ that a replay needs; plain JSON values."""
    return {
        key: value
        for key, value in environ.items()
        if key in _KEPT_KEYS or (key.startswith("HTTP_") and key not in _DROPPED_HEADERS)
    }

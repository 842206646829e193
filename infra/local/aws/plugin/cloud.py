"""One region of the local AWS as handlers see it: clients, names, and the store of what is only recorded."""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

_MISSING = re.compile(r"NotFound|NoSuch|DoesNotExist|Nonexistent|UnknownResource|404")
_BUSY = frozenset(
    {"DependencyViolation", "ResourceInUse", "ResourceInUseException", "DeleteConflict"}
    | {"WAFAssociatedItemException", "InvalidIPAddress.InUse", "IncorrectState"}
)
"""Errors that pass once something else is gone."""
BUSY_TIMEOUT_SECONDS = 60.0
"""How long a deletion waits for what still depends on it. The real services take up to an hour; here nothing does."""
POLL_SECONDS = 0.2


def error_code(error: BaseException) -> str | None:
    """The AWS code of a client error, else None."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else None


def is_missing(error: BaseException) -> bool:
    """Does the error say that the object is not there?"""
    code = error_code(error)
    return code is not None and _MISSING.search(code) is not None


class Rejected(Exception):
    """AWS refused in the text of an answer, not by an error."""


class Unfinished(Exception):
    """The object exists, but something after its creation failed; the engine keeps it and shows the reason."""


@dataclass
class Session:
    """The configured provider: endpoint, account, defaults; makes clients when first asked for."""

    endpoint: str
    account: str
    region: str
    default_tags: dict[str, str] = field(default_factory=dict)
    partition: str = "aws"
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the engine wants to end: nobody waits any longer."""
    _clients: dict[tuple[str, str], Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _botocore: Any = None

    def client(self, service: str, region: str) -> Any:
        with self._lock:
            if (service, region) not in self._clients:
                self._clients[service, region] = self._make_client(service, region)
            return self._clients[service, region]

    def _make_client(self, service: str, region: str) -> Any:
        # Loading botocore takes longer than many a preview, which needs no client at all.
        import botocore.config
        import botocore.session

        if self._botocore is None:
            self._botocore = botocore.session.Session()
        return self._botocore.create_client(
            service,
            region_name=region,
            endpoint_url=self.endpoint,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=botocore.config.Config(
                retries={"total_max_attempts": 3, "mode": "standard"},
                s3={"addressing_style": "path"},
                proxies={},
                parameter_validation=True,
                max_pool_connections=16,
                # moto checks no checksum, and a plain body keeps the journal readable.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                connect_timeout=5,
                read_timeout=60,
            ),
        )

    def cloud(self, region: str | None = None) -> Cloud:
        return Cloud(self, region or self.region)


@dataclass(frozen=True)
class Cloud:
    """A region of the session."""

    session: Session
    region: str

    def client(self, service: str, region: str | None = None) -> Any:
        return self.session.client(service, region or self.region)

    @property
    def account(self) -> str:
        return self.session.account

    def arn(self, service: str, resource: str, *, regional: bool = True) -> str:
        region = self.region if regional else ""
        return f"arn:{self.session.partition}:{service}:{region}:{self.account}:{resource}"

    def found(self, call: Callable[..., Any], **arguments: Any) -> Any:
        """The answer of `call`, or None when the object is not there."""
        try:
            return call(**arguments)
        except Exception as error:
            if is_missing(error):
                return None
            raise

    def until_free(self, call: Callable[..., Any], **arguments: Any) -> None:
        """Delete: fine when already gone, tried again while something still depends on it. AWS offers no event to wait for."""
        deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
        while True:
            try:
                call(**arguments)
                return
            except Exception as error:
                if is_missing(error):
                    return
                if error_code(error) not in _BUSY or time.monotonic() > deadline:
                    raise
                if self.session.cancelled.wait(POLL_SECONDS):
                    raise

    def recorded(self, kind: str, name: str) -> dict[str, Any] | None:
        """The record of (type, id), or None."""
        answer: dict[str, Any] | None = self._ask("GET", kind, name)
        return answer

    def record(self, kind: str, name: str, outputs: dict[str, Any], *, whole: bool) -> None:
        self._ask("PUT", kind, name, {"outputs": outputs, "whole": whole})

    def forget(self, kind: str, name: str) -> None:
        self._ask("DELETE", kind, name)

    def _ask(self, method: str, kind: str, name: str, value: Any = None) -> Any:
        path = "/".join(quote(part, safe="") for part in (self.region, kind, name))
        data = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(
            f"{self.session.endpoint}/_tandem/recorded/{path}",
            data=data,
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with _open(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise


def _open(request: urllib.request.Request) -> Any:
    # No proxy: the address is on this machine.
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30)

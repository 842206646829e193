"""A small client of the API server for our own processes, which must start fast: the official one takes a second to import."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from tandem.errors import CloudUnavailable

_TIMEOUT_SECONDS = 10.0


class ApiError(CloudUnavailable):
    """The API server refused a request."""

    def __init__(self, status: int, method: str, path: str, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {message}")
        self.status = status


class KubernetesApi:
    """One connection to the API server as the user of a kubeconfig. Not safe for several threads at once."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = urlsplit(cluster["server"])
        self._context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode()
        )
        # OpenSSL reads a client's certificate from files only.
        with tempfile.NamedTemporaryFile() as certificate, tempfile.NamedTemporaryFile() as key:
            certificate.write(base64.b64decode(user["client-certificate-data"]))
            key.write(base64.b64decode(user["client-key-data"]))
            certificate.flush()
            key.flush()
            self._context.load_cert_chain(certificate.name, key.name)
        self._connection: http.client.HTTPSConnection | None = None

    def get(self, path: str) -> dict[str, Any] | None:
        """The object or list at `path`; None if there is none. Raises ApiError, OSError."""
        return self._or_none("GET", path)

    def create(self, path: str, value: dict[str, Any]) -> dict[str, Any] | None:
        """Create an object in the collection at `path`; None if it exists. Raises ApiError, OSError."""
        try:
            return self._request("POST", path, value)
        except ApiError as error:
            if error.status == http.client.CONFLICT:
                return None
            raise

    def apply(self, path: str, value: dict[str, Any]) -> dict[str, Any]:
        """Make the object at `path` be as `value` says (server-side apply). Raises ApiError, OSError."""
        query = "?fieldManager=tandem-local&force=true"
        return self._request("PATCH", path + query, value, "application/apply-patch+yaml")

    def merge(self, path: str, value: dict[str, Any]) -> dict[str, Any] | None:
        """Change fields of the object at `path`; None if there is none. Raises ApiError, OSError."""
        return self._or_none("PATCH", path, value, "application/merge-patch+json")

    def delete(self, path: str, grace_seconds: int | None = None) -> dict[str, Any] | None:
        """Delete the object at `path`; None if there is none. Raises ApiError, OSError."""
        options = {"gracePeriodSeconds": grace_seconds} if grace_seconds is not None else {}
        return self._or_none("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})

    def watch(self, path: str, version: str, seconds: int) -> Iterator[dict[str, Any]]:
        """Events of the collection at `path` from `version` on, until the server ends the watch. Raises ApiError, OSError."""
        query = f"{path}?watch=1&resourceVersion={version}&timeoutSeconds={seconds}&allowWatchBookmarks=true"
        # A connection of its own: it is busy for as long as the watch lasts.
        connection = self._open(seconds + _TIMEOUT_SECONDS)
        try:
            connection.request("GET", query, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            if answer.status >= 400:
                raise ApiError(answer.status, "WATCH", path, answer.read(300).decode(errors="replace"))
            while line := answer.readline():
                if line.strip():
                    yield json.loads(line)
        finally:
            connection.close()

    def _or_none(
        self, method: str, path: str, value: dict[str, Any] | None = None, kind: str = "application/json"
    ) -> dict[str, Any] | None:
        try:
            return self._request(method, path, value, kind)
        except ApiError as error:
            if error.status == http.client.NOT_FOUND:
                return None
            raise

    def _request(
        self, method: str, path: str, value: dict[str, Any] | None = None, kind: str = "application/json"
    ) -> dict[str, Any]:
        body = None if value is None else json.dumps(value)
        for attempt in (1, 2):
            connection = self._connect()
            try:
                connection.request(method, path, body, {"Content-Type": kind, "Accept": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError):
                self._drop()
                # A kept connection may have been closed by a restart; a fresh one that fails is an answer.
                if attempt == 2:
                    raise
        parsed: dict[str, Any] = (
            json.loads(text) if text.startswith(b"{") else {"message": text.decode(errors="replace")}
        )
        if answer.status >= 400:
            raise ApiError(answer.status, method, path, str(parsed.get("message", "")))
        return parsed

    def _connect(self) -> http.client.HTTPSConnection:
        if self._connection is None:
            self._connection = self._open(_TIMEOUT_SECONDS)
        return self._connection

    def _open(self, timeout_seconds: float) -> http.client.HTTPSConnection:
        host, port = self._server.hostname or "", self._server.port or 443
        return http.client.HTTPSConnection(host, port, context=self._context, timeout=timeout_seconds)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

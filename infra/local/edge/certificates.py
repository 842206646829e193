"""Certificates for listeners, signed by the local edge CA: the local stand-in for ACM's."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from local.kubernetes.certificates import Leaf, ensure_leaf

NAME = "listener"


class EdgeAuthority:
    """Signs with `edge-ca.crt` and `edge-ca.key` of the local PKI."""

    def __init__(self, pki: Path) -> None:
        self._pki = pki

    def context(self, domains: tuple[str, ...], address: str) -> ssl.SSLContext:
        """A server context for these names, for `localhost` and 127.0.0.1 (the door), and for the listener's address."""
        names = tuple(dict.fromkeys((*domains, "localhost", "127.0.0.1", address)))
        # An X.509 common name has at most 64 characters; clients look at the alternative names only.
        leaf = Leaf(NAME, names[0][:64], authority="edge-ca", names=names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # `ssl` loads keys from files only; this one lives as long as the call.
        with tempfile.TemporaryDirectory() as folder:
            ensure_leaf(self._pki, leaf, Path(folder))
            context.load_cert_chain(f"{folder}/{NAME}.crt", f"{folder}/{NAME}.key")
        return context

"""Certificates for listeners, signed by the local edge CA: the local stand-in for ACM's."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

LIFETIME = timedelta(days=90)


class EdgeAuthority:
    """Signs leaf certificates with `edge-ca.crt` and `edge-ca.key` of the local PKI."""

    def __init__(self, pki: Path) -> None:
        self._certificate = x509.load_pem_x509_certificate((pki / "edge-ca.crt").read_bytes())
        key = serialization.load_pem_private_key((pki / "edge-ca.key").read_bytes(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("edge-ca.key: an elliptic-curve key is expected")
        self._key = key

    def context(self, domains: tuple[str, ...], address: str) -> ssl.SSLContext:
        """A server context for these names, for `localhost` and 127.0.0.1 (the door), and for the listener's address."""
        names = [*domains, "localhost"]
        addresses = {"127.0.0.1", address}
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in dict.fromkeys(names)]
        alternatives += [x509.IPAddress(ipaddress.ip_address(a)) for a in sorted(addresses)]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0][:64])]))
            .issuer_name(self._certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + LIFETIME)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # `ssl` loads keys from files only; this one lives as long as the call.
        with tempfile.NamedTemporaryFile() as chain:
            chain.write(certificate.public_bytes(serialization.Encoding.PEM))
            chain.write(
                key.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                )
            )
            chain.flush()
            context.load_cert_chain(chain.name)
        return context

"""The local cloud's certificate authorities and every certificate they sign.

`python -m local.kubernetes.certificates` makes for one region what is missing, expires soon or names other addresses, and leaves the
rest as it is, so that kubeconfigs that people hold stay valid. Elliptic keys: an RSA key takes a hundred times as long to make.
"""

from __future__ import annotations

import argparse
import base64
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import Final

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from local import limits
from local.paths import RegionPaths
from local.records import write_text

_AUTHORITY_LIFE: Final = timedelta(days=3650)
_LIFE: Final = timedelta(days=365)
_RENEW_BEFORE: Final = timedelta(days=30)
_SKEW: Final = timedelta(hours=1)
"""Certificates begin this long ago: clocks of virtual machines jump."""

AUTHORITIES: Final = ("ca", "front-proxy-ca", "edge-ca")
"""Of the cluster, of the API server's aggregation layer, of the load balancers' certificates."""


@dataclass(frozen=True)
class Leaf:
    """A certificate that an authority signs."""

    name: str
    """File name without `.crt` and `.key`."""
    common_name: str
    organization: str = ""
    """Kubernetes reads it as the user's group."""
    authority: str = "ca"
    names: tuple[str, ...] = ()
    """Alternative names: addresses or DNS names. Empty for a client."""


def leaves(address: IPv4Address) -> tuple[Leaf, ...]:
    """Every certificate of a control plane that the backbone reaches by `address`."""
    return (
        Leaf("apiserver", "kube-apiserver", names=api_server_names(address)),
        Leaf("apiserver-kubelet-client", "kube-apiserver-kubelet-client", "system:masters"),
        Leaf("front-proxy-client", "front-proxy-client", authority="front-proxy-ca"),
        Leaf("admin", "tandem-local-admin", "system:masters"),
        Leaf("controller-manager", "system:kube-controller-manager"),
        Leaf("scheduler", "system:kube-scheduler"),
        Leaf("proxy", "system:kube-proxy"),
        Leaf("coredns", "tandem:coredns"),
        Leaf("token-webhook", "token-webhook", names=("127.0.0.1",)),
    )


def api_server_names(address: IPv4Address) -> tuple[str, ...]:
    """Every name and address that somebody reaches the API server by: doors, the region, pods."""
    service = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "localhost",
    )
    return (*service, "127.0.0.1", str(address), str(limits.GATEWAY), str(limits.KUBERNETES_SERVICE))


def node_leaf(node: str, address: IPv4Address) -> Leaf:
    """The certificate of a kubelet: client of the API server (as the Node authorizer wants it) and server for it."""
    return Leaf("kubelet", f"system:node:{node}", "system:nodes", names=(node, str(address)))


def ensure_all(paths: RegionPaths, address: IPv4Address) -> None:
    """Make every authority, certificate and key that is not there or not good any more."""
    paths.pki.mkdir(parents=True, exist_ok=True)
    for name in AUTHORITIES:
        _ensure_authority(paths.pki, name)
    for leaf in leaves(address):
        ensure_leaf(paths.pki, leaf, paths.pki)
    _ensure_service_account_key(paths.pki)


def ensure_leaf(pki: Path, leaf: Leaf, folder: Path) -> None:
    """Make `leaf`'s certificate and key in `folder`, signed by an authority in `pki`, unless they are there and good."""
    issuer = x509.load_pem_x509_certificate((pki / f"{leaf.authority}.crt").read_bytes())
    certificate_file, key_file = folder / f"{leaf.name}.crt", folder / f"{leaf.name}.key"
    if key_file.exists() and _is_good(certificate_file, leaf, issuer):
        return
    signer = _load_key(pki / f"{leaf.authority}.key")
    key = ec.generate_private_key(ec.SECP256R1())
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if leaf.names else [])]
    builder = (
        _builder(_subject(leaf.common_name, leaf.organization), issuer.subject, key.public_key(), _LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()), critical=False)  # type: ignore[arg-type]
    )
    if leaf.names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_name(name) for name in leaf.names]), critical=False
        )
    write_text(key_file, _key_text(key))
    write_text(
        certificate_file, builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode(), 0o644
    )


def kubeconfig(pki: Path, server: str, certificate: Path, user: str) -> str:
    """A kubeconfig that holds all it needs, so that it can be copied anywhere. `certificate` is without its suffix."""

    def data(file: Path) -> str:
        return base64.b64encode(file.read_bytes()).decode()

    identity = {
        "client-certificate-data": data(certificate.with_name(certificate.name + ".crt")),
        "client-key-data": data(certificate.with_name(certificate.name + ".key")),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "tandem-local", "cluster": {"server": server, "certificate-authority-data": data(pki / "ca.crt")}}
        ],
        "users": [{"name": user, "user": identity}],
        "contexts": [{"name": "tandem-local", "context": {"cluster": "tandem-local", "user": user}}],
        "current-context": "tandem-local",
    }
    return str(yaml.safe_dump(config, sort_keys=False))


def write_kubeconfigs(paths: RegionPaths, door: int) -> None:
    """Write the kubeconfigs of the admin (outside and inside) and of the control plane's components."""
    inside = f"https://{limits.GATEWAY}:{limits.API_SERVER_PORT}"
    write_text(paths.kubeconfig, kubeconfig(paths.pki, f"https://127.0.0.1:{door}", paths.pki / "admin", "admin"))
    write_text(paths.kubeconfig_inside, kubeconfig(paths.pki, inside, paths.pki / "admin", "admin"))
    for name in ("controller-manager", "scheduler", "proxy", "coredns"):
        write_text(paths.kubernetes / f"{name}.kubeconfig", kubeconfig(paths.pki, inside, paths.pki / name, name))


def _ensure_authority(pki: Path, name: str) -> None:
    certificate_file, key_file = pki / f"{name}.crt", pki / f"{name}.key"
    if key_file.exists() and _lives_on(certificate_file):
        return
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(f"tandem local {name}")
    certificate = (
        _builder(subject, subject, key.public_key(), _AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_text(key_file, _key_text(key))
    write_text(certificate_file, certificate.public_bytes(serialization.Encoding.PEM).decode(), 0o644)


def _ensure_service_account_key(pki: Path) -> None:
    private, public = pki / "service-account.key", pki / "service-account.pub"
    if not private.exists():
        write_text(private, _key_text(ec.generate_private_key(ec.SECP256R1())))
    if not public.exists():
        encoded = (
            _load_key(private)
            .public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        write_text(public, encoded.decode(), 0o644)


def _is_good(file: Path, leaf: Leaf, issuer: x509.Certificate) -> bool:
    if not _lives_on(file):
        return False
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    try:
        certificate.verify_directly_issued_by(issuer)
    except Exception:  # noqa: BLE001 - the library names no common base; any failure means: make it anew
        return False
    if certificate.subject != _subject(leaf.common_name, leaf.organization):
        return False
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return not leaf.names
    return list(found) == [_name(name) for name in leaf.names]


def _lives_on(file: Path) -> bool:
    if not file.exists():
        return False
    return x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc - _RENEW_BEFORE > datetime.now(UTC)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, life: timedelta
) -> x509.CertificateBuilder:
    start = datetime.now(UTC) - _SKEW
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + life)
    )


def _subject(common_name: str, organization: str = "") -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    # An X.509 common name has at most 64 characters; names of nodes are shorter (ip-10-200-255-255.<region>.compute.internal).
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    # PKCS 8 is what the API server accepts for every use, token signing included.
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def _load_key(file: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(file.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{file}: not an elliptic curve key")
    return key


def main() -> int:
    """Make what is missing. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="local.kubernetes.certificates", description=__doc__)
    parser.add_argument(
        "--door", type=int, required=True, help="port on 127.0.0.1 of the host that leads to the API server"
    )
    parser.add_argument("--files", type=Path, required=True, help="folder of the region")
    parser.add_argument("--address", type=IPv4Address, required=True, help="the region's own on the backbone")
    options = parser.parse_args()
    paths = RegionPaths(options.files)
    ensure_all(paths, options.address)
    write_kubeconfigs(paths, options.door)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A certificate authority that lives as long as a test, and one server certificate of it."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Fixed dates: a test that moves the clock must not make a certificate invalid.
_FROM: Final = datetime(2020, 1, 1, tzinfo=UTC)
_UNTIL: Final = datetime(2099, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """authority_file: what a client has to trust, such as `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS`.
    names: the hosts and addresses that the server's certificate is for."""

    authority_file: Path
    certificate_file: Path
    key_file: Path
    names: tuple[str, ...]

    def client_context(self) -> ssl.SSLContext:
        """TLS that trusts this authority and nobody else."""
        return ssl.create_default_context(cafile=str(self.authority_file))


def make_authority(directory: Path, *, names: Sequence[str] = ("localhost", "127.0.0.1", "::1")) -> Authority:
    """A new authority with its files in `directory`, which must exist."""
    own_key = ec.generate_private_key(ec.SECP256R1())
    own_name = _name("Dovecote test authority")
    own = _builder(own_name, own_name, own_key, own_key, is_authority=True).sign(own_key, hashes.SHA256())
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_name(names[0]), own_name, key, own_key, is_authority=False)
    alternatives = x509.SubjectAlternativeName([_alternative(each) for each in names])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = builder.add_extension(alternatives, critical=False).add_extension(usage, critical=False)
    certificate = builder.sign(own_key, hashes.SHA256())
    made = Authority(
        authority_file=directory / "authority.pem",
        certificate_file=directory / "server.pem",
        key_file=directory / "server.key",
        names=tuple(names),
    )
    made.authority_file.write_bytes(own.public_bytes(serialization.Encoding.PEM))
    made.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key_file.touch(mode=0o600)
    made.key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.CertificateBuilder:
    """A certificate with all that a strict verifier wants, but for what it is used for."""
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(issuer_id, critical=False)
    )

"""A local certificate authority, and a certificate for 127.0.0.1 and localhost."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class LocalTls:
    """The server's certificate, and the CA file for clients."""

    server: ssl.SSLContext
    ca_file: Path


def local_tls(folder: Path) -> LocalTls:
    """Issue a server certificate and write the CA certificate to `folder`."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    return LocalTls(context, ca_file)

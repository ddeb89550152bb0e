"""One cluster's CA, which signs the server certificate and the local accounts' client certificates."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class ClusterAuthority:
    """One cluster's own certificate authority."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA(organization_name="cluster")
        self.ca_file = folder / "kube-ca.pem"
        self.ca_file.write_bytes(self.ca)

    @property
    def ca(self) -> bytes:
        """The CA certificate, as PEM."""
        return self._authority.cert_pem.bytes()

    def server_context(self) -> ssl.SSLContext:
        """The server's TLS context; client certificates are optional."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        self._authority.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def client(self, user: str, *groups: str) -> ClientCertificate:
        """Issue a client certificate: the common name is the user, the organization is the group."""
        issued = self._authority.issue_cert(
            common_name=user, organization_name=groups[0] if groups else "none", organization_unit_name="aksbot"
        )
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        return ClientCertificate(chain, issued.private_key_pem.bytes())

"""Reads a kubeconfig: the server, its certificate authority, and how to sign in."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ENTRA_SERVER = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""Every AKS cluster with Entra sign-in is this one application; a token for Azure itself is refused there."""
ENTRA_SCOPE = f"{ENTRA_SERVER}/.default"
LOOSENED = {
    "insecure-skip-tls-verify": "switches off the check of the server's certificate",
    "proxy-url": "names a proxy",
    "tls-server-name": "has the server's certificate checked for another name",
}
"""What Azure never puts into a kubeconfig, and whoever could would read along. A person's own file may hold it."""
OWN_FILE = "if that is meant, give aksbot a kubeconfig of your own for this cluster (AKSBOT_KUBECONFIG)"
LONGEST = 512_000
"""Bytes of a kubeconfig from Azure, which is of one cluster and has some ten thousand."""
_PLAIN = re.compile(r"[\w.:/\[\]~%+-]+", re.ASCII)
"""No user, query or fragment; and no space or backslash, which one library reads so and another otherwise."""


class BadKubeconfig(ValueError):
    """The kubeconfig cannot be used. The text says why without repeating its content."""


@dataclass(frozen=True, slots=True)
class KubeEndpoint:
    """One API server and one way to sign in: a certificate, a token, or Entra."""

    server: str
    authority: str | None = field(default=None, repr=False)
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    entra: bool = False
    server_name: str | None = None
    proxy: str | None = field(default=None, repr=False)
    unverified: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.server).hostname or self.server


def read_kubeconfig(text: bytes, *, from_azure: bool = False) -> Mapping[str, Any]:
    """Parse the YAML. Slow: keep it off the event loop. Errors do not repeat its lines, because they hold keys.

    A person's own file may hold hundreds of clusters; Azure's holds one.
    """
    import yaml

    from runbooks.yaml_text import ManyValues, NotPlain, PlainLoader, load_yaml

    if from_azure and len(text) > LONGEST:
        raise BadKubeconfig(f"it has more than {LONGEST} bytes")
    try:
        config = load_yaml(text.decode(), PlainLoader if from_azure else ManyValues)
    except NotPlain as refused:
        raise BadKubeconfig(refused.problem) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadKubeconfig("it is not YAML") from None
    if not isinstance(config, dict):
        raise BadKubeconfig("it is no kubeconfig")
    return config


def context_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get("name", "")) for row in _rows(config, "contexts"))


def endpoint_in(config: Mapping[str, Any], context: str | None = None, folder: Path | None = None) -> KubeEndpoint:
    """The server and credential of one context (the current one by default). Relative files start at `folder`.

    Without a folder the kubeconfig came from Azure, and may not weaken TLS or name files.
    """
    wanted = context or str(config.get("current-context") or "") or "".join(context_names(config)[:1])
    chosen = _named(config, "contexts", wanted, "context")
    cluster = _named(config, "clusters", str(chosen.get("cluster")), "cluster")
    user = _named(config, "users", str(chosen.get("user")), "user")
    if folder is None:
        _refuse_loosened(cluster)
    authority = _content(cluster, "certificate-authority", folder)
    sign_in = _sign_in(user, folder)
    return KubeEndpoint(
        _server(str(cluster.get("server") or "")),
        authority=authority.decode("ascii", errors="replace") if authority else None,
        certificate=sign_in.get("certificate"),
        token=sign_in.get("token", ""),
        entra=sign_in.get("entra", False),
        server_name=str(cluster["tls-server-name"]) if cluster.get("tls-server-name") else None,
        proxy=str(cluster["proxy-url"]) if cluster.get("proxy-url") else None,
        unverified=cluster.get("insecure-skip-tls-verify") is True,
    )


def _refuse_loosened(cluster: Mapping[str, Any]) -> None:
    for key, what in LOOSENED.items():
        if cluster.get(key):
            raise BadKubeconfig(f"it {what} ({key}); {OWN_FILE}")


def _server(server: str) -> str:
    """The server's URL, if requests may be sent below it."""
    try:
        parts = urlsplit(server)
        fine = parts.scheme == "https" and parts.hostname and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise BadKubeconfig("its server is no https address")
    if not _PLAIN.fullmatch(server):
        raise BadKubeconfig("its server is more than the address of a server")
    return server.rstrip("/")


def _sign_in(user: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    certificate, key = _content(user, "client-certificate", folder), _content(user, "client-key", folder)
    if certificate and key:
        return {"certificate": (certificate, key)}
    if user.get("token"):
        return {"token": str(user["token"])}
    if user.get("tokenFile"):
        return {"token": _file(str(user["tokenFile"]), folder).decode(errors="replace").strip()}
    if _is_entra(user):
        return {"entra": True}
    program = user.get("exec")
    if isinstance(program, dict):
        raise BadKubeconfig(
            f"it signs in by running {Path(str(program.get('command'))).name}, which aksbot does not do"
        )
    raise BadKubeconfig("its user has no certificate, no token and no Entra sign-in")


def _is_entra(user: Mapping[str, Any]) -> bool:
    program, provider = user.get("exec"), user.get("auth-provider")
    if isinstance(program, dict):
        return Path(str(program.get("command") or "")).stem.lower() == "kubelogin"
    return isinstance(provider, dict) and provider.get("name") == "azure"


def _rows(config: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    rows = config.get(kind)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _named(config: Mapping[str, Any], kind: str, name: str, inside: str) -> Mapping[str, Any]:
    for row in _rows(config, kind):
        if str(row.get("name")) == name and isinstance(row.get(inside), dict):
            found: Mapping[str, Any] = row[inside]
            return found
    raise BadKubeconfig(f"it has no {inside} {name!r}")


def _content(section: Mapping[str, Any], key: str, folder: Path | None) -> bytes | None:
    """`key-data` holds it in base64, `key` names a file."""
    if packed := section.get(f"{key}-data"):
        try:
            return base64.b64decode(str(packed), validate=True)
        except (binascii.Error, ValueError):
            raise BadKubeconfig(f"its {key}-data is not base64") from None
    return _file(str(section[key]), folder) if section.get(key) else None


def _file(name: str, folder: Path | None) -> bytes:
    if folder is None:
        raise BadKubeconfig("it names a file, and did not come from one")
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise BadKubeconfig(f"{name}: {error.strerror}") from None

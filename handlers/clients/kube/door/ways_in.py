"""Where the API server is and how to sign in: a kubeconfig context of that name, or Azure's user credential (AKS)."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handlers.clients.errors import ArmError, Garbled, Refused
from handlers.clients.kube.access import OF_AZURE, KubeAccess
from handlers.clients.kube.door.kubeconfig import (
    BadKubeconfig,
    KubeEndpoint,
    context_names,
    endpoint_in,
    read_kubeconfig,
)
from handlers.clients.kube.refusals import CREDENTIAL, explained
from handlers.model import Target

if TYPE_CHECKING:
    from handlers.clients.arm.reader import ArmReader


async def way_in(target: Target, arm: ArmReader, access: KubeAccess) -> KubeEndpoint:
    """The configured kubeconfig goes first; Azure is asked for AKS clusters alone. Failures are raised as ArmErrors."""
    file = access.kubeconfig
    found = await asyncio.to_thread(_from_file, file, target.name) if file else None
    if found is None and not target.id.is_a(OF_AZURE):
        raise Refused(CREDENTIAL, f"there is no context called {target.name} in AKSBOT_KUBECONFIG")
    return found or await _from_azure(target, arm)


async def has_context(target: Target, access: KubeAccess) -> bool:
    """Whether the configured kubeconfig has a context of the cluster's name."""
    file = access.kubeconfig
    return bool(file and (await asyncio.to_thread(_context_in, file, target.name))[1])


def _from_file(file: Path, cluster: str) -> KubeEndpoint | None:
    config, name = _context_in(file, cluster)
    try:
        return endpoint_in(config, name, file.parent) if name else None
    except BadKubeconfig as bad:
        raise _unusable(file, bad) from bad


def _context_in(file: Path, cluster: str) -> tuple[Mapping[str, Any], str]:
    """The kubeconfig, and its own spelling of the context of that name; empty if it has none."""
    try:
        config = read_kubeconfig(file.read_bytes())
    except (BadKubeconfig, OSError) as bad:
        raise _unusable(file, bad) from bad
    known = {name.lower(): name for name in context_names(config)}
    return config, known.get(cluster.lower(), "")


def _unusable(file: Path, bad: BadKubeconfig | OSError) -> Refused:
    why = bad.strerror if isinstance(bad, OSError) else bad
    return Refused(CREDENTIAL, f"the kubeconfig {file.name} (AKSBOT_KUBECONFIG) cannot be used: {why}")


async def _from_azure(target: Target, arm: ArmReader) -> KubeEndpoint:
    try:
        body = await arm.user_credential(target.id)
    except Garbled as garbled:
        # Text that cannot be parsed may still hold a key: repeat none of it.
        raise Garbled(CREDENTIAL, "Azure's answer could not be understood", status=garbled.status) from None
    except ArmError as error:
        raise explained(error) from error
    try:
        return await asyncio.to_thread(_of_azure, body)
    except BadKubeconfig as bad:
        raise Garbled(CREDENTIAL, f"Azure's kubeconfig for this cluster cannot be used: {bad}") from bad


def _of_azure(body: Any) -> KubeEndpoint:
    return endpoint_in(read_kubeconfig(_unpacked(body), from_azure=True))


def _unpacked(body: Any) -> bytes:
    rows = body.get("kubeconfigs") if isinstance(body, dict) else None
    first = rows[0] if isinstance(rows, list) and rows else None
    value = first.get("value") if isinstance(first, dict) else None
    try:
        return base64.b64decode(str(value or ""), validate=True) or b""
    except (binascii.Error, ValueError):
        raise BadKubeconfig("it is not base64") from None

"""Where the API server is and how to sign in: a kubeconfig context of that name, or Azure's user credential."""

from __future__ import annotations

import asyncio
import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handlers.clients.errors import ArmError, Garbled, Refused
from handlers.clients.kube.access import KubeAccess
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
    """The configured kubeconfig goes first. Failures are raised as an ArmError."""
    file = access.kubeconfig
    found = await asyncio.to_thread(_from_file, file, target.name) if file else None
    return found or await _from_azure(target, arm)


def _from_file(file: Path, cluster: str) -> KubeEndpoint | None:
    try:
        config = read_kubeconfig(file.read_bytes())
        known = {name.lower(): name for name in context_names(config)}
        name = known.get(cluster.lower())
        return endpoint_in(config, name, file.parent) if name else None
    except (BadKubeconfig, OSError) as bad:
        why = bad.strerror if isinstance(bad, OSError) else bad
        raise Refused(CREDENTIAL, f"the kubeconfig {file.name} (AKSBOT_KUBECONFIG) cannot be used: {why}") from bad


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

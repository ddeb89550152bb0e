"""Which identity the bot uses: read from the environment, never by probing (probing for a managed identity hangs for
seconds where there is none).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handlers.clients.access import AzureAccess

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from azure.core.credentials_async import AsyncTokenCredential

AZ_TIMEOUT_S = 10
_MANAGED = ("IDENTITY_ENDPOINT", "MSI_ENDPOINT", "IMDS_ENDPOINT", "AZURE_POD_IDENTITY_AUTHORITY_HOST")
_KINDS = {
    "prod": {"environmentcredential", "workloadidentitycredential", "managedidentitycredential"},
    "dev": {"azureclicredential"},
}


class NoCredential(Exception):
    """The environment configures no identity."""


def credential(access: AzureAccess, session: ClientSession) -> AsyncTokenCredential:
    """The first identity that the environment configures completely, in the order of azure-identity."""
    found = access.environment
    allowed = _allowed(found.get("AZURE_TOKEN_CREDENTIALS", ""))
    for kind, described, make in (
        ("environmentcredential", _has_secret(access), _secret),
        ("environmentcredential", _has_certificate(access), _certificate),
        ("workloadidentitycredential", _has_federated_token(access), _workload),
        ("managedidentitycredential", _is_managed(access), _managed),
        ("azureclicredential", _has_az(found), _az),
    ):
        if described and (not allowed or kind in allowed):
            return make(access, session)
    raise NoCredential(_what_is_missing(access))


def _allowed(wish: str) -> set[str]:
    wish = wish.strip().lower()
    return _KINDS.get(wish, {wish}) if wish else set()


def _has_secret(access: AzureAccess) -> bool:
    env = access.environment
    return bool(access.tenant_id and env.get("AZURE_CLIENT_ID") and env.get("AZURE_CLIENT_SECRET"))


def _has_certificate(access: AzureAccess) -> bool:
    env = access.environment
    return bool(access.tenant_id and env.get("AZURE_CLIENT_ID") and env.get("AZURE_CLIENT_CERTIFICATE_PATH"))


def _has_federated_token(access: AzureAccess) -> bool:
    env = access.environment
    return bool(access.tenant_id and env.get("AZURE_CLIENT_ID") and env.get("AZURE_FEDERATED_TOKEN_FILE"))


def _is_managed(access: AzureAccess) -> bool:
    env = access.environment
    asked_for = env.get("AZURE_TOKEN_CREDENTIALS", "").strip().lower() == "managedidentitycredential"
    # On a VM, a client id without a secret or certificate names a user-assigned identity.
    named = bool(env.get("AZURE_CLIENT_ID")) and not (env.get("AZURE_CLIENT_SECRET") or env.get("AZURE_TENANT_ID"))
    return asked_for or named or any(env.get(name) for name in _MANAGED)


def _has_az(env: Mapping[str, str]) -> bool:
    return shutil.which("az", path=env.get("PATH", "")) is not None


def _what_is_missing(access: AzureAccess) -> str:
    env = access.environment
    wanted = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
    missing = [name for name in wanted if not env.get(name)]
    if env.get("AZURE_TOKEN_CREDENTIALS"):
        return f"no credential found: AZURE_TOKEN_CREDENTIALS allows {env['AZURE_TOKEN_CREDENTIALS']} only"
    if len(missing) < len(wanted):
        return f"no credential found: {', '.join(missing)} not set"
    return "no credential found: no AZURE_CLIENT_SECRET, workload identity, managed identity or `az login`"


def _over(session: ClientSession) -> dict[str, Any]:
    from azure.core.pipeline.transport import AioHttpTransport

    # We pass our own session and its TLS context; azure-identity would build one for every token.
    wire = AioHttpTransport(session=session, session_owner=False, connection_timeout=5, read_timeout=15)
    return {"transport": wire, "retry_total": 1, "retry_backoff_factor": 0.2}


def _entra(access: AzureAccess, session: ClientSession) -> dict[str, Any]:
    return {
        **_over(session),
        "authority": access.authority_host,
        "disable_instance_discovery": not access.well_known,
    }


def _secret(access: AzureAccess, session: ClientSession) -> AsyncTokenCredential:
    from azure.identity.aio import ClientSecretCredential

    env = access.environment
    return ClientSecretCredential(
        access.tenant_id or "", env["AZURE_CLIENT_ID"], env["AZURE_CLIENT_SECRET"], **_entra(access, session)
    )


def _certificate(access: AzureAccess, session: ClientSession) -> AsyncTokenCredential:
    from azure.identity.aio import CertificateCredential

    env = access.environment
    return CertificateCredential(
        access.tenant_id or "",
        env["AZURE_CLIENT_ID"],
        env["AZURE_CLIENT_CERTIFICATE_PATH"],
        password=env.get("AZURE_CLIENT_CERTIFICATE_PASSWORD"),
        **_entra(access, session),
    )


def _workload(access: AzureAccess, session: ClientSession) -> AsyncTokenCredential:
    from azure.identity.aio import WorkloadIdentityCredential

    env = access.environment
    return WorkloadIdentityCredential(
        tenant_id=access.tenant_id,
        client_id=env["AZURE_CLIENT_ID"],
        token_file_path=env["AZURE_FEDERATED_TOKEN_FILE"],
        **_entra(access, session),
    )


def _managed(access: AzureAccess, session: ClientSession) -> AsyncTokenCredential:
    from azure.identity.aio import ManagedIdentityCredential

    return ManagedIdentityCredential(client_id=access.environment.get("AZURE_CLIENT_ID"), **_over(session))


def _az(access: AzureAccess, _: ClientSession) -> AsyncTokenCredential:
    from azure.identity.aio import AzureCliCredential

    return AzureCliCredential(tenant_id=access.tenant or "", process_timeout=AZ_TIMEOUT_S)

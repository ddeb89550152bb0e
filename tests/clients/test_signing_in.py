"""Which identity is used, and the error messages if there is none or Entra rejects it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.transport import Wire
from handlers.clients.credential import NoCredential, credential
from handlers.clients.errors import CredentialRefused, Unreachable
from handlers.model import Why
from tests.clients.azure import LocalAzure, says

GROUP = "/subscriptions/00000000-0000-0000-0000-0000000000a1/resourceGroups/rg-prod"
TENANT = "00000000-0000-0000-0000-00000000000f"
SECRET = {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": "bot", "AZURE_CLIENT_SECRET": "s3cr3t"}
TOKEN = {"token_type": "Bearer", "expires_in": 3599, "access_token": "local-token"}


def access_of(azure: LocalAzure, identity: dict[str, str], authority: str | None = None) -> AzureAccess:
    return AzureAccess(azure.url, authority or azure.url, azure.ca_file, identity=identity)


def entra_says(azure: LocalAzure, code: int, text: str, error: str = "invalid_client") -> None:
    said = {"error": error, "error_description": f"AADSTS{code}: {text} Trace ID: x", "error_codes": [code]}
    azure.reply(f"/{TENANT}/oauth2/v2.0/token", says(said, 401))


async def test_a_client_secret_signs_in_for_this_resource_manager(azure: LocalAzure) -> None:
    azure.reply(f"/{TENANT}/oauth2/v2.0/token", says(TOKEN))
    azure.reply(GROUP, says({"id": GROUP}))
    async with ArmReader(access_of(azure, SECRET), fresh_for_s=0) as arm:
        for _ in range(3):
            await arm.get(GROUP, "2024-03-01")
    assert azure.count(f"/{TENANT}/oauth2/v2.0/token") == 1
    form = parse_qs(azure.asked[0].body.decode())
    assert form["scope"] == [f"{azure.url}/.default"]
    assert azure.asked[1].headers["Authorization"] == "Bearer local-token"


async def test_ad_fs_is_a_tenant_of_its_own(azure: LocalAzure) -> None:
    azure.reply("/adfs/oauth2/v2.0/token", says(TOKEN))
    azure.reply(GROUP, says({"id": GROUP}))
    async with ArmReader(access_of(azure, SECRET, f"{azure.url}/adfs")) as arm:
        assert (await arm.get(GROUP, "2024-03-01")).body == {"id": GROUP}


async def test_a_workload_identity_signs_in_at_the_authority_that_is_set(azure: LocalAzure, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("federated")
    azure.reply(f"/{TENANT}/oauth2/v2.0/token", says(TOKEN))
    azure.reply(GROUP, says({"id": GROUP}))
    identity = {
        "AZURE_TENANT_ID": TENANT,
        "AZURE_CLIENT_ID": "bot",
        "AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "token"),
    }
    async with ArmReader(access_of(azure, identity)) as arm:
        await arm.get(GROUP, "2024-03-01")
    assert parse_qs(azure.asked[0].body.decode())["client_assertion"] == ["federated"]


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        (7000215, "Invalid client secret provided.", "the client secret is wrong (AADSTS7000215)"),
        (7000222, "The provided client secret keys are expired.", "the client secret has expired (AADSTS7000222)"),
        (700016, "Application was not found.", "Entra does not know this client id in this tenant (AADSTS700016)"),
        (90002, "Tenant not found.", "Entra does not know this tenant (AADSTS90002)"),
    ],
)
async def test_entras_refusal_is_told_in_plain_words(azure: LocalAzure, code: int, text: str, said: str) -> None:
    entra_says(azure, code, text)
    async with ArmReader(access_of(azure, SECRET)) as arm:
        with pytest.raises(CredentialRefused) as caught:
            await arm.get(GROUP, "2024-03-01")
    unavailable = caught.value.unavailable
    assert (unavailable.why, unavailable.detail) == (Why.DENIED, f"no token: {said}")
    assert "s3cr3t" not in str(caught.value)
    assert arm.calls.count == 0


async def test_a_wrong_secret_is_not_tried_once_for_each_call(azure: LocalAzure) -> None:
    entra_says(azure, 7000215, "Invalid client secret provided.")
    async with ArmReader(access_of(azure, SECRET)) as arm:
        for number in range(5):
            with pytest.raises(CredentialRefused):
                await arm.get(f"{GROUP}/{number}", "2024-03-01")
    assert azure.count(f"/{TENANT}/oauth2/v2.0/token") == 1


async def test_no_network_to_the_sign_in_service_says_so(azure: LocalAzure) -> None:
    async with ArmReader(access_of(azure, SECRET, "https://127.0.0.1:9")) as arm:
        with pytest.raises(Unreachable, match="the sign-in service cannot be reached"):
            await arm.get(GROUP, "2024-03-01")


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ({}, "no credential found: no AZURE_CLIENT_SECRET, workload identity, managed identity or `az login`"),
        (
            {"AZURE_CLIENT_ID": "bot", "AZURE_CLIENT_SECRET": "x"},
            "no credential found: AZURE_TENANT_ID not set",
        ),
        ({"AZURE_TENANT_ID": TENANT}, "no credential found: AZURE_CLIENT_ID, AZURE_CLIENT_SECRET not set"),
        (
            SECRET | {"AZURE_TOKEN_CREDENTIALS": "dev"},
            "no credential found: AZURE_TOKEN_CREDENTIALS allows dev only",
        ),
    ],
)
async def test_an_environment_without_identity_is_told_at_once(
    azure: LocalAzure, identity: dict[str, str], said: str
) -> None:
    started = time.monotonic()
    async with ArmReader(access_of(azure, identity)) as arm:
        with pytest.raises(CredentialRefused) as caught:
            await arm.get(GROUP, "2024-03-01")
    assert caught.value.detail.startswith(said)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("identity", "kind"),
    [
        (SECRET, "ClientSecretCredential"),
        ({"IDENTITY_ENDPOINT": "http://127.0.0.1:1", "IDENTITY_HEADER": "x"}, "ManagedIdentityCredential"),
        ({"AZURE_CLIENT_ID": "user-assigned"}, "ManagedIdentityCredential"),
        ({"AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential"}, "ManagedIdentityCredential"),
        (SECRET | {"AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"}, "ClientSecretCredential"),
    ],
)
async def test_the_environment_decides_who_the_bot_is(identity: dict[str, str], kind: str) -> None:
    wire = Wire()
    found = credential(AzureAccess(identity=identity), wire.session)
    assert type(found).__name__ == kind
    await found.close()
    await wire.close()


async def test_az_is_asked_where_it_is_installed(tmp_path: Path) -> None:
    az = tmp_path / "az"
    az.write_text("#!/bin/sh\n")
    az.chmod(0o755)
    wire = Wire()
    found = credential(AzureAccess(identity={"PATH": str(tmp_path)}), wire.session)
    assert type(found).__name__ == "AzureCliCredential"
    await found.close()
    with pytest.raises(NoCredential):
        credential(AzureAccess(identity={"PATH": "/nowhere"}), wire.session)
    await wire.close()


def test_an_access_never_shows_its_secrets() -> None:
    assert "s3cr3t" not in repr(AzureAccess(identity=SECRET))


def test_a_sovereign_cloud_has_its_own_scope_and_authority() -> None:
    china = AzureAccess("https://management.chinacloudapi.cn/", "https://login.chinacloudapi.cn")
    assert china.scope == "https://management.chinacloudapi.cn/.default"
    assert china.well_known
    stack = AzureAccess("https://management.local.azurestack.external", "https://adfs.local.azurestack.external/adfs")
    assert (stack.authority_host, stack.tenant_id) == ("https://adfs.local.azurestack.external", "adfs")
    assert not stack.well_known


def test_importing_the_clients_loads_neither_azure_nor_aiohttp() -> None:
    code = (
        "import sys, handlers.clients, handlers.clients.arm.reader, handlers.clients.arm.writer, handlers.fleet.names, "
        "handlers.clients.recording.case, handlers.clients.errors, handlers.clients.access, handlers.clients.redact; "
        "print([name for name in ('azure.core', 'azure.identity', 'aiohttp', 'yaml') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"

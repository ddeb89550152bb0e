"""Signing in: the token endpoints, the documents that clients find them by, and what ARM says to a bad token."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.identity.aio import ClientSecretCredential

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.conftest import Caller, Reply
from tests.sandbox.worlds import CLUSTER, READER, SUBSCRIPTION, TENANT, WRITER
from tests.sandbox_calls import trusting

FORM = {
    "grant_type": "client_credentials",
    "client_id": READER.client_id,
    "client_secret": READER.secret,
    "scope": "https://management.azure.com//.default",
}


async def sign_in(
    reader: Caller,
    path: str = f"/{TENANT}/oauth2/v2.0/token",
    changes: Mapping[str, str | None] | None = None,
    **more: str | None,
) -> Reply:
    changes = {**(changes or {}), **more}
    form = {name: value for name, value in {**FORM, **changes}.items() if value is not None}
    return await reader("POST", path, None, data=form, token=None)


@pytest.mark.parametrize(
    "path",
    [
        f"/{TENANT}/oauth2/v2.0/token",
        "/adfs/oauth2/token",
        "/adfs/oauth2/v2.0/token",
        "/organizations/oauth2/v2.0/token",
    ],
)
async def test_a_principal_with_the_right_secret_gets_a_token_that_works(reader: Caller, path: str) -> None:
    reply = await sign_in(reader, path)
    assert reply.status == 200
    assert reply.body["token_type"] == "Bearer"
    assert reply.body["expires_in"] == 3599
    read = await reader("GET", CLUSTER, "2026-08-01", token=reply.body["access_token"])
    assert read.status == 200


async def test_version_one_of_the_endpoint_takes_a_resource_and_answers_in_strings(reader: Caller) -> None:
    resource = "https://management.core.windows.net/"
    reply = await sign_in(reader, f"/{TENANT}/oauth2/token", scope=None, resource=resource)
    assert (reply.status, reply.body["expires_in"], reply.body["resource"]) == (200, "3599", resource)


@pytest.mark.parametrize(
    ("changes", "status", "error", "code"),
    [
        ({"client_secret": "guess"}, 401, "invalid_client", 7000215),
        ({"client_secret": None}, 401, "invalid_client", 7000216),
        ({"client_id": "00000000-0000-4000-8000-00000000dead"}, 400, "unauthorized_client", 700016),
        ({"grant_type": "password"}, 400, "unsupported_grant_type", 70003),
        ({"scope": "user.read"}, 400, "invalid_scope", 1002012),
        ({"scope": "no-such-resource/.default"}, 400, "invalid_resource", 500011),
    ],
)
async def test_a_bad_sign_in_is_refused_as_entra_words_it(
    reader: Caller, changes: dict[str, str | None], status: int, error: str, code: int
) -> None:
    reply = await sign_in(reader, changes=changes)
    assert (reply.status, reply.body["error"], reply.body["error_codes"]) == (status, error, [code])
    assert reply.body["error_description"].startswith(f"AADSTS{code}: ")
    assert READER.secret not in reply.text


async def test_an_unknown_tenant_is_refused(reader: Caller) -> None:
    reply = await sign_in(reader, "/contoso.invalid/oauth2/v2.0/token")
    assert reply.status == 400
    assert reply.body["error_description"].startswith("AADSTS90002: Tenant 'contoso.invalid' not found.")


@pytest.mark.parametrize(
    ("path", "token_path"),
    [
        (f"/{TENANT}/v2.0/.well-known/openid-configuration", f"/{TENANT}/oauth2/v2.0/token"),
        ("/adfs/.well-known/openid-configuration", "/adfs/oauth2/token"),
    ],
)
async def test_the_discovery_document_names_an_endpoint_that_answers(
    arm: ArmServer, reader: Caller, path: str, token_path: str
) -> None:
    document = await reader("GET", path, None, token=None)
    assert document.body["token_endpoint"] == arm.url + token_path
    assert (await sign_in(reader, token_path)).status == 200


async def test_instance_discovery_says_that_this_host_is_its_own_cloud(arm: ArmServer, reader: Caller) -> None:
    reply = await reader("GET", "/common/discovery/instance", None, token=None, authorization_endpoint="x")
    assert reply.body["tenant_discovery_endpoint"].startswith(arm.url)
    assert reply.body["metadata"][0]["aliases"] == [arm.url.removeprefix("https://")]


def credential(arm: ArmServer, secret: str, tenant: str = TENANT) -> ClientSecretCredential:
    return ClientSecretCredential(
        tenant,
        READER.client_id,
        secret,
        authority=arm.url,
        disable_instance_discovery=True,
        connection_verify=str(arm.ca_file),
    )


@pytest.mark.parametrize("tenant", [TENANT, "adfs"])
async def test_azure_identity_signs_in(arm: ArmServer, tenant: str) -> None:
    async with credential(arm, READER.secret, tenant) as signed_in:
        token = await signed_in.get_token(f"{arm.url}/.default")
    assert token.token.count(".") == 2
    assert token.expires_on > time.time()


async def test_azure_identity_reports_a_wrong_secret(arm: ArmServer) -> None:
    async with credential(arm, "guess") as wrong:
        with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
            await wrong.get_token(f"{arm.url}/.default")


async def test_without_a_token_arm_answers_401_and_names_the_tenant(reader: Caller) -> None:
    reply = await reader("GET", SUBSCRIPTION, token=None)
    assert (reply.status, reply.error["code"]) == (401, "AuthenticationFailed")
    assert f'authorization_uri="https://login.windows.net/{TENANT}"' in reply.headers["WWW-Authenticate"]
    assert reply.headers["x-ms-failure-cause"] == "gateway"


@pytest.mark.parametrize("sent", ["Bearer nonsense", "Bearer a.b.c", "Basic dXNlcjpwYXNz"])
async def test_a_token_that_is_none_is_refused(reader: Caller, sent: str) -> None:
    reply = await reader("GET", SUBSCRIPTION, headers={"Authorization": sent})
    assert (reply.status, reply.error["code"]) == (401, "InvalidAuthenticationToken")


async def test_a_token_for_another_audience_is_refused(reader: Caller) -> None:
    token = (await sign_in(reader, scope="https://graph.microsoft.com/.default")).body["access_token"]
    reply = await reader("GET", SUBSCRIPTION, token=token)
    assert (reply.status, reply.error["code"]) == (401, "InvalidAuthenticationTokenAudience")
    assert "'https://graph.microsoft.com'" in reply.error["message"]


async def test_a_token_that_was_changed_on_the_way_is_refused(arm: ArmServer, reader: Caller) -> None:
    head, _, seal = arm.token("reader").split(".")
    _, claims, _ = arm.token("writer").split(".")
    reply = await reader("GET", SUBSCRIPTION, token=f"{head}.{claims}.{seal}")
    assert reply.error["code"] == "InvalidAuthenticationToken"


async def test_a_token_ends_when_its_lifetime_does(world: World) -> None:
    async with ArmServer(world, token_lifetime_s=0) as arm, trusting(arm.ca_file) as session:
        reply = await Caller(session, arm, "reader").get(SUBSCRIPTION)
    assert (reply.status, reply.error["code"]) == (401, "ExpiredAuthenticationToken")
    assert "is earlier than current UTC time" in reply.headers["WWW-Authenticate"]


async def test_tokens_can_be_made_to_expire_while_their_owner_thinks_them_good(arm: ArmServer, reader: Caller) -> None:
    old = arm.token("writer")
    assert (await reader("GET", SUBSCRIPTION, token=old)).status == 200
    arm.expire_tokens()
    assert (await reader("GET", SUBSCRIPTION, token=old)).error["code"] == "ExpiredAuthenticationToken"
    assert (await reader.get(SUBSCRIPTION)).status == 200


def test_the_environment_of_a_principal_is_what_azure_identity_reads(arm: ArmServer) -> None:
    environment = arm.environment("writer")
    assert environment["AZURE_CLIENT_ID"] == WRITER.client_id
    assert environment["AKSBOT_AZURE_AUTHORITY"] == environment["AKSBOT_AZURE_RESOURCE_MANAGER"] == arm.url
    with pytest.raises(LookupError, match="no principal 'stranger'"):
        arm.environment("stranger")

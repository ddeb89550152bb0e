"""Authentication: certificates, tokens, anonymous."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from sandbox.arm.tokens import Tokens
from sandbox.kube.identity import SERVER_ID
from sandbox.kube.server import KubeServer
from sandbox.world import Principal, World
from tests.sandbox_calls import trusting
from tests.sandbox_kube.bodies import READER_RULES, READER_TOKEN, small_world
from tests.sandbox_kube.conftest import Caller, caller

PRINCIPAL = Principal("reader", "client-1", "object-1", "secret")
NODES = "/api/v1/nodes"
UNAUTHORIZED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "Unauthorized",
    "reason": "Unauthorized",
    "code": 401,
}


@pytest.fixture
def tokens() -> Tokens:
    return Tokens(World("tenant", principals=[PRINCIPAL]))


@pytest.fixture
async def entra(tokens: Tokens) -> AsyncIterator[KubeServer]:
    world = small_world()
    world.grant("object-1", READER_RULES)
    async with KubeServer(world, issuer=tokens) as kube:
        yield kube


async def asked(kube: KubeServer, token: str | None) -> tuple[int, str]:
    async with trusting(kube.ca_file) as session:
        reply = await Caller(session, kube.url, token).get(NODES)
        return reply.status, kube.log[-1].user


@pytest.mark.parametrize("path", ["/version", "/healthz", "/livez", "/readyz"])
async def test_anybody_may_ask_how_it_is(session: aiohttp.ClientSession, kube: KubeServer, path: str) -> None:
    assert (await caller(session, kube, None).get(path)).status == 200
    assert kube.log[-1].user == "system:anonymous"


@pytest.mark.parametrize("path", ["/api", "/api/v1/pods", "/apis", "/metrics", "/readyz/etcd"])
async def test_for_anything_else_one_has_to_be_somebody(
    session: aiohttp.ClientSession, kube: KubeServer, path: str
) -> None:
    reply = await caller(session, kube, None).get(path)
    assert (reply.status, reply.body) == (401, UNAUTHORIZED)


async def test_a_bad_token_is_401_even_where_none_is_needed(session: aiohttp.ClientSession, kube: KubeServer) -> None:
    assert (await caller(session, kube, "forged").get("/version")).body == UNAUTHORIZED


async def test_a_service_account_is_known_by_its_token(session: aiohttp.ClientSession, kube: KubeServer) -> None:
    assert (await caller(session, kube, READER_TOKEN).get(NODES)).status == 200
    assert kube.log[-1].user == "system:serviceaccount:kube-system:reader"


async def test_an_entra_token_for_the_clusters_application_is_taken(entra: KubeServer, tokens: Tokens) -> None:
    assert await asked(entra, tokens.issue(PRINCIPAL, SERVER_ID)) == (200, "object-1")


async def test_a_token_for_arm_is_refused(entra: KubeServer, tokens: Tokens) -> None:
    assert (await asked(entra, tokens.issue(PRINCIPAL, "https://management.azure.com/")))[0] == 401


async def test_an_expired_token_is_refused(entra: KubeServer, tokens: Tokens) -> None:
    token = tokens.issue(PRINCIPAL, SERVER_ID)
    tokens.expire_all()
    assert (await asked(entra, token))[0] == 401


async def test_a_cluster_without_entra_takes_no_entra_token(kube: KubeServer, tokens: Tokens) -> None:
    assert (await asked(kube, tokens.issue(PRINCIPAL, SERVER_ID)))[0] == 401


async def test_a_group_of_entra_counts(tokens: Tokens) -> None:
    world = small_world(entra_groups={"object-1": ("group-1",)})
    world.grant("group-1", READER_RULES, kind="Group")
    async with KubeServer(world, issuer=tokens) as kube:
        assert (await asked(kube, tokens.issue(PRINCIPAL, SERVER_ID)))[0] == 200


async def by_certificate(kube: KubeServer, folder: Path, user: str, *groups: str) -> tuple[int, str]:
    shown = kube.client_certificate(user, *groups)
    file = folder / "client.pem"
    file.write_bytes(shown.certificate + shown.key)
    async with trusting(kube.ca_file, shown=file) as session:
        reply = await Caller(session, kube.url, None).get(NODES)
        return reply.status, kube.log[-1].user


async def test_a_client_certificate_names_its_user_and_group(kube: KubeServer, tmp_path: Path) -> None:
    assert await by_certificate(kube, tmp_path, "masterclient", "system:masters") == (200, "masterclient")
    assert await by_certificate(kube, tmp_path, "somebody", "guests") == (403, "somebody")


async def test_another_clusters_certificate_does_not_open_the_door(kube: KubeServer, tmp_path: Path) -> None:
    async with KubeServer(small_world()) as other:
        shown = other.client_certificate("masterclient", "system:masters")
    file = tmp_path / "client.pem"
    file.write_bytes(shown.certificate + shown.key)
    async with trusting(kube.ca_file, shown=file) as session:
        with pytest.raises(aiohttp.ClientError):
            await Caller(session, kube.url, None).get(NODES)
    assert kube.log == []


async def test_nothing_secret_is_in_the_log(session: aiohttp.ClientSession, kube: KubeServer) -> None:
    await caller(session, kube, READER_TOKEN).get(NODES, limit=1)
    entry = kube.log[-1]
    assert READER_TOKEN not in repr(entry)
    assert (entry.route, entry.verb, entry.resource, entry.query) == ("/api/v1/nodes", "list", "nodes", "limit=1")
    assert entry.ended is not None
    assert not entry.is_write

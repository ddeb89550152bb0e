"""Writes inside a cluster are sent once and state their purpose; no other writes are possible."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    Garbled,
    NotARead,
    NotFound,
    Refused,
    Unreachable,
    WriteFateUnknown,
)
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.writer import KubeWriter
from handlers.clients.kube.writes import NotPartOfAFix
from handlers.model import Target
from tests.clients.azure import Handler, LocalAzure, half, hangs_up, raw, says
from tests.clients_kube.cluster import (
    CREDENTIAL,
    EntraCredential,
    LocalCluster,
    credential,
    entra_user,
    refuses,
    text,
)

BUDGET = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web"
POD = "/api/v1/namespaces/shop/pods/web-1"
PODS = "/api/v1/namespaces/shop/pods"
PATCH = {"metadata": {"resourceVersion": "7"}, "spec": {"maxUnavailable": 1}}
DELETE = {"kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": {"uid": "u-1"}}
MAKE = {"kind": "Pod", "metadata": {"name": "probe"}}

WRITES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "PATCH": ("merge_patch", BUDGET, PATCH),
    "DELETE": ("delete", POD, DELETE),
    "POST": ("post", PODS, MAKE),
}
WISHES = pytest.mark.parametrize("method", WRITES)


@pytest.fixture
async def writer(arm: ArmReader, target: Target) -> AsyncIterator[KubeWriter]:
    async with KubeWriter(target, arm, KubeAccess()) as kube:
        yield kube


async def write(writer: KubeWriter, method: str) -> Any:
    name, path, body = WRITES[method]
    return await getattr(writer, name)(path, body)


def writes(cluster: LocalCluster) -> list[str]:
    return [one.method for one in cluster.asked if one.method != "GET"]


@WISHES
async def test_a_write_carries_what_keeps_it_from_hitting_anything_else(
    cluster: LocalCluster, writer: KubeWriter, method: str
) -> None:
    _, path, body = WRITES[method]
    cluster.reply(path, says({"kind": "Done"}, 201 if method == "POST" else 200))
    assert await write(writer, method) == {"kind": "Done"}
    [asked] = cluster.asked
    assert (asked.method, asked.path, json.loads(asked.body)) == (method, path, body)
    [call] = writer.calls
    assert (call.method, call.path, call.status) == (method, path, 201 if method == "POST" else 200)
    assert call.request_id, "what the API server's audit log calls it"


async def test_a_patch_is_a_merge_patch(cluster: LocalCluster, writer: KubeWriter) -> None:
    kinds = []

    async def answer(request: web.Request) -> web.Response:
        kinds.append(request.headers["Content-Type"])
        return web.json_response({})

    cluster.reply(BUDGET, answer)
    await write(writer, "PATCH")
    assert kinds == ["application/merge-patch+json"]


@WISHES
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (hangs_up(), WriteFateUnknown),
        (half(), WriteFateUnknown),
        (raw(b'{"kind": '), WriteFateUnknown),
        (refuses(500, "InternalError", "etcdserver: request timed out"), WriteFateUnknown),
        (refuses(504, "Timeout", "request did not complete within the allotted timeout"), WriteFateUnknown),
        (refuses(409, "Conflict", "the object has been modified"), Refused),
        (refuses(403, "Forbidden", 'User "x" cannot patch resource "y" in API group "z"'), Denied),
        (refuses(401, "Unauthorized", "Unauthorized"), CredentialRefused),
        (refuses(404, "NotFound", "not found"), NotFound),
        (refuses(503, "ServiceUnavailable", "not ready"), ArmError),
    ],
)
async def test_a_write_is_sent_once_whatever_comes_back(
    cluster: LocalCluster, writer: KubeWriter, method: str, answer: Handler, error: type[Exception]
) -> None:
    cluster.reply(WRITES[method][1], answer)
    with pytest.raises(error) as caught:
        await write(writer, method)
    assert writes(cluster) == [method]
    if isinstance(caught.value, WriteFateUnknown):
        assert caught.value.request_id == next(iter(writer.calls)).request_id


@WISHES
async def test_a_connection_that_breaks_after_it_served_a_read_sends_no_write_twice(
    cluster: LocalCluster, writer: KubeWriter, method: str
) -> None:
    """The HTTP library repeats a PUT or DELETE on a connection that was kept open."""
    path = WRITES[method][1]
    cluster.reply(POD, says({"kind": "Pod"}), says({"kind": "Pod"}))
    await writer.get(POD)
    cluster.reply(path, hangs_up())
    with pytest.raises(WriteFateUnknown):
        await write(writer, method)
    assert writes(cluster) == [method]


@WISHES
async def test_a_redirect_takes_no_write_elsewhere(cluster: LocalCluster, writer: KubeWriter, method: str) -> None:
    async def elsewhere(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": f"{cluster.url}/elsewhere"})

    cluster.reply(WRITES[method][1], elsewhere)
    cluster.reply("/elsewhere", says({}))
    with pytest.raises(WriteFateUnknown):
        await write(writer, method)
    assert "/elsewhere" not in cluster.paths()


async def test_no_connection_means_that_nothing_was_sent(
    azure: LocalAzure, private: LocalCluster, writer: KubeWriter
) -> None:
    with pytest.raises(Unreachable):
        await write(writer, "DELETE")
    assert private.asked == []


async def test_a_credential_that_cannot_be_had_means_that_nothing_was_sent(
    azure: LocalAzure, cluster: LocalCluster, writer: KubeWriter
) -> None:
    azure.on[CREDENTIAL.lower()] = [says({"error": {"code": "AuthorizationFailed", "message": "no"}}, 403)]
    with pytest.raises(Denied):
        await write(writer, "DELETE")
    assert cluster.asked == []


async def test_a_write_that_is_cut_off_was_sent_once(cluster: LocalCluster, writer: KubeWriter) -> None:
    arrived, gate = asyncio.Event(), asyncio.Event()

    async def silent(_: web.Request) -> web.Response:
        arrived.set()
        await gate.wait()
        return web.json_response({})

    cluster.reply(POD, silent)
    writing = asyncio.create_task(write(writer, "DELETE"))
    await arrived.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    gate.set()
    assert writes(cluster) == ["DELETE"]


@pytest.mark.parametrize(
    ("name", "path", "body"),
    [
        ("delete", PODS, DELETE),
        ("delete", BUDGET, DELETE),
        ("delete", f"{POD}?gracePeriodSeconds=0", DELETE),
        ("delete", POD, {"kind": "DeleteOptions"}),
        ("delete", "/api/v1/nodes/node-1", DELETE),
        ("merge_patch", BUDGET, {"spec": {"maxUnavailable": 1}}),
        ("merge_patch", f"{BUDGET}/status", PATCH),
        ("merge_patch", POD, PATCH),
        ("post", PODS, {"metadata": {"generateName": "probe-"}}),
        ("post", f"{POD}/exec", MAKE),
        ("post", f"{POD}/eviction", MAKE),
        ("post", "/api/v1/namespaces/shop/secrets", MAKE),
        ("post", "/api/v1/namespaces/shop/../kube-system/pods", MAKE),
    ],
)
async def test_what_no_fix_consists_of_is_never_sent(
    cluster: LocalCluster, writer: KubeWriter, name: str, path: str, body: dict[str, Any]
) -> None:
    with pytest.raises(NotPartOfAFix):
        await getattr(writer, name)(path, body)
    assert cluster.asked == []


async def test_a_redacted_body_is_never_written(cluster: LocalCluster, writer: KubeWriter) -> None:
    with pytest.raises(ValueError, match="redacted"):
        await writer.merge_patch(BUDGET, {**PATCH, "spec": {"note": "[redacted:token]"}})
    assert cluster.asked == []


@pytest.mark.parametrize("path", ["/api/v1/namespaces/shop/secrets/key", f"{POD}/exec", f"{POD}/proxy"])
async def test_it_looks_into_no_secret_and_through_no_pod(cluster: LocalCluster, writer: KubeWriter, path: str) -> None:
    with pytest.raises(NotARead):
        await writer.get(path)
    assert cluster.asked == []


async def test_what_it_reads_is_raw_and_what_people_see_is_not(cluster: LocalCluster, writer: KubeWriter) -> None:
    secret = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLXRoYXQtaXMtbG9uZw"
    cluster.reply(POD, says({"metadata": {"annotations": {"token": secret}}}))
    cluster.reply(f"{POD}/log", text(f"Authorization: Bearer {secret}\n401\n"))
    assert (await writer.get(POD))["metadata"]["annotations"]["token"] == secret
    log = await writer.text(f"{POD}/log")
    assert secret not in log
    assert log.endswith("401\n")


async def test_a_read_that_is_no_json_says_so(cluster: LocalCluster, writer: KubeWriter) -> None:
    cluster.reply(POD, raw(b"<html>"))
    with pytest.raises(Garbled):
        await writer.get(POD)


async def test_an_outdated_token_is_renewed_for_a_read_and_never_for_a_write(
    azure: LocalAzure, cluster: LocalCluster, writer: KubeWriter, identity: EntraCredential
) -> None:
    azure.on[CREDENTIAL.lower()] = [credential(cluster.kubeconfig(entra_user()))]
    cluster.tokens = {"cluster-2"}
    cluster.reply(POD, says({"kind": "Pod"}))
    with pytest.raises(CredentialRefused):
        await write(writer, "DELETE")
    assert await writer.get(POD) == {"kind": "Pod"}
    assert [one.authorization for one in cluster.asked] == [f"Bearer cluster-{n}" for n in (1, 1, 2)]

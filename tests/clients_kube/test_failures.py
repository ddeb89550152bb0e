"""Errors if the API server rejects a request, does not respond or is unreachable; each is determined only once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    Garbled,
    NotFound,
    Refused,
    ServerFault,
    Throttled,
    Unreachable,
)
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.doors import KubeSessions
from handlers.clients.kube.reader import KubeReader
from handlers.engine.current import deadline
from handlers.model import Target, Why
from tests.clients.azure import LocalAzure, QuickClock, hangs_up, raw, says
from tests.clients_kube.cluster import CREDENTIAL, LocalCluster, credential, page, pod, refuses, status, text

NODES = "/api/v1/nodes"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
AZURE_SAYS = "User does not have access to the resource in Azure. Update role assignment to allow access."


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


async def _error(awaited: Awaitable[object]) -> ArmError:
    with pytest.raises(ArmError) as caught:
        await awaited
    return caught.value


@pytest.mark.parametrize(
    ("path", "message", "grant"),
    [
        (
            NODES,
            (
                'nodes is forbidden: User "0b1f6471-1bf0-4dda-aec3-cb9272f09590" cannot list resource "nodes" in API '
                f'group "" at the cluster scope: {AZURE_SAYS}'
            ),
            "list nodes (cluster scope)",
        ),
        (
            "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web",
            (
                'poddisruptionbudgets.policy "web" is forbidden: User "bot" cannot get resource "poddisruptionbudgets" '
                'in API group "policy" in the namespace "shop"'
            ),
            "get poddisruptionbudgets.policy (namespace shop)",
        ),
        ("/api/v1/namespaces/shop/pods/web/log", "access denied by a webhook", "get pods/log (namespace shop)"),
        (BUDGETS, "no", "list poddisruptionbudgets.policy (cluster scope)"),
        ("/readyz?verbose", 'forbidden: User "bot" cannot get path "/readyz"', "get /readyz"),
    ],
)
async def test_a_denied_read_names_the_permission(
    cluster: LocalCluster, kube: KubeReader, path: str, message: str, grant: str
) -> None:
    cluster.reply(path.partition("?")[0], refuses(403, "Forbidden", message))
    error = await _error(kube.get(path))
    assert type(error) is Denied
    assert error.unavailable.grant == grant
    assert error.unavailable.why is Why.DENIED
    assert error.detail.startswith("403 Forbidden: ")
    assert len(cluster.asked) == 1


async def test_a_refused_credential_is_asked_for_once_more_only_if_it_is_old(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader
) -> None:
    azure.on[CREDENTIAL.lower()] = [credential(cluster.kubeconfig({"token": "another"}))]
    error = await _error(kube.list(NODES, name_of))
    assert type(error) is CredentialRefused
    assert error.detail == "401 Unauthorized: Unauthorized"
    assert azure.count(CREDENTIAL) == 1
    assert len(cluster.asked) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "why", "detail"),
    [
        (refuses(404, "NotFound", 'pods "x" not found'), NotFound, Why.ABSENT, '404 NotFound: pods "x" not found'),
        (refuses(410, "Expired", "too old resource version"), NotFound, Why.ABSENT, "410 Expired: too old"),
        (refuses(400, "BadRequest", "unknown field"), Refused, Why.FAILED, "400 BadRequest: unknown field"),
        (refuses(429, "TooManyRequests", "slow down"), Throttled, Why.THROTTLED, "429 TooManyRequests: slow down"),
        (refuses(500, "InternalError", "etcd"), ServerFault, Why.FAILED, "500 InternalError: etcd"),
        (
            refuses(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
            ServerFault,
            Why.FAILED,
            "503 ServiceUnavailable",
        ),
        (text("upstream connect error", 502), ServerFault, Why.FAILED, "502: upstream connect error"),
        (
            raw(b"<html><body>Service Unavailable</body></html>", 503, "text/html"),
            ServerFault,
            Why.FAILED,
            "503: a web page, not an answer of the API server",
        ),
        (raw(b""), Garbled, Why.FAILED, "200, but the answer is empty"),
        (raw(b'{"items'), Garbled, Why.FAILED, "200, but what came is no JSON"),
        (hangs_up(), Garbled, Why.FAILED, "the answer broke off"),
    ],
)
async def test_each_refusal_is_called_by_its_name(
    cluster: LocalCluster, kube: KubeReader, answer: Any, kind: type[ArmError], why: Why, detail: str
) -> None:
    cluster.reply("/api/v1/namespaces/shop/pods/x", answer)
    error = await _error(kube.get("/api/v1/namespaces/shop/pods/x"))
    assert type(error) is kind
    assert error.unavailable.why is why
    assert error.unavailable.wanted == "pods/x in shop"
    assert error.detail.startswith(detail)


async def test_a_refusal_is_told_without_secrets(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(NODES, refuses(400, "BadRequest", "token=abcdefgh12345678 of jane.doe@contoso.com"))
    error = await _error(kube.get(NODES))
    assert "abcdefgh12345678" not in error.detail + str(error.answer)
    assert "jane.doe" not in error.detail + str(error.answer)


async def test_a_wait_is_as_long_as_the_server_asks(cluster: LocalCluster, kube: KubeReader, clock: QuickClock) -> None:
    busy = status(429, "TooManyRequests", "slow down", details={"retryAfterSeconds": 3})
    cluster.reply(NODES, says(busy, 429), says({"kind": "NodeList", "items": []}))
    await kube.get(NODES)
    assert clock.waits == [3.0]


async def test_a_wait_that_ends_after_the_deadline_is_not_begun(
    cluster: LocalCluster, kube: KubeReader, clock: QuickClock
) -> None:
    deadline.set(asyncio.get_running_loop().time() + 5)
    cluster.reply(NODES, refuses(429, "TooManyRequests", "slow down", retry_after="60"))
    assert type(await _error(kube.get(NODES))) is Throttled
    assert clock.waits == []


async def test_a_permission_is_not_asked_for_twice(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", refuses(500, "InternalError", "etcd"))
    assert type(await _error(kube.may("list", "nodes"))) is ServerFault
    assert len(cluster.asked) == 1


@contextmanager
def silence() -> Iterator[str]:
    """An address that accepts connections but never responds."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(1)
        yield f"https://127.0.0.1:{mute.getsockname()[1]}"


def closed() -> str:
    """An address on which nothing is listening any more."""
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        return f"https://127.0.0.1:{gone.getsockname()[1]}"


@pytest.fixture
def sent_to(azure: LocalAzure, cluster: LocalCluster) -> Callable[[str], None]:
    """Azure names another address as the cluster's."""

    def send(server: str) -> None:
        elsewhere = credential(cluster.kubeconfig({"token": "static-token"}, server=server))
        azure.on[CREDENTIAL.lower()] = [elsewhere]

    return send


async def test_no_such_host(kube: KubeReader, sent_to: Callable[[str], None]) -> None:
    sent_to("https://prod-weu-dns-1a2b3c4d.hcp.westeurope.invalid:443")
    error = await _error(kube.list(NODES, name_of))
    assert type(error) is Unreachable
    assert error.detail == "no such host: prod-weu-dns-1a2b3c4d.hcp.westeurope.invalid"
    assert error.unavailable.wanted == "the cluster's API server"
    assert (error.code, kube.reached) == ("dns", "")
    assert kube.trouble is not None
    assert kube.trouble.code == "dns"


async def test_connection_refused(kube: KubeReader, sent_to: Callable[[str], None]) -> None:
    sent_to(closed())
    error = await _error(kube.list(NODES, name_of))
    assert error.detail.startswith("connection refused: 127.0.0.1:")
    assert error.code == "refused"


async def test_no_answer_to_the_knock(
    arm: ArmReader, target: Target, sent_to: Callable[[str], None], clock: QuickClock
) -> None:
    with silence() as server:
        sent_to(server)
        async with KubeReader(target, arm, KubeAccess(connect_s=0.05), clock=clock) as kube:
            error = await _error(kube.list(NODES, name_of))
    assert error.detail == "no connection within 0.05 s: 127.0.0.1"
    assert error.code == "connect-timeout"


async def test_a_certificate_of_somebody_else(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader, sent_to: Callable[[str], None]
) -> None:
    sent_to(azure.url)
    error = await _error(kube.list(NODES, name_of))
    assert type(error) is Unreachable
    assert error.detail.startswith("TLS: ")
    assert error.code == "tls"


async def test_whoever_asks_later_is_told_at_once(
    azure: LocalAzure, kube: KubeReader, sent_to: Callable[[str], None], clock: QuickClock
) -> None:
    sent_to(closed())
    first = await _error(kube.list(NODES, name_of))
    others = [await _error(kube.list(path, name_of)) for path in ("/api/v1/pods", BUDGETS)]
    assert {one.unavailable for one in others} == {first.unavailable}
    assert {one.code for one in others} == {"refused"}
    assert azure.count(CREDENTIAL) == 1
    assert clock.waits == []


async def test_all_who_ask_at_once_are_told(kube: KubeReader, sent_to: Callable[[str], None]) -> None:
    sent_to(closed())
    errors = await asyncio.gather(*(_error(kube.list(path, name_of)) for path in (NODES, "/api/v1/pods", BUDGETS)))
    assert len({error.unavailable for error in errors}) == 1


async def test_a_missing_permission_on_the_credential_is_found_out_once(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader
) -> None:
    action = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"
    message = f"The client 'x' with object id 'y' does not have authorization to perform action '{action}' over scope"
    azure.on[CREDENTIAL.lower()] = [says({"error": {"code": "AuthorizationFailed", "message": message}}, 403)]
    for path in (NODES, BUDGETS):
        error = await _error(kube.list(path, name_of))
        assert type(error) is Denied
        assert error.unavailable.grant == action
    assert azure.count(CREDENTIAL) == 1
    assert cluster.asked == []


async def test_a_read_only_lock_is_named_as_what_it_is(azure: LocalAzure, kube: KubeReader) -> None:
    message = "The scope 'x' cannot perform write operation because following scope(s) are locked: 'y'."
    azure.reply(CREDENTIAL, says({"error": {"code": "ScopeLocked", "message": message}}, 409))
    error = await _error(kube.list(NODES, name_of))
    assert type(error) is Refused
    assert "a ReadOnly lock keeps Azure from handing out" in error.detail
    assert "AKSBOT_KUBECONFIG" in error.detail


@pytest.mark.parametrize(
    "body",
    [
        {"kubeconfigs": []},
        {"kubeconfigs": [{"name": "clusterUser", "value": "%%%"}]},
        {"kubeconfigs": [{"name": "clusterUser", "value": "c2VjcmV0OiBbaHVudGVyMg=="}]},
        {"kubeconfigs": [{"name": "clusterUser", "value": "YTogYg=="}]},
        [],
    ],
)
async def test_a_broken_credential_is_told_without_its_content(azure: LocalAzure, kube: KubeReader, body: Any) -> None:
    azure.reply(CREDENTIAL, says(body))
    error = await _error(kube.list(NODES, name_of))
    assert type(error) is Garbled
    assert "hunter2" not in str(error)
    assert "Azure's kubeconfig for this cluster cannot be used" in error.detail


async def test_a_credential_that_is_no_json_is_not_repeated(azure: LocalAzure, kube: KubeReader) -> None:
    azure.reply(CREDENTIAL, raw(b'{"kubeconfigs": [{"value": "aHVudGVyMg'))
    error = await _error(kube.list(NODES, name_of))
    assert error.detail == "Azure's answer could not be understood"


async def test_one_lost_connection_among_others_closes_no_road(
    arm: ArmReader, target: Target, cluster: LocalCluster, clock: QuickClock
) -> None:
    """The server goes away after it was reached, and comes back before the last try."""
    cluster.reply(NODES, page(pod("a"), kind="NodeList"))
    async with (
        KubeSessions(arm, KubeAccess()) as doors,
        KubeReader(target, arm, KubeAccess(), doors=doors, clock=clock) as kube,
    ):
        await kube.list(NODES, name_of)
        door = await doors.enter(target)
        there = door.entrance
        door.entrance = replace(there, server=closed())
        error = await _error(kube.list(NODES, name_of))
        assert type(error) is Unreachable
        assert len(clock.waits) == 3
        door.entrance = there
        assert (await kube.list(NODES, name_of)).items == ("a",)
        await doors.leave(target, door)

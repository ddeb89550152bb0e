"""Reading objects, texts and permissions over a real socket."""

from __future__ import annotations

import json

import pytest

from handlers.clients.errors import Garbled, NotARead
from handlers.clients.kube.reader import KubeReader
from handlers.engine.current import collecting
from tests.clients.azure import LocalAzure, says
from tests.clients_kube.cluster import CREDENTIAL, LocalCluster, page, pod, text


async def test_nothing_is_asked_before_the_first_call(azure: LocalAzure, kube: KubeReader) -> None:
    assert kube.reached == ""
    assert kube.trouble is None
    assert azure.asked == []


async def test_an_object_comes_without_secrets_with_its_source_and_time(
    cluster: LocalCluster, kube: KubeReader
) -> None:
    body = {"metadata": {"name": "web"}, "spec": {"env": [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}]}}
    cluster.reply("/api/v1/namespaces/shop/pods/web", says(body))
    answer = await kube.get("/api/v1/namespaces/shop/pods/web")
    assert answer.body["metadata"] == {"name": "web"}
    assert "hunter2" not in json.dumps(answer.body)
    assert answer.source == "kubectl get --raw '/api/v1/namespaces/shop/pods/web'"
    assert kube.reached == "directly"


async def test_the_credential_is_asked_for_once_however_many_read(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader
) -> None:
    cluster.reply("/api/v1/pods", page(pod("web")))
    cluster.reply("/version", says({"gitVersion": "v1.33.2"}))
    await kube.get("/version")
    await kube.list("/api/v1/pods", keep=lambda row: str(row["metadata"]["name"]))
    assert azure.count(CREDENTIAL) == 1
    assert azure.asked[0].raw_path.endswith("?api-version=2026-08-01")


async def test_calls_are_counted_with_the_evidence_they_are_for(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply("/api/v1/nodes", page(kind="NodeList"))
    collecting.set("Nodes")
    await kube.list("/api/v1/nodes", keep=lambda row: row["metadata"]["name"])
    (call,) = kube.calls
    assert (call.kind, call.method, call.path, call.status) == ("Nodes", "GET", "/api/v1/nodes", 200)


async def test_a_text_is_a_text_also_when_it_says_that_something_is_wrong(
    cluster: LocalCluster, kube: KubeReader
) -> None:
    cluster.reply("/readyz", text("[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n", 500))
    said = await kube.text("/readyz?verbose", also=(500,))
    assert "[-]etcd failed" in said
    assert cluster.asked[0].query == {"verbose": ""}


async def test_a_log_comes_without_secrets(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply("/api/v1/namespaces/shop/pods/web/log", text("connecting with password=hunter2hunter2 to db\n"))
    said = await kube.text("/api/v1/namespaces/shop/pods/web/log", {"tailLines": "20"})
    assert "hunter2" not in said
    assert "connecting with password=" in said
    assert cluster.asked[0].query == {"tailLines": "20"}


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_permission_is_asked_for_as_oneself(cluster: LocalCluster, kube: KubeReader, allowed: bool) -> None:
    review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    cluster.reply(review, says({"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}}, 201))
    assert await kube.may("get", "pods/log", namespace="shop") is allowed
    spec = json.loads(cluster.asked[0].body)["spec"]
    assert spec == {
        "resourceAttributes": {"verb": "get", "resource": "pods", "subresource": "log", "namespace": "shop"}
    }


async def test_a_review_without_a_verdict_is_no_verdict(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", says({"kind": "X", "status": {}}, 201))
    with pytest.raises(Garbled, match="no review"):
        await kube.may("list", "nodes")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/namespaces/shop/secrets/db",
        "/api/v1/namespaces/shop/pods/web/exec",
        "/api/v1/nodes/one/proxy",
        "/api/v1/namespaces/shop/pods/../secrets",
        "/api/v1/namespaces/shop/pods/%2e%2e/secrets",
    ],
)
async def test_what_is_no_read_is_never_sent(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader, path: str
) -> None:
    with pytest.raises(NotARead):
        await kube.get(path)
    assert azure.asked == []
    assert cluster.asked == []

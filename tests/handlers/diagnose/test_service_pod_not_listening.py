"""A service and its pods agree on the port, and nothing listens there: asked through the API server, where allowed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.clients.kube.access import KubeAccess
from handlers.model import Check, Finding, Outcome
from tests.checking import GRAPH
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import Unwell
from tests.handlers.diagnose.wire import asked_about, diagnosed

CODE = "service-pod-not-listening"
PROXY = "/api/v1/namespaces/shop/pods/cart-6f5d8c7b9-aaaa0:8080/proxy"
REFUSED = "error trying to reach service: dial tcp 10.244.0.9:8080: connect: connection refused"
LINE = "error: cannot reach cart: dial tcp cart:80: connect: connection refused"
SHOP = KubeAccess(pod_proxy=("shop",))


def status(message: str, code: int = 503, reason: str = "ServiceUnavailable") -> tuple[int, Body]:
    return code, {"kind": "Status", "status": "Failure", "message": message, "reason": reason, "code": code}


class Shop(Unwell):
    """Deployment/web crashes because service cart refuses it; the pod behind cart is Ready."""

    def __init__(self, line: str = LINE, proxy: tuple[int, Any] = (503, None), target: Any = 8080) -> None:
        super().__init__(env=[{"name": "CART_ADDR", "value": "cart:80"}])
        self.crashes().says(line)
        self.proxy = proxy if proxy[1] is not None else status(REFUSED)
        labels = {"app": "cart"}
        ports = [{"name": "http", "port": 80, "targetPort": target}]
        self.add("Service", "cart", spec={"selector": labels, "ports": ports, "clusterIP": "10.0.80.17"})
        box = {"name": "cart", "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]}
        spec = {"replicas": 1, "template": {"metadata": {"labels": labels}, "spec": {"containers": [box]}}}
        self.add("Deployment", "cart", spec=spec, status={"readyReplicas": 1, "replicas": 1})
        self.pod_of_cart = self.runs("cart-6f5d8c7b9-aaaa0", labels=labels, spec={"containers": [box]})
        ends = [
            {"addresses": ["10.244.0.9"], "conditions": {"ready": True}, "targetRef": {"name": "cart-6f5d8c7b9-aaaa0"}}
        ]
        self.add(
            "EndpointSlice",
            "cart-1",
            metadata={"labels": {"kubernetes.io/service-name": "cart"}},
            endpoints=ends,
            ports=[{"name": "http", "port": 8080}],
        )

    def inside(self, path: str) -> tuple[int, Any]:
        return self.proxy if path == PROXY else super().inside(path)


async def check(shop: Shop, access: KubeAccess = SHOP) -> Check:
    return await asked_about("", shop, only=CODE, access=access)


async def finding(shop: Shop) -> Finding:
    verdict = await check(shop)
    assert verdict.outcome is Outcome.FOUND, verdict.why
    return verdict.findings[0]


async def test_a_pod_that_refuses_the_connection_does_not_listen() -> None:
    found = await finding(Shop())
    assert found.subject == "shop/Service/cart"
    assert found.because == (
        "service cart sends port 80 to port 8080 of its Ready pods",
        "1 of 1 pod that was asked: refused",
        f"API server about cart-6f5d8c7b9-aaaa0: {REFUSED}",
        f"Deployment/web says: {LINE}",
    )
    assert "10.244.0.9:8080" in page("What it means", found)


async def test_it_is_the_root_of_what_its_callers_say() -> None:
    diagnosis = await diagnosed(Shop(), access=SHOP)
    roots = {one.finding.code for one in diagnosis.findings if one.root}
    assert roots == {CODE}
    assert "dependency-refused" in {one.finding.code for one in diagnosis.findings}


async def test_a_port_by_name_is_asked_by_its_number() -> None:
    assert (await finding(Shop(target="web"))).facts["port"] == 8080


@pytest.mark.parametrize("answer", [(200, "ok"), (404, "no such page"), (401, "who are you?"), (500, "bug")])
async def test_a_pod_that_answers_whatever_it_says_listens(answer: tuple[int, str]) -> None:
    assert (await check(Shop(proxy=answer))).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    "answer",
    [
        status("error trying to reach service: dial tcp 10.244.0.9:8080: i/o timeout"),
        status("error trying to reach service: No agent available"),
        status("error trying to reach service: dial tcp 127.0.0.1:8132: connect: connection refused"),
        status("error trying to reach service: dial tcp 10.244.0.8:8080: connect: connection refused"),
        status("the server is currently unable to handle the request"),
        (502, "dial tcp 10.244.0.9:8080: connect: connection refused"),
        (503, "upstream connect error"),
        status('pods "cart-6f5d8c7b9-aaaa0" not found', 404, "NotFound"),
    ],
    ids=["time-out", "no tunnel", "the tunnel", "another pod", "API server", "a proxy in the pod", "Envoy", "gone"],
)
async def test_whatever_else_is_answered_leaves_it_open(answer: tuple[int, Any]) -> None:
    assert (await check(Shop(proxy=answer))).outcome is Outcome.INCONCLUSIVE


async def test_an_older_api_server_says_it_in_plain_text() -> None:
    told = "Error: 'dial tcp 10.244.0.9:8080: connect: connection refused'\nTrying to reach: 'http://10.244.0.9:8080/'"
    assert (await finding(Shop(proxy=(503, told)))).subject == "shop/Service/cart"


async def test_without_the_role_the_permission_is_named() -> None:
    may_not = 'User "bot" cannot get resource "pods/proxy" in API group "" in the namespace "shop"'
    told = f'pods "cart:8080" is forbidden: {may_not}'
    verdict = await check(Shop(proxy=status(told, 403, "Forbidden")))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert {one.grant for one in verdict.unseen} == {"get pods/proxy (namespace shop)"}


@pytest.mark.parametrize("names", [(), ("orders",), ("other-cluster/shop",)])
async def test_where_the_settings_do_not_allow_it_nobody_asks_and_it_is_said_what_would_tell(
    names: tuple[str, ...],
) -> None:
    shop = Shop(proxy=(0, "nobody may ask"))
    verdict = await check(shop, KubeAccess(pod_proxy=names))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.why.endswith(f"this tells: kubectl get --raw '{PROXY}/'")


@pytest.mark.parametrize("names", [("shop",), ("sh*",), ("one/shop",), ("on*/*",)])
async def test_the_settings_name_namespaces_of_all_clusters_or_of_some(names: tuple[str, ...]) -> None:
    assert (await check(Shop(), KubeAccess(pod_proxy=names))).outcome is Outcome.FOUND


def unready(shop: Shop) -> None:
    shop.pod_of_cart["status"]["conditions"][0]["status"] = "False"


def elsewhere(shop: Shop) -> None:
    shop.pod_of_cart["spec"]["containers"][0]["ports"][0]["containerPort"] = 9090


@pytest.mark.parametrize("other", [unready, elsewhere], ids=["no pod is Ready", "another port"])
async def test_where_another_question_has_the_answer_no_pod_is_asked(other: Any) -> None:
    shop = Shop(proxy=(0, "nobody should ask"))
    other(shop)
    assert (await check(shop)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    "line", ["dial tcp cart:80: i/o timeout", "listening on :8080", "dial tcp db:5432: connect: connection refused"]
)
async def test_who_is_not_refused_by_the_service_raises_no_question(line: str) -> None:
    assert (await check(Shop(line=line, proxy=(0, "nobody should ask")))).outcome is Outcome.CLEAR


async def test_a_caller_that_is_well_by_now_raises_no_question() -> None:
    shop = Shop(proxy=(0, "nobody should ask"))
    pod = next(one for one in shop.objects if one["kind"] == "Pod" and one is not shop.pod_of_cart)
    running = {"running": {"startedAt": at(timedelta(minutes=20))}}
    pod["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    pod["status"]["containerStatuses"][0] |= {"state": running, "ready": True, "lastState": {}, "restartCount": 0}
    assert (await check(shop)).outcome is Outcome.CLEAR


def test_it_is_in_no_role_but_its_own() -> None:
    made = {collector.name: collector for collector in GRAPH.whole().wanted}
    assert made["PodPorts"].opt_in == ("get pods/proxy",)
    assert not [sight for collector in made.values() for sight in collector.sees if "proxy" in sight]

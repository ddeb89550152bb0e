"""Istio's virtual services and gateways that lead nowhere, and the symptom of those who call through them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import LOG, Unwell
from tests.handlers.diagnose.wire import asked, found

CODE = "gateway-misroute"
ROOT = "/apis/networking.istio.io/v1"
RUNNING = {"running": {"startedAt": at(timedelta(hours=9))}}
NO_ANSWER = "error: GET http://reviews:9080/reviews/7: unexpected status 503 Service Unavailable"


def shop(version: str = "v1", says: str = NO_ANSWER) -> Unwell:
    """Deployment/web calls service reviews; the namespace is looked at because a probe failed in it lately."""
    unwell = Unwell(env=[{"name": "REVIEWS_URL", "value": "http://reviews:9080"}]).stands(RUNNING, ready=True)
    unwell.objects[-1]["metadata"]["creationTimestamp"] = at(timedelta(days=3))
    unwell.warned("Pod", "web-old", "Unhealthy", "Readiness probe failed: refused", count=1).says(says)
    ports = [{"name": "http", "port": 9080, "targetPort": 9080}]
    unwell.add("Service", "reviews", spec={"ports": ports, "selector": {"app": "reviews"}})
    unwell.runs("reviews-6f5d8c7b9-aaaa0", labels={"app": "reviews"})
    ends = [{"addresses": ["10.244.0.7"], "conditions": {"ready": True}}]
    labels = {"kubernetes.io/service-name": "reviews"}
    unwell.add("EndpointSlice", "reviews-1", metadata={"labels": labels}, endpoints=ends, ports=[{"port": 9080}])
    unwell.serves("networking.istio.io", "v1", "v1beta1", "v1alpha3") if version == "v1" else unwell.serves(
        "networking.istio.io", version
    )
    return unwell


def routed(
    unwell: Unwell, *destinations: Body, root: str = ROOT, hosts: tuple[str, ...] = ("reviews",), **spec: Any
) -> Unwell:
    """VirtualService/reviews leads here."""
    route = [one if "destination" in one else {"destination": one} for one in destinations]
    http = [{"match": [{"uri": {"prefix": "/reviews"}}], "route": route}]
    metadata = {"name": "reviews", "namespace": "shop"}
    body = {"kind": "VirtualService", "metadata": metadata, "spec": {"hosts": list(hosts), "http": http, **spec}}
    unwell.more_inside |= {f"{root}/{kind}": [] for kind in ("gateways", "destinationrules", "serviceentries")}
    unwell.more_inside[f"{root}/virtualservices"] = [body]
    return unwell


def rule(unwell: Unwell, *subsets: str, host: str = "reviews") -> Unwell:
    metadata = {"name": "reviews", "namespace": "shop"}
    spec = {"host": host, "subsets": [{"name": name} for name in subsets]}
    unwell.more_inside[f"{ROOT}/destinationrules"] = [{"metadata": metadata, "spec": spec}]
    return unwell


REVIEWS: Body = {"host": "reviews", "port": {"number": 9080}}


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ({"host": "reviews-v3"}, "no service is called reviews-v3 in namespace shop"),
        ({"host": "reviews-v3.shop.svc.cluster.local"}, "no service is called reviews-v3 in namespace shop"),
        ({"host": "reviews", "port": {"number": 80}}, "service reviews has no port 80; it has 9080"),
        ({"host": "reviews", "subset": "v3"}, "no destination rule for reviews defines subset v3; there are v1, v2"),
    ],
)
async def test_a_route_that_leads_nowhere_is_found_where_a_caller_complains(to: Body, why: str) -> None:
    finding = await found(CODE, rule(routed(shop(), to), "v1", "v2"))
    assert (finding.subject, finding.severity) == ("shop/VirtualService/reviews", Severity.ERROR)
    assert finding.because[1:] == (why, f"Deployment/web calls it: {NO_ANSWER}")
    assert {"shop/Service/reviews", "shop/Deployment/web"} <= set(finding.affects)


@pytest.mark.parametrize(
    "to",
    [
        REVIEWS,
        {"host": "reviews.shop.svc.cluster.local"},
        {"host": "reviews", "subset": "v2"},
        {"host": "reviews.orders.svc.cluster.local"},
        {"host": "reviews.example.com"},
    ],
    ids=["its service", "whole name", "subset", "namespace that was not read", "outside"],
)
async def test_a_route_to_what_is_there_or_was_not_read_is_clear(to: Body) -> None:
    assert (await asked(CODE, rule(routed(shop(), to), "v1", "v2"))).outcome is Outcome.CLEAR


async def test_a_route_that_leads_nowhere_and_that_nobody_misses_is_no_problem() -> None:
    assert (await asked(CODE, routed(shop(says="ready"), {"host": "reviews-v3"}))).outcome is Outcome.CLEAR


async def test_a_release_that_is_prepared_and_gets_no_traffic_is_no_problem() -> None:
    prepared = {"destination": {"host": "reviews-v3"}, "weight": 0}
    assert (
        await asked(CODE, routed(shop(), {"destination": REVIEWS, "weight": 100}, prepared))
    ).outcome is Outcome.CLEAR
    half = {"destination": {"host": "reviews-v3"}, "weight": 50}
    assert await found(CODE, routed(shop(), {"destination": REVIEWS, "weight": 50}, half))


async def test_a_host_that_a_service_entry_adds_is_there() -> None:
    unwell = routed(shop(), {"host": "reviews-v3"})
    entry = {"metadata": {"name": "far", "namespace": "shop"}, "spec": {"hosts": ["reviews-v3.shop.svc.cluster.local"]}}
    unwell.more_inside[f"{ROOT}/serviceentries"] = [entry]
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


def public(unwell: Unwell, selector: Body, gateway: str = "public") -> Unwell:
    """The virtual service takes what comes in through this gateway; the add-on's gateway runs."""
    routed(unwell, REVIEWS, hosts=("shop.example.com",), gateways=[gateway])
    spec = {"selector": selector, "servers": []}
    unwell.more_inside[f"{ROOT}/gateways"] = [{"metadata": {"name": "public", "namespace": "shop"}, "spec": spec}]
    labels = {"istio": "aks-istio-ingressgateway-external"}
    unwell.runs("external-7d9c7b8f6-x2x4z", namespace="aks-istio-ingress", labels=labels)
    return unwell


async def test_a_gateway_without_pods_is_found_and_the_page_names_the_label_of_the_add_on() -> None:
    finding = await found(CODE, public(shop(says="ready"), {"istio": "ingressgateway"}))
    assert finding.severity is Severity.WARNING
    assert finding.because[1] == "Gateway shop/public selects pods with istio=ingressgateway, and there is none"
    assert "istio: aks-istio-ingressgateway-external" in page("Fix", finding)


async def test_a_gateway_that_does_not_exist_is_found() -> None:
    finding = await found(CODE, public(shop(says="ready"), {}, gateway="edge"))
    assert finding.because[1] == "there is no Gateway shop/edge"


async def test_a_gateway_whose_pods_run_is_clear() -> None:
    unwell = public(shop(says="ready"), {"istio": "aks-istio-ingressgateway-external"})
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_destination_behind_a_gateway_that_is_not_there_is_a_warning_as_with_an_ingress() -> None:
    unwell = public(shop(says="ready"), {"istio": "aks-istio-ingressgateway-external"})
    unwell.more_inside[f"{ROOT}/virtualservices"][0]["spec"]["http"][0]["route"] = [{"destination": {"host": "gone"}}]
    assert (await found(CODE, unwell)).severity is Severity.WARNING


async def test_an_older_istio_is_read_in_the_version_that_it_serves() -> None:
    root = "/apis/networking.istio.io/v1beta1"
    assert await found(CODE, routed(shop(version="v1beta1"), {"host": "reviews-v3"}, root=root))


@pytest.mark.parametrize(
    "denied", ["/virtualservices", "/gateways", "/destinationrules", "/serviceentries", "/apis$", LOG, "v1/pods$"]
)
async def test_what_of_istio_could_not_be_seen_leaves_the_question_open(denied: str) -> None:
    unwell = public(shop(), {"istio": "ingressgateway"})
    unwell.more_inside[f"{ROOT}/virtualservices"][0]["spec"] |= {"hosts": ["reviews"], "gateways": ["mesh", "public"]}
    unwell.denied = {denied}
    if denied == LOG:  # without pods of its gateway it is found, whoever complains
        assert (await found(CODE, unwell)).severity is Severity.WARNING
    else:
        assert (await asked(CODE, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_without_istio_nothing_of_it_is_asked() -> None:
    unwell = routed(shop(), {"host": "reviews-v3"})
    unwell.groups = []
    unwell.denied = {"networking.istio.io"}
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR

"""A service that is called and leads nowhere: its selector, its pods, or its port. Unused services are healthy."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, found

EMPTY, PORT = "service-no-endpoints", "service-port-mismatch"
ADDRESS = "10.0.80.17"


def shop(selector: Body | None = None, target: object = 8080, *, called: bool = True, **service: Any) -> Inside:
    """Deployment/cart listens on 8080 and runs; Deployment/web calls cart:80."""
    inside = Inside()
    inside.pool("apps", count=1)
    inside.room()
    deployment(inside, "cart", ports=[{"name": "http", "containerPort": 8080}])
    deployment(inside, "web", env=[{"name": "CART_ADDR", "value": "cart:80"}] if called else [])
    ports = service.pop("ports", [{"port": 80, "targetPort": target}])
    spec = {"selector": selector or {"app": "cart"}, "clusterIP": ADDRESS, "ports": ports, **service}
    inside.add("Service", "cart", spec=spec)
    return inside


def deployment(inside: Inside, name: str, replicas: int = 1, labels: Body | None = None, **container: Any) -> None:
    labels = labels or {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, **container}]}}
    status = {"replicas": replicas, "readyReplicas": replicas, "observedGeneration": 1}
    inside.add("Deployment", name, spec={"replicas": replicas, "template": template}, status=status)
    for number in range(replicas):
        inside.runs(f"{name}-6f5d8c7b9-aaaa{number}", labels=labels, spec={"containers": [{"name": name, **container}]})


def behind(inside: Inside, *addresses: str, ready: bool = True, port: int = 8080) -> Inside:
    endpoints = [{"addresses": [one], "conditions": {"ready": ready}} for one in addresses]
    labels = {"kubernetes.io/service-name": "cart"}
    inside.add("EndpointSlice", "cart-x7k2p", metadata={"labels": labels}, endpoints=endpoints, ports=[{"port": port}])
    return inside


def says(inside: Inside, line: str, of: str = "web") -> Inside:
    """The last line of a pod's log."""
    inside.logs[f"/api/v1/namespaces/shop/pods/{of}-6f5d8c7b9-aaaa0/log"] = line
    return inside


REFUSED = f'level=error msg="dial tcp {ADDRESS}:80: connect: connection refused"'


@pytest.mark.parametrize(
    ("selector", "patch", "difference"),
    [
        ({"app": "kart"}, {"app": "cart"}, "the selector wants app=kart; the pods of Deployment/cart have app=cart"),
        (
            {"app": "cart", "env": "prod"},
            {"env": None},
            "the selector wants env=prod; the pods of Deployment/cart have no",
        ),
        (
            {"name": "cart"},
            {"name": None, "app": "cart"},
            "selector wants name=cart; the pods of Deployment/cart have app=",
        ),
    ],
)
async def test_a_selector_that_matches_no_pod_is_shown_beside_the_nearest_labels(
    selector: Body, patch: Body, difference: str
) -> None:
    finding = await found(EMPTY, shop(selector))
    assert (finding.subject, finding.facts["cause"]) == ("shop/Service/cart", "selector")
    assert finding.facts["nearest"] == "Deployment/cart"
    assert json.loads(str(finding.facts["patch"])) == {"spec": {"selector": patch}}
    assert difference in finding.because[1]
    assert "shop/Deployment/web calls it" in finding.because
    assert finding.affects == ("shop/Deployment/web",)


async def test_with_the_right_selector_and_a_ready_pod_it_is_clear() -> None:
    assert (await asked(EMPTY, behind(shop(), "10.244.0.9"))).outcome is Outcome.CLEAR


async def test_a_service_that_nobody_calls_is_no_problem() -> None:
    assert (await asked(EMPTY, shop({"app": "kart"}, called=False))).outcome is Outcome.CLEAR


async def test_a_public_service_needs_no_caller_in_the_cluster() -> None:
    inside = shop({"app": "kart"}, called=False, type="LoadBalancer")
    assert (await found(EMPTY, inside)).facts["cause"] == "selector"


async def test_an_ingress_is_a_caller() -> None:
    inside = shop({"app": "kart"}, called=False)
    to = {"service": {"name": "cart", "port": {"number": 80}}}
    inside.add("Ingress", "front", spec={"rules": [{"host": "shop.example", "http": {"paths": [{"backend": to}]}}]})
    assert "shop/Ingress/front leads to it" in (await found(EMPTY, inside)).because


async def test_a_caller_that_complains_is_quoted() -> None:
    finding = await found(EMPTY, says(shop({"app": "kart"}), REFUSED))
    assert any("shop/Deployment/web says:" in line and "connection refused" in line for line in finding.because)


async def test_a_canary_that_is_not_there_is_how_people_want_it() -> None:
    """No workload has track=canary: the other says track=stable on purpose."""
    inside = Inside()
    inside.pool("apps", count=1)
    inside.room()
    deployment(inside, "cart", labels={"app": "cart", "track": "stable"})
    deployment(inside, "web", env=[{"name": "CANARY_URL", "value": "http://cart-canary:80"}])
    inside.add("Service", "cart-canary", spec={"selector": {"app": "cart", "track": "canary"}, "ports": [{"port": 80}]})
    assert (await asked(EMPTY, inside)).outcome is Outcome.CLEAR


async def test_a_workload_that_is_scaled_to_zero_is_another_question() -> None:
    inside = shop()
    for one in [*inside.objects]:
        if one["kind"] == "Pod" and one["metadata"]["name"].startswith("cart"):
            inside.objects.remove(one)
        if one["kind"] == "Deployment" and one["metadata"]["name"] == "cart":
            one["spec"]["replicas"] = 0
    assert (await asked(EMPTY, inside)).outcome is Outcome.CLEAR


def unready(inside: Inside, ago: timedelta = timedelta(minutes=30)) -> Inside:
    for one in inside.objects:
        if one["kind"] == "Pod" and one["metadata"]["name"].startswith("cart"):
            one["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": at(ago)}]
    return behind(inside, "10.244.0.9", ready=False)


async def test_pods_that_are_not_ready_are_told_and_not_the_selector() -> None:
    finding = await found(EMPTY, unready(shop()))
    assert (finding.facts["cause"], finding.facts["owner"]) == ("not-ready", "Deployment/cart")
    assert "matches 1 pod, and none is Ready" in finding.because[0]


async def test_pods_that_start_have_their_time() -> None:
    assert (await asked(EMPTY, unready(shop(), timedelta(seconds=40)))).outcome is Outcome.CLEAR


async def test_pods_on_a_node_that_is_lost_are_a_matter_of_that_node() -> None:
    inside = unready(shop())
    inside.not_ready("node-0")
    assert (await asked(EMPTY, inside)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(("lost", "outcome"), [("node-1", Outcome.CLEAR), ("node-2", Outcome.FOUND)])
async def test_pods_that_call_what_was_on_a_lost_node_are_a_matter_of_that_node(lost: str, outcome: Outcome) -> None:
    inside = unready(shop())
    for one in inside.objects:
        if one["kind"] == "Deployment" and one["metadata"]["name"] == "cart":
            box = one["spec"]["template"]["spec"]["containers"][0]
            box["env"] = [{"name": "DB_ADDR", "value": "db:5432"}]
    deployment(inside, "db")
    inside.objects[-1]["spec"]["nodeName"] = "node-1"
    inside.add("Service", "db", spec={"selector": {"app": "db"}, "ports": [{"port": 5432}], "clusterIP": "10.0.80.18"})
    labels = {"kubernetes.io/service-name": "db"}
    ends = [{"addresses": ["10.244.0.8"], "conditions": {"ready": True}}]
    inside.add("EndpointSlice", "db-1", metadata={"labels": labels}, endpoints=ends, ports=[{"port": 5432}])
    for name in ("node-1", "node-2"):
        inside.room(name)
    inside.not_ready(lost)
    assert (await asked(EMPTY, inside)).outcome is outcome


@pytest.mark.parametrize("path", ["/services", "/endpointslices", "/pods", "/deployments"])
async def test_what_may_not_be_seen_leaves_the_endpoints_open(path: str) -> None:
    inside = shop({"app": "kart"})
    inside.denied = {path}
    assert (await asked(EMPTY, inside)).outcome is Outcome.INCONCLUSIVE


async def test_a_named_port_that_no_container_has_is_found() -> None:
    finding = await found(PORT, shop(target="web"))
    assert (finding.subject, finding.severity) == ("shop/Service/cart", Severity.ERROR)
    assert (
        finding.because[0]
        == "Service shop/cart sends port 80 to a port named web (TCP), and no container has that name"
    )
    assert finding.because[1] == "the pods of Deployment/cart have http = 8080/TCP"
    change = {"op": "replace", "path": "/spec/ports/0/targetPort", "value": "http"}
    assert json.loads(str(finding.facts["patch"])) == [change]


async def test_a_named_port_that_leads_nowhere_leaves_no_endpoints_and_is_not_told_twice() -> None:
    assert (await asked(EMPTY, shop(target="web"))).outcome is Outcome.CLEAR


@pytest.mark.parametrize("target", ["http", 8080])
async def test_a_port_that_the_container_has_is_right(target: object) -> None:
    assert (await asked(PORT, behind(shop(target=target), "10.244.0.9"))).outcome is Outcome.CLEAR


async def test_a_name_counts_for_its_protocol_only() -> None:
    inside = shop(ports=[{"port": 80, "protocol": "UDP", "targetPort": "http"}])
    assert (await found(PORT, inside)).facts["target_port"] == "http"


async def test_a_number_that_no_container_declares_may_be_right_and_without_a_refusal_nothing_is_said() -> None:
    inside = unwell(behind(shop(target=9090), "10.244.0.9", port=9090))
    assert (await asked(PORT, inside)).outcome is Outcome.CLEAR


async def test_with_callers_that_are_refused_it_is_the_root() -> None:
    inside = says(unwell(behind(shop(target=9090), "10.244.0.9", port=9090)), REFUSED)
    finding = await found(PORT, inside)
    assert (finding.severity, finding.affects) == (Severity.ERROR, ("shop/Deployment/web",))
    assert finding.because[0] == "Service shop/cart sends port 80 to 9090, which no container declares"


async def test_with_callers_that_time_out_it_is_only_possible() -> None:
    inside = says(unwell(behind(shop(target=9090), "10.244.0.9", port=9090)), f"dial tcp {ADDRESS}:80: i/o timeout")
    finding = await found(PORT, inside)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())


async def test_a_container_that_declares_no_port_says_nothing() -> None:
    inside = says(unwell(behind(shop(target=9090), "10.244.0.9", port=9090)), REFUSED)
    for one in inside.objects:
        if one["kind"] == "Pod":
            one["spec"]["containers"][0].pop("ports", None)
    assert (await asked(PORT, inside)).outcome is Outcome.CLEAR


async def test_a_second_port_for_metrics_that_nobody_asks_for_is_no_problem() -> None:
    ports = [{"port": 80, "targetPort": "http"}, {"port": 9100, "targetPort": "metrics"}]
    assert (await asked(PORT, behind(unwell(shop(ports=ports)), "10.244.0.9"))).outcome is Outcome.CLEAR


async def test_it_is_no_problem_in_whatever_order_the_ports_stand() -> None:
    ports = [{"port": 9100, "targetPort": "metrics"}, {"port": 80, "targetPort": "http"}]
    assert (await asked(PORT, behind(unwell(shop(ports=ports)), "10.244.0.9"))).outcome is Outcome.CLEAR


async def test_the_port_of_several_that_callers_complain_of_is_the_one() -> None:
    ports = [{"port": 9100, "targetPort": 8080}, {"port": 80, "targetPort": "web"}]
    inside = says(behind(unwell(shop(ports=ports)), "10.244.0.9"), REFUSED)
    assert (await found(PORT, inside)).facts["target_port"] == "web"


@pytest.mark.parametrize("path", ["/services", "/namespaces/shop/pods"])
async def test_what_may_not_be_seen_leaves_the_port_open(path: str) -> None:
    inside = shop(target="web")
    inside.denied = {path}
    assert (await asked(PORT, inside)).outcome is Outcome.INCONCLUSIVE


def unwell(inside: Inside) -> Inside:
    """Something in the namespace is unwell, so that it is looked into: web is not Ready."""
    for one in inside.objects:
        if one["kind"] == "Pod" and one["metadata"]["name"].startswith("web"):
            since = at(timedelta(minutes=30))
            one["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]
            state = {"name": "web", "ready": False, "restartCount": 0, "state": {"running": {"startedAt": since}}}
            one["status"]["containerStatuses"] = [state]
    return inside


@pytest.mark.parametrize(
    ("code", "inside", "line"),
    [
        (
            EMPTY,
            shop({"app": "kart"}),
            """kubectl patch service cart --namespace shop --type merge --patch '{"spec":""",
        ),
        (EMPTY, unready(shop()), "kubectl logs cart-6f5d8c7b9-aaaa0 --namespace shop --tail 50"),
        (PORT, shop(target="web"), """kubectl patch service cart --namespace shop --type json --patch '[{"op":"""),
    ],
)
async def test_the_page_says_what_to_do_with_this_clusters_own_values(code: str, inside: Inside, line: str) -> None:
    finding = await found(code, inside)
    assert line in page("Fix", finding)
    assert "cart" in page("What it means", finding)


@pytest.mark.parametrize("path", ["/ingresses", "/log"])
async def test_who_calls_may_be_unseen_and_then_it_is_open_whether_an_empty_service_matters(path: str) -> None:
    inside = shop({"app": "kart"}, called=False)
    inside.denied = {path}
    assert (await asked(EMPTY, inside)).outcome is Outcome.INCONCLUSIVE
    inside = behind(unwell(shop(target=9090, called=False)), "10.244.0.9", port=9090)
    inside.denied = {path}
    assert (await asked(PORT, inside)).outcome is Outcome.INCONCLUSIVE

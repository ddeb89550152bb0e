"""`path`: the first thing between a pod and a service that stops the connection, or that nothing seen does."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from handlers.model import Check, Finding, Outcome
from tests.handlers.diagnose.bodies import Body
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked_about
from tests.handlers.network_policies.naive import passes
from tests.sample import dice

WEB, CART = "web-6f5d8c7b9-aaaa0", "cart-6f5d8c7b9-aaaa0"
ASKED = f"path shop/{WEB} shop/cart:80"
NODE, OTHER = "node-0", "node-1"
SYSTEM = {"kubernetes.io/metadata.name": "kube-system"}


def shop(*policies: Body, engine: str = "cilium") -> Inside:
    """Web and cart on two nodes, with everything in between as it should be."""
    inside = Inside()
    inside.cluster["networkProfile"] |= {"networkPolicy": engine, "dnsServiceIP": "10.0.0.10"}
    inside.pool("apps", count=2)
    for name in (NODE, OTHER):
        inside.room(name)
        labels = {"component": "kube-proxy", "tier": "node"}
        inside.runs(f"kube-proxy-{name}", name, "kube-system", labels=labels, spec={"hostNetwork": True})
    for name in ("shop", "kube-system", "data"):
        inside.add("Namespace", name, "", metadata={"labels": {"kubernetes.io/metadata.name": name}})
    dns = {"podIP": "10.244.0.53"}
    inside.runs("coredns-7d4f9b8c6-aaaa0", OTHER, "kube-system", labels={"k8s-app": "kube-dns"}, status=dns)
    inside.runs(WEB, NODE, labels={"app": "web"}, status={"podIP": "10.244.0.11"})
    ports = [{"name": "http", "containerPort": 8080}]
    spec = {"containers": [{"name": "cart", "ports": ports}]}
    inside.runs(CART, OTHER, labels={"app": "cart"}, spec=spec, status={"podIP": "10.244.0.12"})
    inside.add(
        "Service",
        "cart",
        spec={"selector": {"app": "cart"}, "clusterIP": "10.0.80.17", "ports": [{"port": 80, "targetPort": "http"}]},
    )
    inside.add(
        "EndpointSlice",
        "cart-x1",
        metadata={"labels": {"kubernetes.io/service-name": "cart"}},
        endpoints=[{"addresses": ["10.244.0.12"], "conditions": {"ready": True}}],
        ports=[{"port": 8080}],
    )
    inside.objects += policies
    return inside


def policy(name: str = "default-deny", namespace: str = "shop", **spec: Any) -> Body:
    return {
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSelector": {}, **spec},
    }


def of(inside: Inside, kind: str, name: str) -> Body:
    return next(one for one in inside.objects if one["kind"] == kind and one["metadata"]["name"] == name)


async def one(inside: Inside, words: str = ASKED) -> Finding:
    check = await asked_about(words, inside)
    assert check.outcome is Outcome.FOUND, check.why
    assert len(check.findings) == 1
    assert page("Fix", check.findings[0])
    assert page("What it means", check.findings[0])
    return check.findings[0]


async def answer(inside: Inside, words: str = ASKED) -> Check:
    return await asked_about(words, inside)


async def test_where_nothing_stops_it_every_step_is_named() -> None:
    check = await answer(shop())
    assert check.outcome is Outcome.CLEAR
    assert f"nothing seen stops shop/{WEB} from reaching shop/cart:80" in check.why
    for step in (
        "CoreDNS has 1 of 1 pods Ready",
        "service cart.shop has port 80/TCP",
        "1 ready endpoint",
        "kube-proxy",
    ):
        assert step in check.why
    assert "whether the program itself listens" in check.why


async def test_a_workload_stands_for_its_pods_and_a_port_for_its_number() -> None:
    inside = shop()
    of(inside, "Service", "cart")["spec"]["ports"][0]["name"] = "web"
    assert (await answer(inside, "path shop/web shop/cart:web")).outcome is Outcome.CLEAR


# -- what stops it, in the order of the way ----------------------------------------------------------------------------


async def test_without_coredns_no_name_is_resolved() -> None:
    inside = shop()
    of(inside, "Pod", "coredns-7d4f9b8c6-aaaa0")["status"]["conditions"][0]["status"] = "False"
    finding = await one(inside)
    assert (finding.code, finding.subject) == ("dns-broken", "kube-system/Deployment/coredns")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"dnsPolicy": "Default"}, "dnsPolicy Default, it asks the node's DNS servers"),
        ({"hostNetwork": True}, "dnsPolicy ClusterFirst, it asks the node's DNS servers"),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"]}}, "dnsPolicy None, it asks 1.1.1.1"),
    ],
)
async def test_a_pod_that_asks_other_servers_does_not_resolve_the_name(spec: Body, says: str) -> None:
    inside = shop()
    of(inside, "Pod", WEB)["spec"] |= spec
    finding = await one(inside)
    assert finding.code == "dns-broken"
    assert says in finding.because[0]


async def test_a_cache_on_the_node_may_know_the_name() -> None:
    inside = shop()
    of(inside, "Pod", WEB)["spec"] |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["169.254.20.10"]}}
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "169.254.20.10 may be a cache of the cluster's DNS" in check.why


async def test_the_clusters_own_dns_named_by_its_address_is_no_other_server() -> None:
    inside = shop()
    of(inside, "Pod", WEB)["spec"] |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10"]}}
    assert (await answer(inside)).outcome is Outcome.CLEAR


async def test_a_policy_that_keeps_names_from_being_resolved_comes_before_all_behind_it() -> None:
    inside = shop(policy(policyTypes=["Egress"]))
    inside.objects.remove(of(inside, "Service", "cart"))
    finding = await one(inside)
    assert finding.because[0] == f"shop/{WEB} cannot reach DNS (10.244.0.53:53/UDP)"


async def test_a_service_that_does_not_exist_is_named_with_the_nearest() -> None:
    finding = await one(shop(), f"path shop/{WEB} shop/carts:80")
    assert (finding.code, finding.subject) == ("service-address-wrong", "shop/Service/carts")
    assert finding.because == ("there is no service shop/carts", "nearest are cart")
    assert "set env" not in page("Fix", finding)


async def test_a_port_that_the_service_does_not_have_is_named_with_those_that_it_has() -> None:
    finding = await one(shop(), f"path shop/{WEB} shop/cart:8080")
    assert finding.because == ("service cart.shop has no port 8080; it has 80",)


async def test_a_selector_that_matches_no_pod_is_named_with_the_labels_that_come_nearest() -> None:
    inside = shop()
    of(inside, "Service", "cart")["spec"]["selector"] = {"app": "basket"}
    of(inside, "EndpointSlice", "cart-x1")["endpoints"] = []
    finding = await one(inside)
    assert finding.code == "service-no-endpoints"
    assert finding.because[1] == "the selector wants app=basket; the pods of Deployment/cart have app=cart"
    assert json.loads(finding.facts["patch"]) == {"spec": {"selector": {"app": "cart"}}}


async def test_a_pod_that_is_not_ready_is_no_endpoint() -> None:
    inside = shop()
    of(inside, "EndpointSlice", "cart-x1")["endpoints"][0]["conditions"]["ready"] = False
    of(inside, "Pod", CART)["status"]["conditions"][0]["status"] = "False"
    finding = await one(inside)
    assert (finding.code, finding.facts["cause"]) == ("service-no-endpoints", "not-ready")


async def test_a_port_name_that_no_container_has_leads_nowhere() -> None:
    inside = shop()
    of(inside, "Service", "cart")["spec"]["ports"][0]["targetPort"] = "https"
    of(inside, "EndpointSlice", "cart-x1")["ports"] = []
    finding = await one(inside)
    assert finding.code == "service-port-mismatch"
    assert "a port named https (TCP), and no container has that name" in finding.because[0]


async def test_a_service_in_the_other_protocol_is_possible() -> None:
    inside = shop(engine="none")
    of(inside, "Service", "cart")["spec"]["ports"][0] |= {"protocol": "UDP", "targetPort": 8080}
    finding = await one(inside)
    assert (finding.code, finding.severity.value) == ("service-protocol-mismatch", "warning")
    assert finding.because == ("service cart forwards port 80 as UDP", "its pods declare 8080 as TCP: Deployment/cart")


async def test_an_undeclared_number_is_only_possible_and_comes_last() -> None:
    inside = shop()
    of(inside, "Service", "cart")["spec"]["ports"][0]["targetPort"] = 9999
    finding = await one(inside)
    assert (finding.code, finding.severity.value) == ("service-port-mismatch", "warning")
    inside.objects.append(policy(policyTypes=["Ingress"]))
    assert (await one(inside)).code == "network-policy-blocking"


async def test_a_policy_at_the_other_end_is_named() -> None:
    finding = await one(shop(policy(policyTypes=["Ingress"])))
    assert finding.subject == "shop/NetworkPolicy/default-deny"
    assert finding.because[0] == f"shop/{WEB} cannot reach shop/cart:80 (10.244.0.12:8080/TCP)"
    assert not any("says:" in line for line in finding.because)


async def test_where_a_policy_of_ciliums_own_kind_may_let_it_through_none_is_blamed() -> None:
    inside = shop(policy(policyTypes=["Ingress"]))
    other = {"kind": "CiliumNetworkPolicy", "metadata": {"name": "from-web", "namespace": "shop"}}
    inside.more_inside["/apis/cilium.io/v2/ciliumnetworkpolicies"] = [other]
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "default-deny does not allow it, but what Calico and Cilium have themselves may" in check.why


async def test_where_nothing_enforces_policies_none_stops_it() -> None:
    assert (await answer(shop(policy(policyTypes=["Ingress"]), engine="none"))).outcome is Outcome.CLEAR


async def test_a_policy_that_lets_some_of_the_pods_answer_is_a_warning() -> None:
    inside = shop(policy(podSelector={"matchLabels": {"ring": "1"}}, policyTypes=["Ingress"]))
    labels = {"app": "cart", "ring": "1"}
    spec = {"containers": [{"name": "cart", "ports": [{"name": "http", "containerPort": 8080}]}]}
    inside.runs("cart-6f5d8c7b9-bbbb1", OTHER, labels=labels, spec=spec, status={"podIP": "10.244.0.14"})
    ends = of(inside, "EndpointSlice", "cart-x1")["endpoints"]
    ends.append({"addresses": ["10.244.0.14"], "conditions": {"ready": True}})
    finding = await one(inside)
    assert finding.severity.value == "warning"
    assert "1 of 2 pods behind the service" in finding.because[-1]


async def test_kube_proxy_on_the_callers_node_forwards_and_on_another_does_not_matter() -> None:
    inside = shop()
    of(inside, "Pod", f"kube-proxy-{OTHER}")["status"]["conditions"][0]["status"] = "False"
    assert (await answer(inside)).outcome is Outcome.CLEAR
    of(inside, "Pod", f"kube-proxy-{NODE}")["status"]["conditions"][0]["status"] = "False"
    finding = await one(inside)
    assert (finding.code, finding.subject) == ("kube-proxy-broken", f"Node/{NODE}")


async def test_ciliums_agents_do_without_kube_proxy() -> None:
    inside = shop()
    inside.cluster["networkProfile"]["networkDataplane"] = "cilium"
    inside.objects.remove(of(inside, "Pod", f"kube-proxy-{NODE}"))
    assert (await answer(inside)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({"kubernetes.io/os": "windows"}, "it runs Windows, where kube-proxy is a service and not a pod"),
        ({"kubernetes.io/os": "linux", "type": "virtual-kubelet"}, "it is a virtual node, which has no kube-proxy"),
    ],
    ids=["windows", "virtual"],
)
async def test_a_node_whose_kube_proxy_is_no_pod_is_not_called_broken(labels: Body, says: str) -> None:
    inside = shop()
    inside.nodes[NODE]["metadata"]["labels"] |= labels
    inside.objects.remove(of(inside, "Pod", f"kube-proxy-{NODE}"))
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"what forwards on {NODE}: absent, not visible here: {says}" in check.why


async def test_a_linux_node_without_its_kube_proxy_is_named() -> None:
    inside = shop()
    inside.nodes[NODE]["metadata"]["labels"]["kubernetes.io/os"] = "linux"
    inside.objects.remove(of(inside, "Pod", f"kube-proxy-{NODE}"))
    finding = await one(inside)
    assert (finding.code, finding.facts["cause"]) == ("kube-proxy-broken", "missing")


async def test_without_the_nodes_a_missing_kube_proxy_proves_nothing() -> None:
    inside = shop()
    inside.objects.remove(of(inside, "Pod", f"kube-proxy-{NODE}"))
    inside.denied = {"/api/v1/nodes"}
    assert (await answer(inside)).outcome is Outcome.INCONCLUSIVE


async def test_a_cluster_whose_kube_proxy_is_switched_off_is_not_called_broken() -> None:
    inside = without_kube_proxy(kubeProxyConfig={"enabled": False})
    check = await answer(inside)
    assert check.outcome is Outcome.CLEAR
    assert "kubeProxyConfig turns kube-proxy off in this cluster" in check.why


async def test_a_network_plugin_of_ones_own_may_do_the_work_of_kube_proxy() -> None:
    check = await answer(without_kube_proxy(networkPlugin="none"))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "a network plugin of its own, which may do what kube-proxy does" in check.why


def without_kube_proxy(**network: Any) -> Inside:
    inside = shop()
    inside.cluster["networkProfile"] |= network
    for name in (NODE, OTHER):
        inside.objects.remove(of(inside, "Pod", f"kube-proxy-{name}"))
    return inside


async def test_a_node_without_a_network_is_named() -> None:
    inside = shop()
    missing = {"type": "NetworkUnavailable", "status": "True", "reason": "NoRouteCreated", "message": "no route"}
    inside.nodes[NODE]["status"]["conditions"].append(missing)
    finding = await one(inside)
    assert (finding.code, finding.subject) == ("cni-or-route-broken", f"Node/{NODE}")
    assert "NoRouteCreated" in finding.because[0]


# -- what nobody can say -----------------------------------------------------------------------------------------------


async def test_a_pod_that_does_not_exist_is_answered_with_the_nearest() -> None:
    check = await answer(shop(), "path shop/web-6f5d8c7b9-aaaa1 shop/cart:80")
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"no pod of shop is called web-6f5d8c7b9-aaaa1; nearest are {WEB}" in check.why


async def test_a_namespace_that_does_not_exist_is_answered_with_the_nearest() -> None:
    check = await answer(shop(), f"path shop/{WEB} shopp/cart:80")
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "there is no namespace shopp; nearest are shop" in check.why


async def test_a_pod_that_waits_for_a_node_calls_nobody() -> None:
    inside = shop()
    inside.waits("late-6f5d8c7b9-aaaa0")
    check = await answer(inside, "path shop/late-6f5d8c7b9-aaaa0 shop/cart:80")
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "it is Pending and has no address" in check.why


async def test_a_service_outside_of_the_cluster_is_not_followed() -> None:
    inside = shop()
    of(inside, "Service", "cart")["spec"] |= {"type": "ExternalName", "externalName": "cart.example.com"}
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "cart.example.com" in check.why


@pytest.mark.parametrize(
    "denied",
    [
        "/api/v1/namespaces/shop/pods",
        "/api/v1/namespaces/shop/services",
        "/endpointslices",
        "/networkpolicies",
        "/api/v1/namespaces",
        "/api/v1/namespaces/kube-system/pods",
        "/api/v1/nodes",
    ],
)
async def test_what_is_denied_leaves_it_open(denied: str) -> None:
    inside = shop()
    inside.denied = {denied}
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE, check.why
    assert check.unseen


async def test_policies_of_another_kind_leave_it_open() -> None:
    inside = shop()
    listed = [{"kind": "CiliumNetworkPolicy", "metadata": {"name": "strict", "namespace": "shop"}}]
    inside.more_inside["/apis/cilium.io/v2/ciliumnetworkpolicies"] = listed
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "CiliumNetworkPolicy shop/strict" in check.why


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/apis/crd.projectcalico.org/v1/globalnetworkpolicies", "GlobalNetworkPolicy"),
        ("/apis/cilium.io/v2/ciliumnetworkpolicies", "CiliumNetworkPolicy"),
    ],
)
async def test_a_network_plugin_of_ones_own_may_have_policies_of_any_kind(path: str, kind: str) -> None:
    inside = shop(engine="none")
    inside.cluster["networkProfile"]["networkPlugin"] = "none"
    assert (await answer(inside)).outcome is Outcome.CLEAR
    inside.more_inside[path] = [{"kind": kind, "metadata": {"name": "strict"}}]
    check = await answer(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"{kind} strict" in check.why


async def test_kinds_of_policies_that_may_not_be_listed_leave_it_open() -> None:
    inside = shop(engine="none")
    inside.cluster["networkProfile"]["networkPlugin"] = "none"
    inside.denied = {"/apis/cilium.io/"}
    assert (await answer(inside)).outcome is Outcome.INCONCLUSIVE


async def test_what_could_not_be_seen_does_not_hide_what_stops_it_further_on() -> None:
    inside = shop()
    inside.denied = {"/networkpolicies"}
    of(inside, "EndpointSlice", "cart-x1")["endpoints"] = []
    of(inside, "Pod", CART)["status"]["conditions"][0]["status"] = "False"
    check = await answer(inside)
    assert [finding.code for finding in check.findings] == ["service-no-endpoints"]


# -- the same answer as the evaluator of network policies --------------------------------------------------------------

PAIRS = 60
LABELS, VALUES = ("app", "tier"), ("web", "cart", "front", "back")


def end(name: str, labels: dict[str, str], ip: str, node: str, ports: dict[tuple[str, str], int]) -> Body:
    space = {"kubernetes.io/metadata.name": "shop"}
    return {"name": name, "ns": "shop", "ip": ip, "node": node, "labels": labels, "ns_labels": space, "ports": ports}


def some_selector(draw: random.Random) -> Body:
    return {"matchLabels": {key: draw.choice(VALUES) for key in LABELS if draw.random() < 0.4}}


def some_peer(draw: random.Random) -> Body:
    if draw.random() < 0.25:
        return {"ipBlock": {"cidr": draw.choice(["10.244.0.0/16", "10.244.0.12/32", "203.0.113.0/24"])}}
    where = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": draw.choice(["shop", "data"])}}}
    return {"podSelector": some_selector(draw)} | (where if draw.random() < 0.5 else {})


def some_policy(draw: random.Random, number: int) -> Body:
    rules = {}
    for kind, side in (("ingress", "from"), ("egress", "to")):
        if draw.random() < 0.6:
            ports = [{"port": draw.choice([80, 8080, "http"]), "protocol": draw.choice(["TCP", "TCP", "UDP"])}]
            row = {side: [some_peer(draw)]} | ({"ports": ports} if draw.random() < 0.5 else {})
            rules[kind] = [row] if draw.random() < 0.8 else []
    kinds = [kind for kind in ("Ingress", "Egress") if draw.random() < 0.5]
    return policy(f"p{number}", podSelector=some_selector(draw), **rules, **({"policyTypes": kinds} if kinds else {}))


async def test_over_sixty_pairs_it_agrees_with_the_naive_evaluator_of_policies() -> None:
    seen = set()
    dns = policy("dns", egress=[{"to": [{"namespaceSelector": {"matchLabels": SYSTEM}}]}], policyTypes=["Egress"])
    for number in range(PAIRS):
        draw = dice(f"path {number}")
        policies = [some_policy(draw, index) for index in range(draw.randint(1, 3))]
        rules = [*policies, dns] if draw.random() < 0.5 else policies
        web = {"app": "web", "tier": draw.choice(VALUES)}
        cart = {"app": "cart", "tier": draw.choice(VALUES)}
        cilium = draw.random() < 0.5
        inside = shop(*rules, engine="cilium" if cilium else "calico")
        of(inside, "Pod", WEB)["metadata"]["labels"] = web
        of(inside, "Pod", CART)["metadata"]["labels"] = cart
        source = end(WEB, web, "10.244.0.11", NODE, {})
        target = end(CART, cart, "10.244.0.12", OTHER, {("http", "TCP"): 8080})
        resolver = end("coredns", {"k8s-app": "kube-dns"}, "10.244.0.53", OTHER, {}) | {
            "ns": "kube-system",
            "ns_labels": SYSTEM,
        }
        resolves = passes(rules, source, resolver, 53, "UDP", cilium=cilium)
        reaches = resolves and passes(rules, source, target, 8080, "TCP", cilium=cilium)
        check = await answer(inside)
        wanted = [] if reaches else ["network-policy-blocking"]
        assert [finding.code for finding in check.findings] == wanted, (number, rules, check.why)
        assert (check.outcome is Outcome.CLEAR) is reaches
        seen.add(reaches)
    assert seen == {True, False}

"""A network policy that drops what an unwell workload needs, and one that only looks as if it did."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, found

CODE = "network-policy-blocking"
SYSTEM = {"kubernetes.io/metadata.name": "kube-system"}
DNS_LINE = "dial tcp: lookup cart on 10.0.0.10:53: read udp 10.244.0.11:38212->10.0.0.10:53: i/o timeout"
CART_LINE = "dial tcp 10.0.80.17:80: i/o timeout"
WEB, CART = "web-6f5d8c7b9-aaaa0", "cart-6f5d8c7b9-aaaa0"


def shop(*policies: Body, line: str = CART_LINE, engine: str = "cilium") -> Inside:
    """Web calls cart:80 and is not Ready; its last line says why."""
    inside = Inside()
    inside.cluster["networkProfile"]["networkPolicy"] = engine
    inside.pool("apps", count=1)
    inside.room()
    for name in ("shop", "kube-system", "data"):
        inside.add("Namespace", name, "", metadata={"labels": {"kubernetes.io/metadata.name": name}})
    pod(inside, "kube-system", "coredns-7d4f9b8c6-aaaa0", "10.244.0.53", labels={"k8s-app": "kube-dns"})
    pod(inside, "shop", CART, "10.244.0.12", ports=[{"name": "http", "containerPort": 8080}])
    pod(inside, "shop", WEB, "10.244.0.11", ready=False, env=[{"name": "CART_URL", "value": "http://cart:80"}])
    ports = [{"port": 80, "targetPort": "http"}]
    inside.add("Service", "cart", spec={"selector": {"app": "cart"}, "clusterIP": "10.0.80.17", "ports": ports})
    inside.objects += policies
    inside.logs[f"/api/v1/namespaces/shop/pods/{WEB}/log"] = f"starting\n{line}\n"
    return inside


def pod(inside: Inside, namespace: str, name: str, address: str, *, ready: bool = True, **more: Any) -> None:
    since = at(timedelta(minutes=30))
    labels = more.pop("labels", {"app": name.split("-")[0], "pod-template-hash": "6f5d8c7b9"})
    state = {"name": "main", "ready": ready, "restartCount": 0, "state": {"running": {"startedAt": since}}}
    inside.runs(
        name,
        namespace=namespace,
        ready=ready,
        labels=labels,
        spec={"containers": [{"name": "main", **more}]},
        status={"podIP": address, "containerStatuses": [state]},
    )


def policy(name: str = "default-deny", namespace: str = "shop", **spec: Any) -> Body:
    return {
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSelector": {}, **spec},
    }


DENY_IN = policy(policyTypes=["Ingress"])
DENY_OUT = policy(policyTypes=["Egress"])
DNS_ONLY = policy(
    "allow-dns",
    policyTypes=["Egress"],
    egress=[{"to": [{"namespaceSelector": {"matchLabels": SYSTEM}}], "ports": [{"protocol": "UDP", "port": 53}]}],
)
FROM_WEB = policy(
    "from-web", ingress=[{"from": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 8080}]}]
)


async def test_the_policy_at_the_other_end_is_named_with_what_it_drops() -> None:
    finding = await found(CODE, shop(DENY_IN))
    assert finding.subject == "shop/NetworkPolicy/default-deny"
    assert finding.because == (
        f"shop/{WEB} cannot reach shop/cart:80 (10.244.0.12:8080/TCP)",
        f"shop/NetworkPolicy/default-deny restricts what {CART} may receive, and there is no ingress rule",
        f"Deployment/web says: {CART_LINE}",
    )
    assert "shop/Deployment/web" in finding.affects or f"shop/Pod/{WEB}" in finding.affects


async def test_a_rule_that_allows_it_is_the_twin() -> None:
    assert (await asked(CODE, shop(DENY_IN, FROM_WEB))).outcome is Outcome.CLEAR


async def test_a_rule_for_another_port_does_not_help() -> None:
    wrong = json.loads(json.dumps(FROM_WEB))
    wrong["spec"]["ingress"][0]["ports"][0]["port"] = 80  # the service's port; policies see the pod's
    finding = await found(CODE, shop(DENY_IN, wrong))
    assert "and no ingress rule allows this" in finding.because[1]


async def test_dns_is_needed_before_everything_else() -> None:
    finding = await found(CODE, shop(DENY_OUT, line=DNS_LINE))
    assert finding.because[0] == f"shop/{WEB} cannot reach DNS (10.244.0.53:53/UDP)"
    assert finding.facts["direction"] == "Egress"
    assert (await asked(CODE, shop(DENY_OUT, DNS_ONLY, line=DNS_LINE))).outcome is Outcome.CLEAR


async def test_the_rule_to_add_is_complete_and_opens_the_path() -> None:
    inside = shop(DENY_OUT, DNS_ONLY)
    rules = (await found(CODE, inside)).facts["rules"]
    for rule in rules:
        inside.objects.append(made_of(rule))
    assert [rule["name"] for rule in rules] == ["allow-to-cart"]
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


async def test_where_both_ends_drop_it_both_rules_are_given() -> None:
    inside = shop(DENY_OUT, DENY_IN)
    finding = await found(CODE, inside)
    assert [rule["direction"] for rule in finding.facts["rules"]] == ["Egress", "Ingress"]
    assert any("would drop it at the other end, too" in line for line in finding.because)
    inside.objects += [made_of(rule) for rule in finding.facts["rules"]]
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


def made_of(rule: dict[str, str]) -> Body:
    """The policy that the page shows."""
    rows = json.loads(rule["rows"])
    spec = {"podSelector": json.loads(rule["chosen"]), "policyTypes": [rule["direction"]], rule["key"]: rows}
    return {"kind": "NetworkPolicy", "metadata": {"name": rule["name"], "namespace": rule["namespace"]}, "spec": spec}


async def test_the_page_shows_that_rule() -> None:
    finding = await found(CODE, shop(DENY_IN))
    shown = page("Fix", finding)
    assert 'podSelector: {"matchLabels": {"app": "cart"}}' in shown
    assert "policyTypes: [Ingress]" in shown
    assert 'ingress: [{"from": [{"namespaceSelector":' in shown


async def test_the_way_is_tried_from_the_pod_itself_and_never_from_one_with_its_labels() -> None:
    """A service would send such a pod live traffic, and a ReplicaSet may adopt it and take another away."""
    shown = page("Fix", await found(CODE, shop(DENY_IN)))
    assert f"kubectl debug {WEB} --namespace shop -i " in shown
    assert "-- nc -zvw 5 10.244.0.12 8080" in shown
    assert "--labels" not in shown
    assert "kubectl run" not in shown


async def test_the_api_server_is_outside_of_the_pods_network() -> None:
    line = "Get https://10.0.0.1:443/api/v1/namespaces: dial tcp 10.0.0.1:443: i/o timeout"
    finding = await found(CODE, shop(DENY_OUT, DNS_ONLY, line=line))
    assert finding.because[0] == f"shop/{WEB} cannot reach the API server (20.101.44.17:443/TCP)"
    assert json.loads(finding.facts["rules"][0]["rows"])[0]["to"] == [{"ipBlock": {"cidr": "20.101.44.17/32"}}]


@pytest.mark.parametrize(
    "line",
    [
        "dial tcp 10.0.80.17:80: connect: connection refused",
        "panic: runtime error: index out of range",
        "lookup cart on 10.0.0.10:53: no such host",
    ],
)
async def test_a_workload_that_is_unwell_for_another_reason_is_not_laid_on_a_policy(line: str) -> None:
    """A refusal arrived, a crash is its own, and a name that does not exist was answered."""
    assert (await asked(CODE, shop(DENY_IN, DENY_OUT, line=line))).outcome is Outcome.CLEAR


async def test_a_policy_that_nothing_enforces_is_noise() -> None:
    assert (await asked(CODE, shop(DENY_IN, engine="none"))).outcome is Outcome.NOT_APPLICABLE


async def test_without_anybody_unwell_a_policy_is_how_people_want_it() -> None:
    inside = shop(DENY_IN, DENY_OUT, line="ready")
    for one in inside.objects:
        if one["kind"] == "Pod" and one["metadata"]["name"] == WEB:
            one["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
            one["status"]["containerStatuses"][0]["ready"] = True
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


async def test_policies_of_another_kind_are_said_to_be_outside() -> None:
    inside = shop(line="i/o timeout")
    inside.more_inside["/apis/cilium.io/v2/ciliumnetworkpolicies"] = [
        {"kind": "CiliumNetworkPolicy", "metadata": {"name": "deny-all", "namespace": "shop"}}
    ]
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "not evaluated here: CiliumNetworkPolicy shop/deny-all" in check.why


ANYWHERE = policy("anywhere", policyTypes=["Egress"], egress=[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}])


async def test_to_cilium_a_block_is_no_pod_and_so_dns_is_dropped() -> None:
    finding = await found(CODE, shop(ANYWHERE, line=DNS_LINE))
    assert finding.because[:3] == (
        f"shop/{WEB} cannot reach DNS (10.244.0.53:53/UDP)",
        "shop/NetworkPolicy/anywhere restricts what it may send, and no egress rule allows this",
        "its address stands in an ipBlock, but Cilium takes a block for no pod and no node",
    )
    assert (await asked(CODE, shop(ANYWHERE, line=DNS_LINE, engine="calico"))).outcome is Outcome.CLEAR


async def test_to_cilium_a_block_is_the_api_server() -> None:
    line = "Get https://10.0.0.1:443/api/v1/namespaces: dial tcp 10.0.0.1:443: i/o timeout"
    assert (await asked(CODE, shop(ANYWHERE, line=line))).outcome is Outcome.CLEAR


async def test_with_a_network_plugin_of_ones_own_it_is_not_known_whether_a_block_is_a_pod() -> None:
    inside = shop(ANYWHERE, line=DNS_LINE, engine="none")
    inside.cluster["networkProfile"]["networkPlugin"] = "none"
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "only an ipBlock allows it, which Cilium takes for no pod" in check.why


CILIUM = "/apis/cilium.io/v2/ciliumnetworkpolicies"
CALICO = "/apis/crd.projectcalico.org/v1/globalnetworkpolicies"


@pytest.mark.parametrize(
    ("engine", "path", "other"),
    [
        ("cilium", CILIUM, {"kind": "CiliumNetworkPolicy", "metadata": {"name": "allow-dns", "namespace": "shop"}}),
        ("cilium", CILIUM, {"metadata": {"name": "allow-dns", "namespace": "shop"}}),  # lists often leave out the kind
        ("calico", CALICO, {"kind": "GlobalNetworkPolicy", "metadata": {"name": "allow-dns"}}),
    ],
)
async def test_where_a_policy_of_another_kind_may_allow_it_no_policy_is_blamed(
    engine: str, path: str, other: Body
) -> None:
    """The usual pattern of Cilium: everything is denied by Kubernetes' own kind, and DNS allowed by Cilium's."""
    inside = shop(DENY_OUT, engine=engine)
    inside.more_inside[path] = [other]
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "shop/NetworkPolicy/default-deny does not allow it" in check.why
    assert "shop/allow-dns" in check.why or "GlobalNetworkPolicy allow-dns" in check.why


async def test_a_policy_of_another_kind_in_another_namespace_allows_nothing_here() -> None:
    inside = shop(DENY_IN)
    elsewhere = {"kind": "CiliumNetworkPolicy", "metadata": {"name": "allow-dns", "namespace": "data"}}
    inside.more_inside[CILIUM] = [elsewhere]
    assert (await asked(CODE, inside)).outcome is Outcome.FOUND


async def test_policies_of_another_kind_that_may_not_be_read_may_allow_it() -> None:
    inside = shop(DENY_IN)
    inside.denied = {CILIUM}
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "ciliumnetworkpolicies" in check.why


async def test_a_network_plugin_of_ones_own_may_have_policies_of_any_kind() -> None:
    inside = shop(line="i/o timeout", engine="none")
    inside.cluster["networkProfile"]["networkPlugin"] = "none"
    inside.more_inside["/apis/crd.projectcalico.org/v1/globalnetworkpolicies"] = [
        {"kind": "GlobalNetworkPolicy", "metadata": {"name": "deny-all"}}
    ]
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "not evaluated here: GlobalNetworkPolicy deny-all" in check.why


@pytest.mark.parametrize("path", ["/networkpolicies", "/api/v1/namespaces", "/log", "/namespaces/shop/pods"])
async def test_what_may_not_be_seen_leaves_the_question_open(path: str) -> None:
    inside = shop(DENY_IN)
    inside.denied = {path}
    assert (await asked(CODE, inside)).outcome is Outcome.INCONCLUSIVE

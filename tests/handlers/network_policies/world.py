"""Endpoints and shorthand for policies, used in the truth table."""

from __future__ import annotations

from typing import Any

from handlers.diagnose.network_policies.rules import End, Policy, compiled
from handlers.evidence.workloads.wiring.routes import read_network_policy

Body = dict[str, Any]


def pod(
    name: str,
    ns: str,
    ip: str,
    node: str,
    ports: dict[tuple[str, str], int] | None = None,
    *,
    host: bool = False,
    **labels: str,
) -> Body:
    return {
        "name": name,
        "ns": ns,
        "ip": ip,
        "node": node,
        "labels": {"app": name, **labels},
        "ns_labels": {"kubernetes.io/metadata.name": ns, "team": ns.partition("-")[0]},
        "ports": ports or {},
        "host": host,
    }


ENDS: dict[str, Body] = {
    "web": pod("web", "shop", "10.244.0.11", "n1", tier="front"),
    "cart": pod("cart", "shop", "10.244.1.12", "n2", {("http", "TCP"): 8080, ("admin", "TCP"): 9000}, tier="back"),
    "db": pod("db", "data", "10.244.2.13", "n3", {("pg", "TCP"): 5432}, tier="back"),
    "dns": pod("dns", "kube-system", "10.244.0.53", "n1", {("dns", "UDP"): 53, ("dns-tcp", "TCP"): 53}),
    "six": pod("six", "shop", "fd00::16", "n2"),
    "agent": pod("agent", "shop", "10.224.0.5", "n2", host=True),
    "n1": {"ip": "10.224.0.4", "node": "n1"},
    "n2": {"ip": "10.224.0.5", "node": "n2"},
    "outside": {"ip": "203.0.113.7"},
    "private": {"ip": "10.1.2.3"},
}


def policy(
    ns: str = "shop",
    select: Body | None = None,
    ingress: list[Body] | None = None,
    egress: list[Body] | None = None,
    kinds: list[str] | None = None,
    name: str = "one",
) -> Body:
    spec: Body = {"podSelector": select or {}}
    spec |= {} if ingress is None else {"ingress": ingress}
    spec |= {} if egress is None else {"egress": egress}
    spec |= {} if kinds is None else {"policyTypes": kinds}
    return {"metadata": {"namespace": ns, "name": name}, "spec": spec}


def app(name: str) -> Body:
    return {"matchLabels": {"app": name}}


def expr(key: str, operator: str, *values: str) -> Body:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def pods(selector: Body, namespaces: Body | None = None) -> Body:
    return {"podSelector": selector} | ({} if namespaces is None else {"namespaceSelector": namespaces})


def spaces(selector: Body) -> Body:
    return {"namespaceSelector": selector}


def block(cidr: str, *excepted: str) -> Body:
    return {"ipBlock": {"cidr": cidr, **({"except": list(excepted)} if excepted else {})}}


def port(number: int | str | None = None, protocol: str = "", end: int = 0) -> Body:
    body: Body = {} if number is None else {"port": number}
    body |= {"protocol": protocol} if protocol else {}
    return body | ({"endPort": end} if end else {})


def end_of(body: Body) -> End:
    return End(
        address=body["ip"],
        namespace=body.get("ns", ""),
        name=body.get("name", ""),
        labels=body.get("labels", {}),
        namespace_labels=body.get("ns_labels", {}),
        node=body.get("node", ""),
        host_network=body.get("host", False),
        ports=body.get("ports", {}),
    )


def made(policies: list[Body], *, cilium: bool = False) -> tuple[Policy, ...]:
    return compiled((read_network_policy(one) for one in policies), blocks_mean_pods=not cilium)

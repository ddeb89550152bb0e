"""A second, deliberately simple evaluator of network policies, directly on the wire bodies.

It shares no code with the product; if they differ, one of them misinterprets the specification.
"""

from __future__ import annotations

import ipaddress
from typing import Any

Body = dict[str, Any]


def passes(policies: list[Body], source: Body, target: Body, port: int, protocol: str, *, cilium: bool = False) -> bool:
    """Ends: `ip`, `node`, and of pods `ns`, `name`, `labels`, `ns_labels`, `ports`, `host`."""
    if cilium:
        policies = [without_blocks(p, source, target) for p in policies]
    if source.get("ns") and (source["ns"], source["name"]) == (target.get("ns"), target.get("name")):
        return True
    out = [p for p in policies if restricts(p, source, "Egress")]
    if out and not any(opens(p, "egress", "to", target, target, port, protocol) for p in out):
        return False
    if (not source.get("ns") or source.get("host")) and source.get("node") and source["node"] == target.get("node"):
        return True
    into = [p for p in policies if restricts(p, target, "Ingress")]
    return not into or any(opens(p, "ingress", "from", source, target, port, protocol) for p in into)


def without_blocks(policy: Body, source: Body, target: Body) -> Body:
    """To Cilium no ipBlock means a pod or a node: one of an address that nobody has stands in its place."""
    spec, nobody = dict(policy["spec"]), {"ipBlock": {"cidr": "192.0.2.255/32"}}
    for direction, peers, other in (("egress", "to", target), ("ingress", "from", source)):
        inside = other.get("ns") or other.get("node")
        if inside and direction in spec:
            spec[direction] = [
                row | ({peers: [nobody if "ipBlock" in peer else peer for peer in row[peers]]} if peers in row else {})
                for row in spec[direction]
            ]
    return policy | {"spec": spec}


def restricts(policy: Body, pod: Body, kind: str) -> bool:
    spec = policy["spec"]
    kinds = spec.get("policyTypes") or (["Ingress", "Egress"] if "egress" in spec else ["Ingress"])
    if kind not in kinds or pod.get("host") or pod.get("ns") != policy["metadata"]["namespace"]:
        return False
    return fits(spec.get("podSelector", {}), pod["labels"])


def opens(policy: Body, direction: str, peers: str, other: Body, target: Body, port: int, protocol: str) -> bool:
    for rule in policy["spec"].get(direction) or []:
        named = rule.get(peers) or []
        if named and not any(is_meant(peer, other, policy["metadata"]["namespace"]) for peer in named):
            continue
        ports = rule.get("ports") or []
        if not ports or any(is_open(one, target, port, protocol) for one in ports):
            return True
    return False


def is_meant(peer: Body, other: Body, namespace: str) -> bool:
    if "ipBlock" in peer:
        address = ipaddress.ip_address(other["ip"])
        outside = [ipaddress.ip_network(cut) for cut in peer["ipBlock"].get("except", [])]
        return address in ipaddress.ip_network(peer["ipBlock"]["cidr"]) and not any(address in cut for cut in outside)
    if not other.get("ns") or other.get("host"):
        return False
    if "namespaceSelector" in peer:
        if not fits(peer["namespaceSelector"], other["ns_labels"]):
            return False
    elif other["ns"] != namespace:
        return False
    return fits(peer.get("podSelector", {}), other["labels"])


def is_open(rule: Body, target: Body, port: int, protocol: str) -> bool:
    if rule.get("protocol", "TCP") != protocol:
        return False
    wanted = rule.get("port")
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return bool(target.get("ports", {}).get((wanted, protocol)) == port)
    first = int(wanted)
    return first <= port <= int(rule.get("endPort", first))


def fits(selector: Body, labels: dict[str, str]) -> bool:
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for one in selector.get("matchExpressions", []):
        has, said = one["key"] in labels, labels.get(one["key"])
        right = {
            "In": has and said in one.get("values", []),
            "NotIn": not has or said not in one.get("values", []),
            "Exists": has,
            "DoesNotExist": not has,
        }[one["operator"]]
        if not right:
            return False
    return True

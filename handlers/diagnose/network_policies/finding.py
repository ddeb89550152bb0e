"""What is said of a policy that drops a connection, and the rules to add: by the check, and of a path asked about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from handlers.diagnose.network_policies.decision import Side
from handlers.diagnose.network_policies.paths import API_SERVER, DNS, Dropped
from handlers.diagnose.network_policies.rules import EGRESS, End, Policy
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Unavailable

CODE = "network-policy-blocking"
OF_THE_REPLICA = ("pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name")
"""Labels that another pod of the same workload has with another value."""
MOST_PATHS = 4


@dataclass(frozen=True, slots=True)
class Blocked:
    """A dropped connection, with the line of the log that misses it; empty where somebody asked about the path."""

    path: Dropped
    line: str = ""

    @property
    def side(self) -> Side:
        return self.path.decision.blocking or self.path.decision.ingress

    @property
    def policy(self) -> Policy:
        """Of several that restrict the pod none allows it; the one with the fewest rules says so most plainly."""
        return min(self.side.choosing, key=lambda policy: (len(policy.rules[self.side.direction]), policy.name))


def finding(cluster: ManagedCluster, group: list[Blocked], calls: Calls | Unavailable) -> Finding:
    """The finding about one policy, of all connections that it drops."""
    first = group[0]
    owners = list(dict.fromkeys(blocked.path.source.owned_by for blocked in group))
    harmed = [who for owner in owners for who in (calls.harmed_by(owner) if isinstance(calls, Calls) else (owner,))]
    return Finding(
        code=CODE,
        subject=first.policy.subject,
        affects=tuple(dict.fromkeys((*harmed, *(blocked.path.source.subject for blocked in group)))),
        because=tuple(line for blocked in group[:MOST_PATHS] for line in _because(blocked)),
        facts={
            "policy": first.policy.name,
            "policies": [policy.subject for policy in first.side.choosing],
            "namespace": first.policy.namespace,
            "direction": first.side.direction,
            "source": first.path.source.subject,
            "destination": first.path.target.name,
            "rules": [rule for blocked in group[:MOST_PATHS] for rule in _rules(blocked)],
            "callers": owners,
            "probe_namespace": first.path.source.namespace,
            "probe_pod": first.path.source.name,
            "probe_address": first.path.end.address,
            "probe_port": first.path.port,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _because(blocked: Blocked) -> Iterator[str]:
    path, side = blocked.path, blocked.side
    source, where = path.source, f"{path.end.address}:{path.port}/{path.target.protocol}"
    yield f"{source.namespace}/{source.name} cannot reach {path.target.name} ({where})"
    restricted = "what it may send" if side.direction == EGRESS else f"what {path.end.name} may receive"
    names = ", ".join(policy.subject for policy in side.choosing[:3])
    rules = any(policy.rules[side.direction] for policy in side.choosing)
    none = f"no {side.direction.lower()} rule allows this" if rules else f"there is no {side.direction.lower()} rule"
    yield f"{names} restricts {restricted}, and {none}"
    if _stands_in_a_block(blocked):
        yield "its address stands in an ipBlock, but Cilium takes a block for no pod and no node"
    other = path.decision.ingress
    if side.direction == EGRESS and not other.allowed:
        yield f"{other.choosing[0].subject} would drop it at the other end, too"
    if blocked.line:
        yield f"{source.workload} says: {blocked.line}"


def _stands_in_a_block(blocked: Blocked) -> bool:
    """Whether a block would allow it, did the engine take pods for addresses."""
    path, side = blocked.path, blocked.side
    outgoing = side.direction == EGRESS
    if outgoing and not (path.end.namespace or path.end.node):
        return False
    address = path.end.address if outgoing else path.source.address
    peers = (peer for policy in side.choosing for rule in policy.rules[side.direction] for peer in rule.peers)
    return any(peer.block and not peer.block.means_pods and peer.block.holds(address) for peer in peers)


def _rules(blocked: Blocked) -> Iterator[dict[str, str]]:
    """The rules to add, one for each end that drops it, as policies of their own: those that are there stay."""
    decision = blocked.path.decision
    if not decision.egress.allowed:
        yield _rule(
            blocked, EGRESS, "to", _labels_of(blocked.path.source), blocked.path.source.namespace, _peer(blocked)
        )
    if not decision.ingress.allowed:
        source = blocked.path.source
        peer = _pods(source.namespace, _labels_of(source))
        yield _rule(blocked, "Ingress", "from", _stable(blocked.path.end), blocked.path.end.namespace, peer)


def _rule(
    blocked: Blocked, direction: str, side: str, chosen: dict[str, str], namespace: str, peer: dict[str, object]
) -> dict[str, str]:
    ports = [{"protocol": blocked.path.target.protocol, "port": blocked.path.port}]
    if blocked.path.target.name == DNS:
        ports = [{"protocol": protocol, "port": blocked.path.port} for protocol in ("UDP", "TCP")]
    return {
        "name": _named(blocked, direction),
        "namespace": namespace,
        "direction": direction,
        "key": direction.lower(),
        "chosen": json.dumps({"matchLabels": chosen}),
        "rows": json.dumps([{side: [peer], "ports": ports}]),
    }


def _named(blocked: Blocked, direction: str) -> str:
    """A name for the policy to add: `allow-to-dns`, `allow-from-web`."""
    if direction != EGRESS:
        return f"allow-from-{blocked.path.source.workload.partition('/')[2]}"[:63]
    target = blocked.path.target.name.partition("/")[2].partition(":")[0]
    short = {DNS: "dns", API_SERVER: "api-server"}.get(blocked.path.target.name, target)
    return f"allow-to-{short}"[:63]


def _peer(blocked: Blocked) -> dict[str, object]:
    end = blocked.path.end
    if not end.namespace:
        return {"ipBlock": {"cidr": f"{end.address}/{128 if ':' in end.address else 32}"}}
    return _pods(end.namespace, _stable(end))


def _pods(namespace: str, labels: dict[str, str]) -> dict[str, object]:
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": labels},
    }


def _labels_of(pod: WorkloadPod) -> dict[str, str]:
    return {key: value for key, value in pod.labels.items() if key not in OF_THE_REPLICA}


def _stable(end: End) -> dict[str, str]:
    return {key: value for key, value in end.labels.items() if key not in OF_THE_REPLICA}

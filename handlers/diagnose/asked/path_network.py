"""The network between the two ends of a path: names, network policies, and what forwards on the caller's node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handlers.diagnose.dns_servers import asked_elsewhere
from handlers.diagnose.network_policies.decision import decide
from handlers.diagnose.network_policies.doubt import depends_on_engine, doubt
from handlers.diagnose.network_policies.engine import rules_of
from handlers.diagnose.network_policies.finding import CODE as BLOCKING
from handlers.diagnose.network_policies.finding import Blocked, finding
from handlers.diagnose.network_policies.paths import DNS, Dropped, Target, end_of, to_dns
from handlers.diagnose.workload_findings import workload_facts
from handlers.evidence.asked.path import PathOtherPolicies, PathPeers, PathPolicies, PathProxies
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.wire import text
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable, Why

if TYPE_CHECKING:
    from handlers.diagnose.asked.path_service import There

DNS_BROKEN, KUBE_PROXY, CNI = "dns-broken", "kube-proxy-broken", "cni-or-route-broken"
CODES = (DNS_BROKEN, BLOCKING, KUBE_PROXY, CNI)
COREDNS = f"{KUBE_SYSTEM}/Deployment/coredns"
_NO_NETWORK = "NetworkUnavailable"
NO_CALLS = Unavailable("who calls whom", Why.ABSENT, "not asked for one path")


@dataclass(frozen=True)
class Network:
    """Everything between the two ends. `passed` collects what was looked at and is right."""

    cluster: ManagedCluster
    peers: PathPeers | Unavailable | NotApplicable
    policies: PathPolicies | Unavailable | NotApplicable
    others: PathOtherPolicies | Unavailable | NotApplicable
    nodes: Nodes | Unavailable | NotApplicable
    proxies: PathProxies | Unavailable | NotApplicable
    passed: list[str] = field(default_factory=list)

    def resolves(self, source: WorkloadPod, host: str) -> Iterator[Judgement]:
        """Does the caller resolve the service's name?"""
        elsewhere = asked_elsewhere(source.spec, self.cluster)
        if isinstance(elsewhere, Unavailable):
            yield elsewhere
        elif elsewhere:
            yield self._own_servers(source, host, elsewhere)
        elif isinstance(self.peers, Unavailable):
            yield self.peers
        elif isinstance(self.peers, PathPeers):
            yield from self._of_coredns(self.peers)
            yield from self._dropped(source, to_dns(self.peers), self.peers)

    def lets_through(self, source: WorkloadPod, there: There) -> Iterator[Judgement]:
        """Do the network policies of both ends let it through?"""
        if isinstance(self.policies, NotApplicable):
            self.passed.append(self.policies.because)
            return
        target = there.target
        if target is None or not target.ends:
            yield from there.unseen_pods()
            return
        if isinstance(self.peers, PathPeers):
            yield from self._dropped(source, target, self.peers)
        elif isinstance(self.peers, Unavailable):
            yield self.peers
        if isinstance(self.others, PathOtherPolicies) and self.others.names:
            names = ", ".join(self.others.names[:3])
            yield Unavailable("the policies of Calico and Cilium", Why.ABSENT, f"not evaluated here: {names}")
        elif isinstance(self.others, Unavailable):
            yield self.others

    def forwards(self, source: WorkloadPod, there: There) -> Iterator[Judgement]:
        """Does the caller's node have a network, and turn the service's address into a pod's?"""
        if isinstance(self.nodes, Unavailable):
            yield self.nodes
        for name in dict.fromkeys((source.node, *there.nodes)):
            yield from self._has_network(name)
        if there.headless:
            return
        if isinstance(self.proxies, NotApplicable):
            self.passed.append(self.proxies.because)
        elif isinstance(self.proxies, Unavailable):
            yield self.proxies
        else:
            yield from self._proxied(source, self.proxies)

    def _proxied(self, source: WorkloadPod, proxies: PathProxies) -> Iterator[Judgement]:
        """Is kube-proxy Ready on the caller's node, where it is a pod there?"""
        running = proxies.on(source.node)
        elsewhere = "" if running else self._not_a_pod(source.node, proxies)
        if any(pod.ready for pod in running):
            self.passed.append(f"kube-proxy is Ready on {source.node}")
        elif elsewhere:
            yield Unavailable(f"what forwards on {source.node}", Why.ABSENT, f"not visible here: {elsewhere}")
        else:
            yield self._no_proxy(source, running)

    def _not_a_pod(self, name: str, proxies: PathProxies) -> str:
        """Why there need be no pod of kube-proxy on this node; empty where there should be one."""
        node = self._node(name)
        if node is None:
            return "the node was not seen"
        if node.virtual:
            return "it is a virtual node, which has no kube-proxy"
        if node.system != "linux":
            return f"it runs {node.system.capitalize()}, where kube-proxy is a service and not a pod"
        if not proxies.pods and text(self.cluster.network, "networkPlugin").lower() == "none":
            return "the cluster has a network plugin of its own, which may do what kube-proxy does"
        return "only a part of the pods was read" if proxies.truncated else ""

    def _own_servers(self, source: WorkloadPod, host: str, servers: str) -> Finding:
        spec = source.spec
        on_host = spec.scheduling.host_network and spec.dns_policy == "ClusterFirst"
        who, asks = f"{source.namespace}/{source.name}", f"dnsPolicy {spec.dns_policy}, it asks {servers}"
        needs = ("a pod in the network of its node needs dnsPolicy ClusterFirstWithHostNet",) if on_host else ()
        return Finding(
            code=DNS_BROKEN,
            subject=source.owned_by,
            affects=(source.owned_by, source.subject),
            because=(f"{who} does not ask the cluster's DNS for {host}: {asks}", *needs),
            facts=workload_facts(source.owned_by)
            | {"pod": source.name, "cause": spec.dns_policy, "nameservers": [servers], "host": host},
        )

    def _of_coredns(self, peers: PathPeers) -> Iterator[Judgement]:
        ready = [pod for pod in peers.dns if pod.ready]
        if ready:
            self.passed.append(f"CoreDNS has {len(ready)} of {len(peers.dns)} pods Ready")
        elif peers.truncated:
            yield Unavailable("CoreDNS", Why.FAILED, "only a part of its pods was read")
        else:
            yield Finding(
                code=DNS_BROKEN,
                subject=COREDNS,
                affects=(COREDNS,),
                because=(f"CoreDNS has 0 of {len(peers.dns)} pods Ready: no pod resolves a name",),
                facts=workload_facts(COREDNS)
                | {"cause": "coredns", "nameservers": [], "host": "", "wanted": len(peers.dns), "ready": 0},
            )

    def _dropped(self, source: WorkloadPod, target: Target, peers: PathPeers) -> Iterator[Judgement]:
        """Whether policies drop it, to all of its ends or to some."""
        if isinstance(self.policies, Unavailable):
            if target.name != DNS:  # said once is enough
                yield self.policies
            return
        if isinstance(self.policies, NotApplicable):
            return
        rules, here = rules_of(self.cluster, self.policies.policies), end_of(source, peers.namespaces)
        decided = [(end, port, decide(rules.strict, here, end, port, target.protocol)) for end, port in target.ends]
        lost = [Dropped(source, target, end, port, said) for end, port, said in decided if not said.allowed]
        if lost and (len(lost) == len(decided) or target.name != DNS):
            all_read = not (self.policies.truncated or peers.truncated)
            doubtful = doubt(lost[0], self.others, all_read=all_read)
            doubtful = doubtful or depends_on_engine(lost[0], rules, peers.namespaces)
            yield doubtful or self._blocked(lost, len(decided))
        elif self.policies.truncated or peers.truncated:
            yield Unavailable("the network policies", Why.FAILED, "only a part of them was read")
        elif decided:
            self.passed.append(f"{len(rules.strict)} network policies let it through to {target.name}, both ways")

    def _blocked(self, lost: list[Dropped], ends: int) -> Finding:
        made = finding(self.cluster, [Blocked(lost[0])], NO_CALLS)
        if len(lost) == ends:
            return made
        part = f"it is dropped to {len(lost)} of {ends} pods behind the service: some connections come about"
        return Finding(
            made.code, made.subject, (*made.because, part), made.affects, Severity.WARNING, made.facts, made.began
        )

    def _node(self, name: str) -> Node | None:
        known = self.nodes.nodes if isinstance(self.nodes, Nodes) else ()
        return next((node for node in known if node.name == name), None)

    def _has_network(self, name: str) -> Iterator[Judgement]:
        node = self._node(name)
        if node is None:
            return
        if _NO_NETWORK in node.troubles:
            yield self._cut_off(node)
        elif not node.is_ready:
            why = f"it is not Ready; `check {self.cluster.name} node {node.name}` says why"
            yield Unavailable(f"what node {node.name} forwards", Why.ABSENT, why)

    def _cut_off(self, node: Node) -> Finding:
        said = node.troubles[_NO_NETWORK]
        reason = ": ".join(filter(None, (said.reason, said.message))) or _NO_NETWORK
        return Finding(
            code=CNI,
            subject=node.subject,
            affects=(node.subject,),
            because=(f"node {node.name} has no network: {_NO_NETWORK}, {reason}",),
            facts={"cause": "node", "reason": reason, "node": node.name, "pool": node.pool, **self._place()},
        )

    def _no_proxy(self, source: WorkloadPod, running: tuple[WorkloadPod, ...]) -> Finding:
        what = f"{running[0].name} is not Ready" if running else "there is no kube-proxy pod"
        return Finding(
            code=KUBE_PROXY,
            subject=f"Node/{source.node}",
            affects=(f"Node/{source.node}", source.subject),
            because=(
                f"on node {source.node}, {what}: nothing there turns the address of a service into that of a pod",
                f"{source.namespace}/{source.name} runs on {source.node}",
            ),
            facts={
                "cause": "crashing" if running else "missing",
                "says": "",
                "node": source.node,
                "nodes": [source.node],
                "pod": running[0].name if running else "<kube-proxy-pod>",
                "scale_set": "",
                "instance_id": "",
                **self._place(),
            },
        )

    def _place(self) -> dict[str, object]:
        cluster = self.cluster
        return {
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        }

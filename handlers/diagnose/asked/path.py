"""What stops the connection from this pod to this service? The first thing on the way, or that nothing seen does."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.asked import path_network, path_service
from handlers.diagnose.asked.unknown import absent
from handlers.engine.declare import diagnostic
from handlers.evidence.asked.path import (
    PathOtherPolicies,
    PathPeers,
    PathPods,
    PathPolicies,
    PathProxies,
    PathServices,
    PathSlices,
    path_of,
)
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.model import Clear, Finding, Judgement, NotApplicable, Target, Unavailable, Why
from handlers.question import Question, Word

NOT_SEEN = "not seen from here: whether the program itself listens and answers"


@diagnostic(codes=(*path_network.CODES, *path_service.CODES), area="network", word=Word.PATH)
def path(
    target: Target,
    cluster: ManagedCluster,
    pods: PathPods,
    services: PathServices | Unavailable,
    slices: PathSlices | Unavailable,
    peers: PathPeers | Unavailable | NotApplicable,
    policies: PathPolicies | Unavailable | NotApplicable,
    others: PathOtherPolicies | Unavailable | NotApplicable,
    nodes: Nodes | Unavailable | NotApplicable,
    proxies: PathProxies | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """Something stops the connection from one pod to one service."""
    asked = path_of(target)
    if asked is None:
        yield NotApplicable("nobody asked about a path")
        return
    source = next(iter(pods.called(*asked.first)), None)
    if source is None or not source.address:
        yield _cannot_call(asked, source, pods, peers)
        return
    network = path_network.Network(cluster, peers, policies, others, nodes, proxies)
    there = path_service.There(asked, source, services, slices, pods, peers)
    yield from _walked(asked, source, network, there)


def _walked(
    asked: Question, source: WorkloadPod, network: path_network.Network, there: path_service.There
) -> Iterator[Judgement]:
    """Step by step; what could not be seen of a step leaves it open and does not keep the next from being taken."""
    still_open: list[Unavailable] = []
    steps = (
        network.resolves(source, there.host),
        there.is_there(),
        there.has_endpoints(),
        network.lets_through(source, there),
        network.forwards(source, there),
        there.declares(),
    )
    for step in steps:
        for judgement in step:
            yield judgement
            if isinstance(judgement, Finding):
                return
            if isinstance(judgement, Unavailable):
                still_open.append(judgement)
    if not still_open:
        yield Clear(
            f"nothing seen stops {source.namespace}/{source.name} from reaching {asked.values[1]}: "
            f"{'; '.join((*network.passed, *there.passed))} ({NOT_SEEN})"
        )


def _cannot_call(
    asked: Question, source: WorkloadPod | None, pods: PathPods, peers: PathPeers | Unavailable | NotApplicable
) -> Unavailable:
    """The pod that calls is not there, or has no address yet."""
    namespace, name = asked.first
    if source is not None:
        state = source.reason or source.phase or "not running"
        ask = f"`check <cluster> pod {namespace}/{source.name}` says why"
        why = f"it is {state} and has no address, so nothing leaves it; {ask}"
        return Unavailable(f"the way of {namespace}/{source.name}", Why.ABSENT, why)
    if pods.gaps:
        return pods.gaps[0]
    spaces = peers.namespaces if isinstance(peers, PathPeers) else {}
    names = [pod.name for pod in pods.pods if pod.namespace == namespace]
    return absent("pod", namespace, name, names, spaces)

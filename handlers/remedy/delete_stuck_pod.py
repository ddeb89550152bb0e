"""Delete the pods that block a drain because no kubelet is left to report that they have ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from shlex import quote

from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Node, Nodes, Pod, Pods
from handlers.evidence.compute import Instances
from handlers.evidence.permissions_inside import WriterMayInside
from handlers.model import Finding, NotApplicable, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.inside import doubts_inside, may_not_inside
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import is_stopped, some
from handlers.remedy.titles import titled

ACTS = ("get pods", "delete pods")
AFTER_GRACE = timedelta(minutes=1)
"""What kubelet and API server take beyond a pod's own grace."""
LIMIT = timedelta(minutes=30)


@remedy(codes=("drain-error",), acts=ACTS, when=lambda finding: bool(finding.facts.get("stuck")))
def delete_stuck_pod(
    finding: Finding,
    cluster: ManagedCluster,
    nodes: Nodes,
    pods: Pods,
    inside: WriterMayInside,
    instances: Instances | Unavailable | NotApplicable,
) -> Iterator[Plan | Forbidden]:
    """Delete the stuck pods of the node: gracefully first, by force only where their node is gone or silent."""
    name = str(finding.facts["node"])
    node = next((node for node in nodes.nodes if node.name == name), None)
    there = {pod.subject: pod for pod in pods.on(name)}
    stuck = [there[subject] for subject in _named(finding) if subject in there]
    yield from is_stopped(cluster)
    if not stuck:
        yield Forbidden(f"no pod on {name} is stuck any more", "check again")
        return
    if node is None and not nodes.complete:
        yield Forbidden(f"not all nodes could be seen, so it is unknown whether {name} is gone", "check again")
    for pod in stuck:
        yield from _must_not_be_deleted(pod, node)
    for namespace in dict.fromkeys(pod.namespace for pod in stuck):
        yield from may_not_inside(ACTS, namespace, inside)
    force = _is_away(node)
    yield Plan(
        remedy="delete-stuck-pod",
        title=titled(f"Delete {len(stuck)} stuck pod{'s' if len(stuck) > 1 else ''} of {{}}", name),
        cluster=cluster.id,
        target=finding.subject,
        steps=tuple(_step(pod, name, force=force) for pod in stuck),
        before={
            f"node {name}": _state(node),
            **{f"uid of pod {pod.namespace}/{pod.name}": pod.uid for pod in stuck},
        },
        undo="a pod that is deleted is gone; whatever owns it makes a new one",
        verify=Verify("drain-error", finding.subject),
        risk=Risk.HIGH if force and any(pod.owner_kind == "StatefulSet" for pod in stuck) else Risk.MEDIUM,
        could_go_wrong=tuple(_could_go_wrong(stuck, name, force=force)),
        eta=sum((timedelta(seconds=pod.grace_s) + AFTER_GRACE for pod in stuck), timedelta()),
        limit=LIMIT + sum((timedelta(seconds=pod.grace_s) for pod in stuck), timedelta()),
        warnings=(
            *(_still_runs(node, instances) if force else ()),
            *(doubt for pod in stuck for doubt in doubts_inside(ACTS, pod.namespace, inside)),
        ),
        effect=_effect(stuck, name, force=force),
    )


def _effect(stuck: list[Pod], node: str, *, force: bool) -> str:
    several = len(stuck) > 1
    what = f"{len(stuck)} stuck pods of node {node} are" if several else f"The stuck pod of node {node} is"
    named = f"{what} deleted{' by force' if force else ''}: {some(f'{pod.namespace}/{pod.name}' for pod in stuck)}"
    if any(pod.owner_kind == "Pod" for pod in stuck):
        return named
    return f"{named}; {'their controllers make new ones' if several else 'its controller makes a new one'}"


def _named(finding: Finding) -> list[str]:
    return [f"{name['namespace']}/Pod/{name['pod']}" for name in finding.facts["stuck"]]


def _is_away(node: Node | None) -> bool:
    """Gone or silent. A kubelet that reports NotReady is alive, and terminates its pods itself."""
    return node is None or node.ready.status == "Unknown"


def _state(node: Node | None) -> str:
    if node is None:
        return "gone"
    return "Ready" if node.is_ready else f"Ready is {node.ready.status}"


def _must_not_be_deleted(pod: Pod, node: Node | None) -> Iterator[Forbidden]:
    who = f"{pod.namespace}/{pod.name}"
    if pod.finalizers:
        what = (
            f"{who} is held by finalizer {', '.join(pod.finalizers)}: deleting it again, also by force, changes nothing"
        )
        yield Forbidden(what, "repair the controller that owns the finalizer: it is the one that does not answer")
    elif pod.deleting and not _is_away(node):
        what = f"{who} was deleted already, and its node answers ({_state(node)}): its containers do not end"
        yield Forbidden(what, "see on the node what holds them, or restart its machine, by the steps")
    if not pod.uid:
        what = "the cluster was seen through run-command only, and is not written to that way"
        yield Forbidden(what, "follow the steps from inside its network")


def _step(pod: Pod, node: str, *, force: bool) -> Step:
    how = "by force: its node cannot say that it has ended" if force else f"with its {pod.grace_s} s of grace"
    by_force = " --force --grace-period 0" if force else ""
    grace_s = 0 if force and pod.deleting else pod.grace_s
    return Step(
        verb=Verb.DELETE_POD,
        target=pod.subject,
        says=f"Delete pod {pod.namespace}/{pod.name} {how}",
        request=f"DELETE /api/v1/namespaces/{pod.namespace}/pods/{pod.name}, only if its uid is {pod.uid}, "
        f"gracePeriodSeconds {grace_s}",
        command=f"kubectl delete pod {quote(pod.name)} --namespace {quote(pod.namespace)}{by_force}",
        arguments={
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "grace_s": pod.grace_s,
            "force": force,
            "node": node,
        },
    )


def _could_go_wrong(stuck: list[Pod], node: str, *, force: bool) -> Iterator[str]:
    if force:
        yield f"if the machine of {node} still runs, the containers go on there, beside the pods that replace them"
    kept = [pod.name for pod in stuck if pod.owner_kind == "StatefulSet"]
    if force and kept:
        yield f"then {some(kept)} would run twice under one name: make sure that the machine is off"
    alone = [pod.name for pod in stuck if pod.owner_kind == "Pod"]
    if alone:
        yield f"nothing makes {some(alone)} again: no controller owns it"
    yield "a volume of the pod may need minutes until it can be used elsewhere"


def _still_runs(node: Node | None, instances: Instances | Unavailable | NotApplicable) -> tuple[str, ...]:
    """The state that Azure reports for the machine of a silent node."""
    if node is None or not node.machine:
        return ()
    machine = instances.by_id.get(node.machine.lower()) if isinstance(instances, Instances) else None
    if machine is None:
        return (f"whether the machine of {node.name} still runs could not be seen",)
    return (f"Azure says that the machine of {node.name} is running",) if machine.power == "running" else ()

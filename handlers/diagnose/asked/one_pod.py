"""How is this pod? What is wrong with it, the checks of the whole cluster say."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.asked.unknown import absent, no_namespace
from handlers.engine.declare import diagnostic
from handlers.evidence.asked.namespaces import AskedNamespaces
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.model import Clear, Judgement, NotApplicable, Target, Unavailable, Why
from handlers.question import Word


@diagnostic(codes=(), area="workloads", word=Word.POD)
def asked_pod(target: Target, pods: WorkloadPods, spaces: AskedNamespaces | Unavailable) -> Iterator[Judgement]:
    """Whether the pod that was asked about runs."""
    asked = target.about
    if asked is None or asked.word is not Word.POD:
        yield NotApplicable("nobody asked about a pod")
        return
    namespace, name = asked.first
    called = pods.called(namespace, name)
    if not called:
        known = spaces.names if isinstance(spaces, AskedNamespaces) else ()
        names = [pod.name for pod in pods.pods if pod.namespace == namespace]
        unseen = next(iter(pods.gaps), None) if not names else None
        yield unseen or absent("pod", namespace, name, names, known)
        return
    for pod in called:
        if pod.ready or pod.phase == "Succeeded":
            continue
        yield Unavailable(f"why {namespace}/{pod.name} is not Ready", Why.ABSENT, f"it is {_state(pod)}")
        return
    yield Clear("; ".join(f"{pod.name} is {_state(pod)}" for pod in called[:3]))


@diagnostic(codes=(), area="workloads", word=Word.NAMESPACE)
def asked_namespace(target: Target, pods: WorkloadPods, spaces: AskedNamespaces) -> Iterator[Judgement]:
    """Whether the namespace that was asked about exists, and how many of its pods are Ready."""
    asked = target.about
    if asked is None or asked.word is not Word.NAMESPACE:
        yield NotApplicable("nobody asked about a namespace")
        return
    name = asked.values[0]
    if name not in spaces.names:
        yield no_namespace(name, spaces.names)
        return
    mine = [pod for pod in pods.pods if pod.namespace == name and not pod.done]
    yield from pods.gaps
    yield Clear(f"namespace {name} exists; {sum(pod.ready for pod in mine)} of {len(mine)} pods are Ready")


def _state(pod: WorkloadPod) -> str:
    condition = pod.condition("Ready")
    since = f" since {condition.since:%Y-%m-%d %H:%M} UTC" if condition and condition.since else ""
    restarts = sum(box.state.restarts for box in pod.containers if box.state)
    again = f", restarted {restarts} times" if restarts > 1 else ", restarted once" if restarts else ""
    where = f" on {pod.node}" if pod.node else ""
    says = condition.message or condition.reason if condition and not pod.ready else ""
    ready = "Ready" if pod.ready else pod.reason or (pod.phase if pod.phase != "Running" else "Running and not Ready")
    return f"{ready}{since}{where}{again}" + (f": {says}" if says else "")

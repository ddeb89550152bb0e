"""What the findings about workloads share: who suffers, the facts that every page uses, and how many are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from handlers.engine.declare import ClearWithout
from handlers.evidence.azure import AgentPools
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.evidence.workloads.symptoms import Symptom
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, NotApplicable, Unavailable

WITHOUT_AZURE = ClearWithout(
    (ActivityLog, NodeActivityLog, AgentPools, ScaleSets),
    "what is unwell is read from the cluster; Azure's errors only tell which pods that are well are kept besides",
)
"""For every question about workloads: they hang on Azure only through what else is kept of the pods."""
MOST_NAMED = 5
"""On a phone nobody reads a sixth; what they have in common is the cause."""


def harmed(owner: str, pods: Sequence[WorkloadPod], calls: Calls | Unavailable) -> tuple[str, ...]:
    """The workload, its pods, and everything that calls it."""
    others = calls.harmed_by(owner) if isinstance(calls, Calls) else (owner,)
    return (*others, *(pod.subject for pod in pods))


def workload_facts(owner: str, pods: Sequence[WorkloadPod] = (), container: str = "") -> dict[str, object]:
    """What every page fills in: `shop/Deployment/web` as kubectl takes it."""
    namespace, _, workload = owner.partition("/")
    return {
        "namespace": namespace,
        "workload": workload,
        "pod": pods[0].name if pods else "",
        "pods": [pod.name for pod in pods],
        "container": container,
    }


def facts_of(symptom: Symptom) -> dict[str, object]:
    return workload_facts(symptom.owner, symptom.pods, symptom.container.name if symptom.container else "")


def named(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first few, each with its name; the last of them counts the rest."""
    found = iter(findings)
    first = list(islice(found, MOST_NAMED))
    rest = [finding.subject for finding in found]
    if rest:
        affects = tuple(dict.fromkeys((*first[-1].affects, *rest)))
        told = f"{len(rest)} more workloads have the same problem"
        first[-1] = replace(first[-1], because=(*first[-1].because, told), affects=affects)
    yield from first


def tail_of(symptom: Symptom, tails: LogTails | Unavailable | NotApplicable) -> Tail | None:
    """The last lines of a symptom's own container."""
    if not isinstance(tails, LogTails) or not symptom.container:
        return None
    return next((tail for tail in tails.of(symptom.owner) if tail.container == symptom.container.name), None)


def pods_of(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"

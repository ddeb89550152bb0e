"""What the writer may do inside the cluster: asked of the cluster itself, over the way that a fix would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handlers.clients.kube.permission_reader import WriterKubePermissionReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.budgets import Budgets
from handlers.evidence.cluster import Pods
from handlers.evidence.gather import each
from handlers.model import Evidence, NotApplicable, Unavailable

PROBED_IN = "default"
"""Where the probe pod runs: where the service `kubernetes` is, and where a team's own policies hold."""
EVERYWHERE = ""
ACTS = (
    "get poddisruptionbudgets.policy",
    "patch poddisruptionbudgets.policy",
    "get pods",
    "delete pods",
)
PROBING = ("create pods", "get pods/log")
MOST_NAMESPACES = 20
"""A writer that may act in a few namespaces only is asked about those that are in trouble."""

Act = tuple[str, str]
"""(`delete pods`, the namespace, or EVERYWHERE)."""


@dataclass(frozen=True, kw_only=True)
class WriterMayInside(Evidence):
    """What the identity that carries out fixes is allowed to do inside the cluster."""

    answers: Mapping[Act, bool]

    def do(self, act: str, namespace: str) -> bool | None:
        """Whether it may; None where that is not known."""
        return self.answers.get((act, EVERYWHERE)) or self.answers.get((act, namespace))


@collector(reads=("Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",))
async def writer_may_inside(
    cluster: ManagedCluster,
    budgets: Budgets | Unavailable | NotApplicable,
    pods: Pods | Unavailable | NotApplicable,
    writer_permissions: WriterKubePermissionReader,
) -> WriterMayInside | NotApplicable:
    """what the writer may do inside the cluster"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing can be done inside")
    wanted = [(act, EVERYWHERE) for act in ACTS] + [(act, PROBED_IN) for act in (*ACTS, *PROBING)]
    answers = await _of(writer_permissions, wanted)
    refused = [act for act in ACTS if not answers.get((act, EVERYWHERE))]
    answers |= await _of(
        writer_permissions, [(act, namespace) for act in refused for namespace in _in_trouble(budgets, pods)]
    )
    source = "the writer's own kubectl auth can-i"
    return WriterMayInside(source=source, taken_at=cluster.taken_at, answers=answers)


async def _of(writer_permissions: WriterKubePermissionReader, acts: Sequence[Act]) -> dict[Act, bool]:
    async def may(act: Act) -> tuple[Act, bool]:
        verb, _, what = act[0].partition(" ")
        resource, _, group = what.partition(".")
        return act, await writer_permissions.may(verb, resource, group, act[1])

    # A review that failed is none: its act stays unasked, and that is a doubt.
    answers, _ = await each(tuple(dict.fromkeys(acts)), may)
    return dict(answers)


def _in_trouble(
    budgets: Budgets | Unavailable | NotApplicable, pods: Pods | Unavailable | NotApplicable
) -> tuple[str, ...]:
    found = (
        [budget.namespace for budget in budgets.budgets if not budget.allowed] if isinstance(budgets, Budgets) else []
    )
    if isinstance(pods, Pods):
        found += [pod.namespace for pod in pods.pods if pod.deleting or pod.phase == "Unknown"]
    return tuple(dict.fromkeys(found))[:MOST_NAMESPACES]

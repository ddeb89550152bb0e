"""The cluster's PodDisruptionBudgets, and which pods they hold, as Kubernetes' eviction reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Pod
from handlers.evidence.wire import dig, need_text, number, rows, text, texts
from handlers.model import Evidence, NotApplicable

RELAXED_FROM = "aksbot.dev/relaxed-from"
"""The annotation in which a relaxed budget keeps what it was."""
_TOOLS = {
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "argocd.argoproj.io/instance": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """One PodDisruptionBudget."""

    namespace: str
    name: str
    selector: Mapping[str, Any] | None
    """None selects nothing, an empty one everything."""
    min_available: str
    max_unavailable: str
    allowed: int
    healthy: int
    desired: int
    expected: int
    lets_unhealthy_go: bool
    owner: str
    uid: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Its whole spec, as it is; what came through run-command has no uid, and perhaps not all of it."""
    relaxed: bool = False
    """A fix has relaxed it, and has not restored it."""

    @property
    def subject(self) -> str:
        return f"{self.namespace}/PodDisruptionBudget/{self.name}"

    @property
    def never_allows(self) -> bool:
        """Its rule leaves no room even when all of its pods are well."""
        return self.desired >= self.expected

    def covers(self, pod: Pod) -> bool:
        return self.selector is not None and pod.namespace == self.namespace and matches(self.selector, pod.labels)

    def holds(self, pod: Pod) -> bool:
        """Whether it forbids that this pod is evicted now. An unhealthy pod may go while enough others are well."""
        if self.allowed or not self.expected or not pod.budgeted or not self.covers(pod):
            return False
        return pod.ready or not (self.lets_unhealthy_go or self.healthy >= self.desired > 0)


@dataclass(frozen=True, kw_only=True)
class Budgets(Evidence):
    """The cluster's PodDisruptionBudgets."""

    budgets: tuple[Budget, ...]


@collector(reads=(), sees=("list poddisruptionbudgets.policy",))
async def budgets(cluster: ManagedCluster, kube: KubeReader) -> Budgets | NotApplicable:
    """the disruption budgets"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing is drained")
    listing = await kube.list("/apis/policy/v1/poddisruptionbudgets", read_budget)
    return Budgets(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, budgets=listing.items)


def read_budget(body: Mapping[str, Any]) -> Budget:
    """A disruption budget from its wire body."""
    owner = next(iter(rows(body, "metadata", "ownerReferences")), {})
    return Budget(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        selector=dig(body, "spec", "selector"),
        min_available=_limit(body, "minAvailable"),
        max_unavailable=_limit(body, "maxUnavailable"),
        allowed=number(body, "status", "disruptionsAllowed"),
        healthy=number(body, "status", "currentHealthy"),
        desired=number(body, "status", "desiredHealthy"),
        expected=number(body, "status", "expectedPods"),
        lets_unhealthy_go=text(body, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow",
        owner=f"{text(owner, 'kind')} {text(owner, 'name')}" if owner else _tool(body),
        uid=text(body, "metadata", "uid"),
        spec=dict(dig(body, "spec") or {}),
        relaxed=bool(text(body, "metadata", "annotations", RELAXED_FROM)),
    )


def _tool(body: Mapping[str, Any]) -> str:
    """What keeps it as it is, by the marks that such tools leave."""
    marks = {*(dig(body, "metadata", "labels") or {}), *(dig(body, "metadata", "annotations") or {})}
    known = next((tool for mark, tool in _TOOLS.items() if mark in marks), "")
    return known or text(body, "metadata", "labels", "app.kubernetes.io/managed-by")


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector (both forms of it) takes these labels. An empty one takes everything."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_agrees(rule, labels) for rule in selector.get("matchExpressions") or [])


def _agrees(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = text(rule, "key"), texts(rule, "values")
    present = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return present.get(text(rule, "operator"), False)


def _limit(body: Mapping[str, Any], name: str) -> str:
    value = dig(body, "spec", name)
    return "" if value is None else str(value)

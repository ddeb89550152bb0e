"""Which diagnostics may say "clear" although something they look at could not be seen, and why that is still proof.

What stands in no table may not: a diagnostic that is touched by a loss, also through evidence it only asks for where
there is some, ends inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping

from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPools
from handlers.evidence.budgets import Budgets
from handlers.evidence.cluster import NodeLeases, Nodes, Pods
from handlers.evidence.compute import ComputeUsages, Instances, ScaleSets, VmSizes
from handlers.evidence.governance import Locks, Policies, PolicyStates, RoleAssignments
from handlers.evidence.monitor import ActivityLog, DiagnosticSettings, NodeActivityLog, ResourceHealth
from handlers.evidence.network import NodeClasses, PoolSubnets
from handlers.evidence.providers import ProviderRegistrations
from handlers.evidence.service_health import ServiceIssues
from handlers.model import Diagnosis, Evidence, Outcome
from tests.checking import touched

Lost = frozenset[type[Evidence]]
Acquittals = Mapping[str, tuple[Lost, str]]
"""Diagnostic → (what may be missing, why its other evidence still proves that nothing is wrong)."""

_LOGS: Lost = frozenset({ActivityLog, NodeActivityLog})

CLEAR_WITHOUT: Acquittals = {
    "api-server-unavailable": (
        frozenset({Nodes, ResourceHealth, ServiceIssues}),
        "`/readyz` itself says that it is ready; nodes and Azure's own word only count where it is out of reach",
    ),
    "cluster-failed": (
        _LOGS | {ServiceIssues},
        "the cluster's own state says that it has not failed; logs only tell why it did",
    ),
    "cluster-failed-infra": (
        _LOGS
        | {ScaleSets, Instances, ComputeUsages, VmSizes, PoolSubnets, Locks, ProviderRegistrations}
        | {Nodes, Pods, Budgets, AutoscalerStatus, NodeClaims, NodeClasses},
        "the cluster's own state says that it has not failed; the rest only tells whether something else is the cause",
    ),
    "nodepool-failed": (
        _LOGS
        | {
            ScaleSets,
            Instances,
            DiagnosticSettings,
            ComputeUsages,
            VmSizes,
            Policies,
            PolicyStates,
            RoleAssignments,
            Locks,
        },
        "the pools' own states say that none has failed; the other steps only tell why one did",
    ),
    "node-vm-failed": (frozenset({Nodes}), "the machines' own states prove it; nodes only tell how loud it is"),
    "node-not-ready": (
        frozenset({ScaleSets, Instances, NodeLeases}),
        "every node says itself that it is Ready; machines and leases only tell why one is not",
    ),
    "kube-system-not-running": (
        _LOGS | {AgentPools, ScaleSets},
        "every pod of kube-system is read; pools and errors only tell which other pods are kept",
    ),
    "node-cannot-reach-api-server": (
        _LOGS | {AgentPools, ScaleSets, Nodes, Pods},
        "the service and its endpoints prove it; nodes and pods only tell what follows from a broken one",
    ),
    "upgrade-half-done": (
        _LOGS | {ScaleSets},
        "versions, cordons and surplus nodes are seen; errors only tell that a failed pool has another reason",
    ),
    "subscription-not-registered": (
        _LOGS | {ScaleSets},
        "every provider's own state says that it is registered; errors only tell whom a missing one has hit",
    ),
    "quota-exceeded": (
        frozenset({AutoscalerStatus}),
        "where every autoscaled pool may grow to its limit, no quota can have stopped the autoscaler",
    ),
    "subnet-full": (_LOGS, "the addresses are counted, and are enough; errors only tell whom a full subnet has hit"),
}

CLEAR_IN_HEALTH: Acquittals = {
    "resource-lock": (
        _LOGS | {ScaleSets, PoolSubnets, NodeClasses},
        "no lock holds anything of the cluster: no error can blame one, and none of them a route table",
    ),
    "drain-error": (_LOGS | {ScaleSets}, "no pool is upgrading or has failed: nothing is to be drained"),
}
"""Where nothing has failed, nobody has anything to complain about; these hold only there."""


def wrongly_clear(diagnosis: Diagnosis, lost: Lost, *tables: Acquittals) -> dict[str, set[str]]:
    """Diagnostics that are clear, and what they did not see."""
    found = {}
    for one in diagnosis.checks:
        excused = frozenset[type[Evidence]]().union(*(table[one.id][0] for table in tables if one.id in table))
        blind = {kind.__name__ for kind in lost - excused if one.id in touched({kind})}
        if blind and one.outcome is Outcome.CLEAR:
            found[one.id] = blind
    return found

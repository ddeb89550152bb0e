"""Handmade diagnoses and a small runbook library."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from handlers.diagnose.provisioning_in_progress import NOTHING_RUNS
from handlers.model import (
    Check,
    Diagnosis,
    Finding,
    Outcome,
    Ranked,
    Severity,
    Target,
    Unavailable,
    Why,
)
from handlers.resource_id import ResourceId
from runbooks.library import Library, Runbook

SUBSCRIPTION = "/subscriptions/8f2f0c9e-4c1d-4b57-9a55-2d1f6f0e7a10"
CLUSTER = f"{SUBSCRIPTION}/resourcegroups/rg-prod-weu/providers/Microsoft.ContainerService/managedClusters/prod-weu"
POOL = f"{CLUSTER}/agentPools/apps"
USAGE = f"{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westeurope/usages/standardDSv5Family"
LOCK = f"{SUBSCRIPTION}/resourceGroups/MC_rg-prod-weu_prod-weu_westeurope/providers/Microsoft.Authorization/locks/keep"
TARGET = Target(ResourceId.parse(CLUSTER))

FIRST_LINES = """\
effect: >-
  `{{ cluster }}` cannot add nodes to pool `{{ pool }}`: vCPU quota {{ family }} is full
  ({{ used }} of {{ limit }} used)
do: "Ask for {{ new_limit }} (now {{ limit }}){% if idle %}, or scale down {{ idle[0] }}{% endif %}"
"""
FINE = {"provisioning-in-progress": NOTHING_RUNS}

QUOTA_RUNBOOK = """\
---
code: quota-exceeded
title: The core quota of a VM family, a region or spot is used up
severity: error
FIRST_LINES
explains: [nodepool-failed, cluster-failed]
symptoms:
  codes: [QuotaExceeded, ErrCode_InsufficientVCPUQuota]
  patterns:
    - pattern: "(?i)exceeding approved .{0,60} quota"
      source: "a recorded deployment"
  words: ["out of quota", "core quota"]
remedies: []
sources: ["seed"]
reviewed: 2026-11-18
---

## What it means
Azure counts the cores of each VM family in a region. `{{ family }}` has none left.

## Check it yourself
```sh
az vm list-usage --location {{ location }} --output table
```

## Fix
1. Ask for a limit of **{{ new_limit }}** (now {{ limit }}), which leaves room for the surge nodes of pool {{ pool }}
   during an upgrade. See [how to ask](https://learn.microsoft.com/azure/quotas/per-vm-quota-requests).
2. When there is room, let the pool try again:

   ```sh
   az resource update --ids {{ pool_id }} --subscription {{ subscription }}
   ```
{% if idle %}

These pools are idle and hold cores of the same family:

{% for one in idle %}
- {{ one }}
{% endfor %}
{% endif %}

## Not this, if
- the error names a subnet or a policy.
""".replace("FIRST_LINES\n", FIRST_LINES)


@cache
def library() -> Library:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quota-exceeded.md"
        path.write_text(QUOTA_RUNBOOK, encoding="utf-8")
        return Library([Runbook.read(path)])


@cache
def wider_library() -> Library:
    """A library with more runbooks that no check here covers: two for AKS, one for another kind, and a guide."""
    others = {"memory-saturation": "aks", "vnet-blocked": "aks", "network-failed": "hybrid", "support-packet": "guide"}
    with tempfile.TemporaryDirectory() as folder:
        for code, kind in others.items():
            text = QUOTA_RUNBOOK.replace("code: quota-exceeded\n", f"code: {code}\nkind: {kind}\n")
            Path(folder, f"{code}.md").write_text(text, encoding="utf-8")
        read = [Runbook.read(path) for path in Path(folder).glob("*.md")]
    return Library([*library().values(), *read])


def check(
    name: str, outcome: Outcome, why: str = "", *findings: Finding, unseen: tuple[Unavailable, ...] = ()
) -> Check:
    return Check(name, (name,), outcome, why, 0.4, findings, unseen)


def found() -> Diagnosis:
    """A quota problem as root cause with two consequences, and one missing piece of evidence."""
    quota = Finding(
        "quota-exceeded",
        USAGE,
        because=(
            "standardDSv5Family in westeurope: 98 of 100 cores are used",
            "pool apps needs 8 more (1 surge node of Standard_D8s_v5), 2 are left",
            "the upgrade of pool apps failed 35 minutes ago with ErrCode_InsufficientVCPUQuota",
        ),
        affects=(POOL,),
        facts={
            "family": "standardDSv5Family",
            "location": "westeurope",
            "used": 98,
            "limit": 100,
            "new_limit": 106,
            "pool": "apps",
            "pool_id": POOL,
            "subscription": SUBSCRIPTION.rsplit("/", 1)[-1],
            "idle": ["batch (2 nodes, 16 cores)"],
        },
    )
    told = "Azure said: ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested 8, remaining 2"
    pool = Finding("nodepool-failed", POOL, because=("pool apps is Failed", told, "• 1 node pool: Failed"))
    other = "Internal server error: the load balancer's outbound rule refers to an address that does not exist any more"
    cluster = Finding(
        "cluster-failed",
        CLUSTER,
        because=(
            "provisioningState is Failed",
            "managedClusters/write failed at 2026-11-18 02:31 UTC",
            f"error: {other} in the resource group of the nodes, and nothing can be changed until it does",
        ),
        facts={"message": other},
    )
    denied = Unavailable(
        "resource locks",
        Why.DENIED,
        "403 AuthorizationFailed: the client does not have authorization to perform this action",
        "Microsoft.Authorization/locks/read",
    )
    return Diagnosis(
        TARGET,
        (
            Ranked(quota),
            Ranked(pool, (("quota-exceeded", USAGE),)),
            Ranked(cluster, (("quota-exceeded", USAGE), ("nodepool-failed", POOL))),
        ),
        (
            check("cluster-failed", Outcome.FOUND, "provisioningState is Failed", cluster),
            check("nodepool-failed", Outcome.FOUND, "provisioningState is Failed", pool),
            check("provisioning-in-progress", Outcome.CLEAR, NOTHING_RUNS),
            check("quota-exceeded", Outcome.FOUND, quota.because[0], quota),
            check("resource-lock", Outcome.INCONCLUSIVE, str(denied), unseen=(denied,)),
            check("subnet-full", Outcome.CLEAR, "81 addresses are free"),
        ),
        (denied,),
        1402.0,
    )


def clear() -> Diagnosis:
    names = (
        "cluster-failed",
        "nodepool-failed",
        "provisioning-in-progress",
        "quota-exceeded",
        "resource-lock",
        "subnet-full",
    )
    return Diagnosis(TARGET, (), tuple(check(name, Outcome.CLEAR, FINE.get(name, "fine")) for name in names), (), 911.0)


def clear_in_network() -> Diagnosis:
    """Only one area was checked."""
    names = ("node-cannot-reach-api-server", "private-cluster-unreachable", "subnet-full")
    return replace(clear(), checks=tuple(check(name, Outcome.CLEAR, "fine") for name in names))


def clear_for_one_code() -> Diagnosis:
    return replace(clear(), checks=(check("cluster-failed", Outcome.CLEAR, "Succeeded"),))


def open_in_network() -> Diagnosis:
    late = Unavailable("subnets", Why.TIMEOUT, "no answer within 8 s")
    looked, *rest = clear_in_network().checks
    checks = (looked, *(replace(one, outcome=Outcome.INCONCLUSIVE, why=str(late), unseen=(late,)) for one in rest))
    return replace(clear(), checks=checks, unseen=(late,))


def blind() -> Diagnosis:
    """Mostly missing evidence: two gaps with the same reason, one timeout, one broken check."""
    denied = [
        Unavailable(wanted, Why.DENIED, "403 AuthorizationFailed", "Microsoft.Compute/virtualMachineScaleSets/read")
        for wanted in ("scale sets", "instances")
    ]
    late = Unavailable("activity log", Why.TIMEOUT, "no answer within 8 s")
    return Diagnosis(
        TARGET,
        (),
        (
            check("cluster-failed", Outcome.INCONCLUSIVE, str(late), unseen=(late,)),
            check("nodepool-failed", Outcome.INCONCLUSIVE, str(denied[0]), unseen=tuple(denied)),
            check("quota-exceeded", Outcome.CRASHED, "a fault in this check: KeyError: 'limit'"),
            check("resource-lock", Outcome.CLEAR, "no lock at any scope"),
            check("subnet-full", Outcome.INCONCLUSIVE, "only a part could be read of GET /subscriptions/x/subnets"),
        ),
        (*denied, late),
        8210.0,
    )


def warned() -> Diagnosis:
    lock = Finding(
        "resource-lock", LOCK, because=("a ReadOnly lock stands on the node resource group",), severity=Severity.WARNING
    )
    return Diagnosis(TARGET, (Ranked(lock),), (check("resource-lock", Outcome.FOUND, "locked", lock),), (), 700.0)


def beside() -> Diagnosis:
    """A kind of cluster without any diagnostics."""
    arc = f"{SUBSCRIPTION}/resourceGroups/rg-edge/providers/Microsoft.Kubernetes/connectedClusters/edge-nexus-01"
    return _beside(Target(ResourceId.parse(arc)), "cluster-failed", "quota-exceeded")


def beside_the_point() -> Diagnosis:
    """A known kind of cluster, and diagnostics that do not apply to this one."""
    return _beside(TARGET, "cluster-failed", "subnet-full")


def _beside(target: Target, *names: str) -> Diagnosis:
    checks = tuple(check(name, Outcome.NOT_APPLICABLE, "not here") for name in names)
    return Diagnosis(target, (), checks, (), 120.0)


def walked() -> Diagnosis:
    """A failed pool without explanation: the seven places of its walk, each with a different mark."""
    pool = Finding(
        "nodepool-failed",
        POOL,
        because=(
            "pool apps (User, 4 × Standard_D8s_v5) is Failed",
            "Azure said: ZonalAllocationFailed: We do not have sufficient capacity for the requested size in this zone",
            "• 1 node pool: Failed, asked for 1.34, runs 1.33.6",
            "✗ 2 scale set: aks-apps-24434215-vmss is Failed, capacity 4",
            "✓ 3 instances: 4 of 4 exist, 0 failed",
            "✗ 4 activity log: failed writes: ZonalAllocationFailed; no diagnostic setting",
            "✓ 5 quota, capacity: Standard DSv5 Family vCPUs 44/100; Total Regional vCPUs 160/200",
            "? 6 policies, roles: could not look: the policy states: denied, 403 AuthorizationFailed",
            "– 7 locks: none on the cluster or its node resource group",
        ),
    )
    return Diagnosis(TARGET, (Ranked(pool),), (check("nodepool-failed", Outcome.FOUND, "failed", pool),), (), 640.0)

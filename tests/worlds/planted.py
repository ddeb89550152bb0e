"""Causes that are added to a healthy cluster. None of them is evidence of a failure by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from sandbox.blueprint.sizes import SIZES
from tests.worlds.build import Cluster
from tests.worlds.governance import lock
from tests.worlds.ids import Body, stamp
from tests.worlds.inside import Work, budget, pod_body
from tests.worlds.network import RESERVED
from tests.worlds.network import SIZES as SUBNETS
from tests.worlds.past import Scribe
from tests.worlds.pools import Pool

Plant = Callable[[Cluster, Pool], None]
FAILED = timedelta(hours=3)
"""How long ago the operation failed; locks are older or newer than that."""
LOCK_WRITE = "Microsoft.Authorization/locks/write"


def _full_quota(cluster: Cluster, pool: Pool) -> None:
    rows = cluster.azure.tables[cluster.ids.usages.lower()]
    family = SIZES[pool.size].family
    for row in rows:
        if row["name"]["value"] == family:
            row["limit"] = row["currentValue"]


def _full_subnet(cluster: Cluster, _: Pool) -> None:
    properties = cluster.resource(cluster.ids.subnet("nodes"))["properties"]
    properties["ipConfigurations"] = [{"id": f"/address/{at}"} for at in range(SUBNETS["nodes"] - RESERVED)]


def _set_lock(cluster: Cluster, scope: str, level: str, ago: timedelta) -> None:
    body = lock(scope, level, "keep", ago)
    cluster.azure.put(body)
    if "/resourceGroups/" in scope:  # subscription-level events are in no resource group's log
        scribe = Scribe(cluster.ids)
        scribe.ran(LOCK_WRITE, body["id"], ago)
        cluster.azure.events += scribe.events


def _old_lock(cluster: Cluster, _: Pool) -> None:
    _set_lock(cluster, cluster.ids.node_group_id, "CanNotDelete", timedelta(days=2))


def _new_lock(cluster: Cluster, _: Pool) -> None:
    """A lock set after the failure, perhaps to keep others away."""
    _set_lock(cluster, cluster.ids.node_group_id, "CanNotDelete", timedelta(hours=1))


def _inherited_lock(cluster: Cluster, _: Pool) -> None:
    _set_lock(cluster, f"/subscriptions/{cluster.ids.subscription}", "ReadOnly", timedelta(days=40))


def _not_registered(cluster: Cluster, _: Pool) -> None:
    provider = f"/subscriptions/{cluster.ids.subscription}/providers/Microsoft.Storage"
    cluster.resource(provider)["registrationState"] = "NotRegistered"


def _holding_budget(cluster: Cluster, pool: Pool) -> None:
    """A budget that never allows eviction, with its pod on the node that the upgrade is draining."""
    work = Work("ledger", replicas=1)
    owner = ("StatefulSet", "ledger")
    cluster.kube.put(pod_body("ledger-0", "shop", pool.machines[0].node, owner, work.selector))
    cluster.kube.put(budget(work, 1, {"minAvailable": 1}, 0))
    cordon(cluster, pool.machines[0].node)


def cordon(cluster: Cluster, node: str) -> None:
    """Cordon a node, like `kubectl cordon`."""
    body = cluster.kube.find("nodes", node)
    assert body is not None
    taint: Body = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": stamp(FAILED)}
    cluster.kube.put({**body, "spec": {**body["spec"], "unschedulable": True, "taints": [taint]}})


def _cordon_by_hand(cluster: Cluster, pool: Pool) -> None:
    cordon(cluster, pool.machines[-1].node)


def _failed_machine(cluster: Cluster, pool: Pool) -> None:
    properties = cluster.resource(pool.machines[-1].id)["properties"]
    properties["provisioningState"] = "Failed"
    said = {
        "code": "ProvisioningState/failed/InternalExecutionError",
        "level": "Error",
        "message": "An internal error.",
    }
    properties["instanceView"] = {**properties["instanceView"], "statuses": [said, {"code": "PowerState/running"}]}


def _no_coredns(cluster: Cluster, pool: Pool) -> None:
    """Both pods of CoreDNS crash."""
    for body in list(cluster.kube.every("pods", "kube-system")):
        if body["metadata"]["name"].startswith("coredns-") and "autoscaler" not in body["metadata"]["name"]:
            told = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
            status = {**body["status"], "conditions": [_not_ready()]}
            [container] = status["containerStatuses"]
            status["containerStatuses"] = [{**container, "ready": False, "restartCount": 40, "state": told}]
            cluster.kube.put({**body, "status": status})


def _not_ready() -> Body:
    return {"type": "Ready", "status": "False", "lastTransitionTime": stamp(timedelta(hours=2))}


CAUSES: Mapping[str, tuple[str, Plant]] = {
    "full-quota": ("quota-exceeded", _full_quota),
    "full-subnet": ("subnet-full", _full_subnet),
    "old-lock": ("resource-lock", _old_lock),
    "new-lock": ("resource-lock", _new_lock),
    "inherited-lock": ("resource-lock", _inherited_lock),
    "not-registered": ("subscription-not-registered", _not_registered),
    "holding-budget": ("pdb-blocks-drain", _holding_budget),
    "cordon-by-hand": ("upgrade-half-done", _cordon_by_hand),
    "failed-machine": ("node-vm-failed", _failed_machine),
    "no-coredns": ("kube-system-not-running", _no_coredns),
}
"""Each with the code of its expected finding."""
NEVER_EXPLAIN = {
    "full-quota": "quota-exceeded",
    "full-subnet": "subnet-full",
    "new-lock": "resource-lock",
    "cordon-by-hand": "upgrade-half-done",
    "no-coredns": "kube-system-not-running",
}
"""Causes that explain a failure only if Azure names them: it is unknown since when a
quota is full; the others are newer, intentional or unrelated."""
OBSERVED = {"old-lock": "resource-lock", "inherited-lock": "resource-lock"}
"""Causes that block any operation and predate this one: if Azure names none, they explain the failure."""

"""The managed clusters that Azure Service Operator waits for, as Azure has them now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.aso.resources import AsoResource, AsoResources
from handlers.evidence.azure import MANAGED_CLUSTER, ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.wire import need_text
from handlers.model import Evidence, NotApplicable
from handlers.resource_id import BadResourceId, ResourceId, same

BLOCKED = "ReconciliationBlocked"
GROUP = "containerservice.azure.com"
_BELOW = 9
"""How many parts the id of a managed cluster has; what stands behind them is below it."""


@dataclass(frozen=True, kw_only=True)
class AsoClusterStates(Evidence):
    """The provisioning states of the managed clusters that are said to be busy, by their ids in lower case."""

    states: Mapping[str, str]


@collector(reads=("Microsoft.ContainerService/managedClusters/read",))
async def aso_cluster_states(
    resources: AsoResources, cluster: ManagedCluster, arm: ArmReader
) -> AsoClusterStates | NotApplicable:
    """the managed clusters that Azure Service Operator waits for"""
    awaited = [found for one in resources.resources if (found := awaited_cluster(one, resources))]
    if not awaited:
        return NotApplicable("Azure Service Operator waits for no managed cluster")

    async def state_of(which: ResourceId) -> tuple[str, str]:
        if same(str(which), cluster.id):
            return which.key, cluster.state
        return which.key, need_text((await arm.managed_cluster(which)).body, "properties", "provisioningState")

    states, gaps = await each([*{one.key: one for one in awaited}.values()], state_of)
    return AsoClusterStates(
        source=", ".join(dict.fromkeys(map(str, awaited))), taken_at=cluster.taken_at, gaps=gaps, states=dict(states)
    )


def awaited_cluster(resource: AsoResource, resources: AsoResources) -> ResourceId | None:
    """The managed cluster in Azure that keeps a resource from being reconciled; None where it is nothing of AKS's."""
    ready = resource.ready
    if resource.kind.group != GROUP or ready is None or ready.reason != BLOCKED or ready.status == "True":
        return None
    owner = resources.owner_of(resource)
    ids = (resource.arm_id, resource.owner.arm_id if resource.owner else "", owner.arm_id if owner else "")
    return next((found for one in ids if (found := _cluster_in(one))), None)


def _cluster_in(text: str) -> ResourceId | None:
    try:
        found = ResourceId.parse("/".join(text.split("/")[:_BELOW]))
    except BadResourceId:
        return None
    return found if found.is_a(MANAGED_CLUSTER) else None

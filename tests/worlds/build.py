"""Builds one generated cluster as a sandbox world."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from handlers.model import Target
from handlers.resource_id import ResourceId
from sandbox.blueprint.usage import network_usages
from sandbox.kube.world import KubeWorld
from sandbox.world import Principal, World
from tests.worlds.cluster import cluster_body
from tests.worlds.governance import governance_bodies, subscription_bodies
from tests.worlds.ids import LOCATION, NOW, TENANT, VERSION, Body, Ids, guid
from tests.worlds.inside import object_bodies
from tests.worlds.machines import compute_bodies, sku_table, usage_rows
from tests.worlds.network import network_bodies, required_endpoints
from tests.worlds.nodes import node_bodies
from tests.worlds.past import history
from tests.worlds.pools import Machine, Pool, auto_machines, pool_body, pools_of
from tests.worlds.shape import Shape

READER = Principal("reader", "reader", "", "", ("*",))


@dataclass(frozen=True)
class Cluster:
    """One generated cluster: its shape, its parts, and its world."""

    shape: Shape
    ids: Ids
    pools: tuple[Pool, ...]
    auto: tuple[Machine, ...]
    azure: World
    kube: KubeWorld

    @property
    def target(self) -> Target:
        return Target(ResourceId.parse(self.ids.cluster), NOW)

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        return (*(one for pool in self.pools for one in pool.machines), *self.auto)

    def resource(self, resource_id: str) -> Body:
        """A stored resource body, for tests to modify."""
        return self.azure.resources[resource_id.lower()]


def build(shape: Shape) -> Cluster:
    """Build the cluster for a shape; deterministic."""
    ids = Ids(shape)
    pools, auto = pools_of(ids), auto_machines(ids)
    azure = World(tenant_id=TENANT, principals=[READER])
    bodies = [
        *subscription_bodies(ids),
        cluster_body(ids),
        *(pool_body(one) for one in pools),
        *compute_bodies(ids, pools, auto),
        *network_bodies(ids, pools, auto),
        *governance_bodies(ids),
    ]
    azure.resources.update((body["id"].lower(), body) for body in bodies)
    profiles = [{"name": body["name"], **body["properties"]} for body in map(pool_body, pools)]
    azure.resources[ids.cluster.lower()]["properties"]["agentPoolProfiles"] = profiles
    azure.tables[ids.usages.lower()] = usage_rows(ids, pools, auto)
    network = f"/subscriptions/{ids.subscription}/providers/Microsoft.Network/locations/{LOCATION}"
    azure.tables[f"{network}/usages".lower()] = network_usages(network, {}, {})
    azure.tables[f"/subscriptions/{ids.subscription}/providers/Microsoft.Compute/skus".lower()] = sku_table()
    azure.tables[f"{ids.cluster}/outboundNetworkDependenciesEndpoints".lower()] = required_endpoints(ids)
    azure.events = history(ids, pools)
    if "broken-audit-policy" in shape.guards:
        azure.policy_states = [_broken_policy(ids)]
    machines = (*(one for pool in pools for one in pool.machines), *auto)
    objects = () if shape.stopped else (*node_bodies(ids, machines), *object_bodies(ids, machines))
    kube = KubeWorld.of(objects, version=f"v{VERSION}", clock=lambda: NOW)
    return Cluster(shape, ids, pools, auto, azure, kube)


def _broken_policy(ids: Ids) -> Body:
    assignment = f"/subscriptions/{ids.subscription}/providers/Microsoft.Authorization/policyAssignments/audit-tags"
    return {
        "resourceId": f"{ids.node_group_id}/providers/Microsoft.Network/loadBalancers/kubernetes",
        "policyAssignmentId": assignment,
        "policyDefinitionAction": "audit",
        "complianceState": "NonCompliant",
        "resourceLocation": LOCATION,
        "policyAssignmentName": guid("audit"),
    }

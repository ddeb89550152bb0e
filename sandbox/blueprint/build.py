"""Builds the World of a fleet: all of its Azure resources, consistent with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox.blueprint.clock import Clock
from sandbox.blueprint.cluster import cluster_body, pool_body
from sandbox.blueprint.events import Scribe
from sandbox.blueprint.fleet import Fleet, PrincipalSpec, SiteClusterSpec
from sandbox.blueprint.governance import (
    cluster_roles,
    diagnostic_setting,
    lock_body,
    policy_bodies,
    resource_health,
    workspace_body,
)
from sandbox.blueprint.history import history
from sandbox.blueprint.hybrid import bridge_bodies, hybrid_bodies, nexus_bodies
from sandbox.blueprint.inside.objects import kube_world
from sandbox.blueprint.inside.on_site import site_world
from sandbox.blueprint.lone_machines import AutoMachines, AvailabilitySetMachines, LoneMachines
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.network import Networks
from sandbox.blueprint.node_group import NodeGroup, identity_body, route_table_body
from sandbox.blueprint.node_model import Machine, NodeModel
from sandbox.blueprint.places import Places, group_id
from sandbox.blueprint.private_dns import private_dns_bodies
from sandbox.blueprint.required_endpoints import required_endpoints
from sandbox.blueprint.scale_set import ScaleSetMachines
from sandbox.blueprint.site_places import NexusPlaces, connected_id
from sandbox.blueprint.sizes import sku_rows
from sandbox.blueprint.subscription import group_body, subscription_bodies
from sandbox.blueprint.usage import compute_usages, network_usages
from sandbox.world import Principal, World

_COUNTED = {
    "microsoft.network/virtualnetworks": ("VirtualNetworks",),
    "microsoft.network/publicipaddresses": (
        "PublicIPAddresses",
        "StaticPublicIPAddresses",
        "StandardSkuPublicIpAddresses",
    ),
    "microsoft.network/loadbalancers": ("LoadBalancers", "StandardSkuLoadBalancers"),
    "microsoft.network/networksecuritygroups": ("NetworkSecurityGroups",),
    "microsoft.network/routetables": ("RouteTables",),
    "microsoft.network/privateendpoints": ("PrivateEndpoints",),
}

_KINDS: dict[str, type[NodeModel]] = {
    "VirtualMachineScaleSets": ScaleSetMachines,
    "VirtualMachines": LoneMachines,
    "AvailabilitySet": AvailabilitySetMachines,
}


@dataclass
class Builder:
    """Builds one World. The steps are in Azure's dependency order."""

    fleet: Fleet
    clock: Clock
    mint: Mint
    world: World = field(init=False)
    networks: Networks = field(init=False)

    def __post_init__(self) -> None:
        self.world = World(tenant_id=self.fleet.tenant)
        self.networks = Networks(self.mint)

    def build(self) -> World:
        self._subscriptions()
        self.networks.bring(self.fleet, self.world)
        for places in self.places():
            self._cluster(places)
        for body in self.networks.bodies():
            self.world.put(body)
        self._hybrid()
        self._governance()
        self._tables()
        return self.world

    def places(self) -> Iterator[Places]:
        for name, spec in self.fleet.clusters.items():
            yield Places(name, spec, self.fleet, self.mint)

    def _subscriptions(self) -> None:
        for body in subscription_bodies(self.fleet):
            self.world.put(body)
        for part in self.fleet.parts():
            self._group(self.fleet.subscriptions[part.subscription].id, part.group, part.location)
        for name, spec in self.fleet.principals.items():
            self.world.principals.append(self._principal(name, spec))

    def _group(self, subscription: str, group: str, location: str) -> None:
        if group_id(subscription, group).lower() not in self.world.resources:
            self.world.put(group_body(subscription, group, location))

    def _principal(self, name: str, spec: PrincipalSpec) -> Principal:
        return Principal(
            name=name,
            client_id=self.mint.guid("principal", name, "client"),
            object_id=self.mint.guid("principal", name, "object"),
            secret=self.mint.hex(32, "principal", name, "secret"),
            actions=tuple(spec.actions),
            not_actions=tuple(spec.not_actions),
        )

    def _cluster(self, places: Places) -> None:
        """One cluster with its node resource group."""
        spec, put = places.spec, self.world.put
        created = self.clock.at(spec.created)
        put(group_body(places.subscription, places.node_group_name, spec.location, managed_by=places.id))
        cluster = cluster_body(places, self.fleet.tenant, created)
        put(cluster)
        if places.own_identity:
            put(identity_body(places, places.own_identity))
        table = self._route_table(places)
        if not spec.network.vnet:
            self.networks.manage(places, table)
        machines = self._machines(places)
        if table:
            put(route_table_body(places, table, [(machine.name, machine.address) for machine in machines]))
        subnet = self.networks.subnets[places.node_subnet]
        for body in NodeGroup(places, subnet, tuple(machine.ip_configuration for machine in machines)).bodies():
            put(body)
        if spec.private:
            for body in private_dns_bodies(places, subnet):
                put(body)
        listed = f"{places.id}/outboundNetworkDependenciesEndpoints".lower()
        self.world.tables[listed] = required_endpoints(places, cluster["properties"]["fqdn"])
        for body in cluster_roles(places, table, created):
            put(body)
        if spec.logs_to:
            workspace = f"{places.group}/providers/Microsoft.OperationalInsights/workspaces/{spec.logs_to}"
            put(workspace_body(places, workspace, created))
            put(diagnostic_setting(places, workspace))
        put(resource_health(places))
        api_server = kube_world(places, self.clock, machines, self.world.principals)
        self.world.kubes[places.id.lower()] = api_server
        self.world.events.extend(history(places, Scribe(self.fleet, self.clock, self.mint)))

    def _route_table(self, places: Places) -> str | None:
        """The route table for kubenet: provided by the owners or created by AKS."""
        if places.spec.network.mode != "kubenet":
            return None
        if places.spec.network.vnet:
            return self.networks.subnets[places.node_subnet].route_table
        name = f"aks-agentpool-{places.suffix}-routetable"
        return f"{places.node_group}/providers/Microsoft.Network/routeTables/{name}"

    def _machines(self, places: Places) -> list[Machine]:
        """Every pool with its VMs."""
        made, subnet = [], self.networks.subnets[places.node_subnet]
        created = self.clock.at(places.spec.created)
        models = [_KINDS[pool.type](places, name, pool, subnet, created) for name, pool in places.spec.pools.items()]
        for name, pool in places.spec.pools.items():
            self.world.put(pool_body(places, name, pool))
        models += [AutoMachines(places, *spec, subnet, created) for spec in places.spec.auto_specs.items()]
        for model in models:
            for body in model.shared():
                self.world.put(body)
            for machine, bodies in model.machines():
                for body in bodies:
                    self.world.put(body)
                made.append(machine)
        return made

    def _hybrid(self) -> None:
        for name, nexus in self.fleet.nexus.items():
            for body in nexus_bodies(name, nexus, self.fleet, self.mint, self.clock.now):
                self.world.put(body)
            self._site_api_server(NexusPlaces(name, nexus, self.fleet).id, name, nexus)
        for name, hybrid in self.fleet.hybrid.items():
            for body in hybrid_bodies(name, hybrid, self.fleet, self.mint, self.clock.now):
                self.world.put(body)
            self._site_api_server(connected_id(self.fleet, name, hybrid), name, hybrid)
        for name, bridge in self.fleet.bridges.items():
            for body in bridge_bodies(name, bridge, self.fleet, self.mint, self.clock.now):
                self.world.put(body)

    def _site_api_server(self, cluster: str, name: str, spec: SiteClusterSpec) -> None:
        if spec.nodes:
            world = site_world(name, spec, self.fleet, self.mint, self.clock, self.world.principals)
            self.world.kubes[cluster.lower()] = world

    def _governance(self) -> None:
        for name, lock in self.fleet.locks.items():
            self.world.put(lock_body(name, lock, self.mint, self.clock.at(lock.set_at)))
        for name, policy in self.fleet.policies.items():
            for body in policy_bodies(name, policy, self.mint, self.clock.at("now-200d")):
                self.world.put(body)

    def _tables(self) -> None:
        """Quota and VM size tables of every region the fleet uses."""
        kinds: Counter[tuple[str, str, str]] = Counter()
        for body in self.world.resources.values():
            for row in _COUNTED.get(str(body.get("type", "")).lower(), ()):
                kinds[body["id"].split("/")[2], body.get("location", ""), row] += 1
        for name, spec in self.fleet.subscriptions.items():
            clusters = [cluster for cluster in self.fleet.clusters.values() if cluster.subscription == name]
            locations = sorted({cluster.location for cluster in clusters})
            root = f"/subscriptions/{spec.id}/providers"
            for location in locations:
                execution = [cluster for cluster in clusters if cluster.location == location]
                pools = [pool for spec in execution for pool in (*spec.pools.values(), *spec.auto_specs.values())]
                quotas = self.fleet.quotas.get(name, {}).get(location, {})
                compute = f"{root}/Microsoft.Compute/locations/{location}"
                self.world.tables[f"{compute}/usages".lower()] = compute_usages(pools, quotas)
                counts = {row: kinds[spec.id, location, row] for row in {row for _, _, row in kinds}}
                network = f"{root}/Microsoft.Network/locations/{location}"
                self.world.tables[f"{network}/usages".lower()] = network_usages(network, counts, quotas)
            self.world.tables[f"{root}/Microsoft.Compute/skus".lower()] = list(sku_rows(locations))

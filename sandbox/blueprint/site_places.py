"""The ids of on-premises resources: Nexus clusters, AKS hybrid clusters, resource bridges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.blueprint.fleet import Fleet, NexusSpec, PlacedSpec
from sandbox.blueprint.places import group_id


def connected_id(fleet: Fleet, name: str, spec: PlacedSpec) -> str:
    return f"{_group(fleet, spec)}/providers/Microsoft.Kubernetes/connectedClusters/{name}"


def instance_id(fleet: Fleet, name: str, spec: PlacedSpec) -> str:
    above = connected_id(fleet, name, spec)
    return f"{above}/providers/Microsoft.HybridContainerService/provisionedClusterInstances/default"


def bridge_id(fleet: Fleet, name: str, spec: PlacedSpec) -> str:
    return f"{_group(fleet, spec)}/providers/Microsoft.ResourceConnector/appliances/{name}"


def bridge_location_id(fleet: Fleet, name: str, spec: PlacedSpec) -> str:
    return f"{_group(fleet, spec)}/providers/Microsoft.ExtendedLocation/customLocations/cl-{name}"


@dataclass(frozen=True)
class NexusPlaces:
    """The ids of one Nexus Kubernetes cluster, its networks and its site."""

    name: str
    spec: NexusSpec
    fleet: Fleet

    @property
    def group(self) -> str:
        return _group(self.fleet, self.spec)

    @property
    def site_name(self) -> str:
        return self.spec.site or f"site-{self.name}"

    @property
    def id(self) -> str:
        return f"{self.group}/providers/Microsoft.NetworkCloud/kubernetesClusters/{self.name}"

    @property
    def connected(self) -> str:
        return connected_id(self.fleet, self.name, self.spec)

    @property
    def custom_location(self) -> str:
        return f"{self.group}/providers/Microsoft.ExtendedLocation/customLocations/{self.site_name}-cstm-loc"

    @property
    def site(self) -> str:
        return f"{self.group}/providers/Microsoft.NetworkCloud/clusters/{self.site_name}"

    @property
    def network(self) -> str:
        return f"{self.group}/providers/Microsoft.NetworkCloud/l3Networks/l3-{self.name}"

    @property
    def services(self) -> str:
        return f"{self.group}/providers/Microsoft.NetworkCloud/cloudServicesNetworks/csn-{self.name}"

    @property
    def domain(self) -> str:
        return f"{self.group}/providers/Microsoft.ManagedNetworkFabric/l3IsolationDomains/l3isd-{self.name}"

    @property
    def internal(self) -> str:
        return f"{self.domain}/internalNetworks/in-{self.name}"

    @property
    def fabric(self) -> str:
        return f"{self.group}/providers/Microsoft.ManagedNetworkFabric/networkFabrics/fabric-{self.site_name}"

    @property
    def controller(self) -> str:
        above = f"{self.group}/providers/Microsoft.ManagedNetworkFabric/networkFabricControllers"
        return f"{above}/controller-{self.site_name}"


def site_variables(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Their variables in scenario files."""
    for name, spec in fleet.nexus.items():
        places = NexusPlaces(name, spec, fleet)
        yield name, places.id
        yield f"{name}.arc", places.connected
        yield f"{name}.group", places.group
        yield f"{name}.custom-location", places.custom_location
        yield f"{name}.site", places.site
        yield f"{name}.l3", places.network
        yield f"{name}.csn", places.services
        yield f"{name}.domain", places.domain
        yield f"{name}.internal", places.internal
    for name, hybrid in fleet.hybrid.items():
        yield name, connected_id(fleet, name, hybrid)
        yield f"{name}.instance", instance_id(fleet, name, hybrid)
    for name, bridge in fleet.bridges.items():
        yield name, bridge_id(fleet, name, bridge)
        yield f"{name}.custom-location", bridge_location_id(fleet, name, bridge)


def _group(fleet: Fleet, spec: PlacedSpec) -> str:
    return group_id(fleet.subscriptions[spec.subscription].id, spec.group)

"""The managed cluster and its node pools, as AKS itself tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.errors import ErrorDetail, innermost
from handlers.evidence.linked import Linked, linked_of_cluster, linked_of_pool
from handlers.evidence.named_resources import Reference, named_by_cluster, named_by_pool, workspaces_of
from handlers.evidence.namespaces import namespaces_of
from handlers.evidence.placement import Placement, read_placement
from handlers.evidence.pool_sizes import SizedNodes, sized_nodes
from handlers.evidence.rolling import Rolling, read_rolling
from handlers.evidence.system_namespaces import ALWAYS_THE_SYSTEMS, KUBE_SYSTEM, system_namespaces_of
from handlers.evidence.wire import dig, need_text, number, text, texts, whole
from handlers.model import Evidence, NotApplicable, Target
from handlers.resource_id import last_name
from handlers.version import meets

MANAGED_CLUSTER = "Microsoft.ContainerService/managedClusters"
SETTLED = frozenset({"succeeded", "failed", "canceled"})
"""The provisioning states in which no operation runs. Every other text means that one does."""
COMING_OR_GOING = frozenset({"creating", "starting", "stopping", "deleting"})


def ended_badly(state: str) -> bool:
    """Whether the last operation failed or was canceled."""
    return state.lower() in ("failed", "canceled")


def still_runs(state: str) -> bool:
    """Whether an operation is running."""
    return state.lower() not in SETTLED


@dataclass(frozen=True, kw_only=True)
class ManagedCluster(Evidence):
    """The cluster resource."""

    id: str
    name: str
    location: str
    state: str
    power: str
    version: str
    current_version: str
    node_group: str
    error: ErrorDetail | None
    identities: tuple[str, ...]
    """Object ids of the control plane's and the kubelet's identity."""
    network: Mapping[str, Any]
    fqdn: str = ""
    private_fqdn: str = ""
    private: bool = False
    private_zone: str = ""
    authorized_ranges: tuple[str, ...] = ()
    api_server_subnet: str = ""
    """The delegated subnet of API server VNet integration. Azure asks for it only in a network of one's own."""
    vnet_integrated: bool = False
    """API server VNet integration: nodes go straight to its private address, without DNS."""
    makes_own_nodes: bool = False
    """Node auto-provisioning: nodes whose machines belong to no pool."""
    etag: str = ""
    own_identities: tuple[str, ...] = ()
    """The user-assigned identities that it is told to use, by id."""
    namespaces: tuple[tuple[str, str], ...] = ()
    """The resource providers that it needs, each with the feature that needs it."""
    linked: tuple[Linked, ...] = ()
    """What Azure asks on the side of whoever sends it again; its pools' come on top."""
    system_namespaces: tuple[str, ...] = (KUBE_SYSTEM,)
    """Where AKS runs pods of its own, as far as the cluster's profile says."""
    kubelet_identity: str = ""
    """Object id; the other identities are the control plane's."""
    proxy: str = ""
    """The HTTP proxy that its nodes leave through, without a path or credentials."""
    node_registry: str = ""
    """A network-isolated cluster: the private registry that its nodes take images and packages from."""
    references: tuple[Reference, ...] = ()
    """The resources that it names and needs; its pools name their own."""
    workspaces: tuple[Reference, ...] = ()
    """The Log Analytics workspaces that it sends to."""

    @property
    def subscription(self) -> str:
        return self.id.split("/")[2]

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    @property
    def all_system_namespaces(self) -> frozenset[str]:
        """Also those whose pods count as the system's although another installed them."""
        return ALWAYS_THE_SYSTEMS.union(self.system_namespaces)

    @property
    def group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.group}"

    @property
    def node_group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.node_group}"

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def control_plane_identities(self) -> tuple[str, ...]:
        """Object ids of those that join nodes to subnets and write DNS records; one identity may be both."""
        return tuple(own for own in self.identities if own != self.kubelet_identity) or self.identities

    @property
    def busy(self) -> bool:
        return still_runs(self.state)

    @property
    def stopped(self) -> bool:
        return self.power.lower() == "stopped"

    @property
    def coming_or_going(self) -> bool:
        """Being made, started, stopped or deleted: what runs inside comes and goes with it."""
        return self.state.lower() in COMING_OR_GOING


@dataclass(frozen=True, kw_only=True)
class NetworkProfile(Evidence):
    """How the cluster gives out addresses."""

    plugin: str
    mode: str
    dataplane: str
    outbound_type: str
    pod_cidr: str
    policy: str = ""
    """What enforces network policies: azure, calico, cilium; none or empty where nothing does."""

    @property
    def pods_use_the_subnet(self) -> bool:
        """Flat Azure CNI: every pod takes an address of the node's subnet."""
        return self.plugin.lower() == "azure" and self.mode.lower() != "overlay"


@dataclass(frozen=True, slots=True)
class AgentPool:
    """One node pool."""

    id: str
    name: str
    count: int
    vm_size: str
    type: str
    mode: str
    os: str
    state: str
    power: str
    max_pods: int
    version: str
    current_version: str
    max_surge: str
    max_unavailable: str
    subnet: str
    pod_subnet: str
    pods_in_blocks: bool
    """Static block allocation: a node takes whole blocks of addresses for all the pods it may run, at once."""
    zones: tuple[str, ...]
    spot: bool
    autoscaled: bool
    most_nodes: int
    parks_nodes: bool
    """Scaling down switches its machines off instead of deleting them."""
    error: ErrorDetail | None
    sizes: tuple[SizedNodes, ...]
    """Its nodes by VM size: one row for a scale set, one or more for a pool of type VirtualMachines."""
    etag: str = ""
    node_image: str = ""
    linked: tuple[Linked, ...] = ()
    rolling: Rolling = field(default_factory=Rolling)
    reserved: str = ""
    """Where its machines' cores were paid for before: a capacity reservation, or dedicated hosts."""
    node_addresses: bool = False
    """Every node gets a public address of its own. One of a prefix has counted since the prefix was made."""
    placement: Placement = field(default_factory=Placement)
    references: tuple[Reference, ...] = ()
    """The resources that it names and needs."""

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def busy(self) -> bool:
        return still_runs(self.state)

    @property
    def nodes_by_size(self) -> str:
        """`3 × Standard_D4s_v5`, with a plus where its machines have several sizes."""
        return " + ".join(str(size) for size in self.sizes) or f"{self.count} nodes"

    @property
    def stopped(self) -> bool:
        return self.power.lower() == "stopped"

    @property
    def may_lose_nodes(self) -> bool:
        """Whether an upgrade may take a node away before the next is there.

        AKS refuses that for system pools, and a blue-green upgrade brings all new nodes before it empties the old ones.
        """
        return self.mode.lower() == "user" and not self.rolling.blue_green

    @property
    def upgrading(self) -> bool:
        """Its nodes are asked to run a version that they do not all run yet."""
        asked, runs = self.version, self.current_version
        return bool(asked and runs) and not meets(runs, asked)


@dataclass(frozen=True, kw_only=True)
class AgentPools(Evidence):
    """The cluster's node pools."""

    pools: tuple[AgentPool, ...]

    @property
    def failed(self) -> tuple[AgentPool, ...]:
        return tuple(pool for pool in self.pools if pool.failed)


@collector(reads=("Microsoft.ContainerService/managedClusters/read",))
async def managed_cluster(target: Target, arm: ArmReader) -> ManagedCluster | NotApplicable:
    """the cluster"""
    if not target.id.is_a(MANAGED_CLUSTER):
        return NotApplicable(f"{target.name} is a {target.id.type}, not an AKS cluster")
    answer = await arm.managed_cluster(target.id)
    body = answer.body
    properties = dig(body, "properties")
    return ManagedCluster(
        source=answer.source,
        taken_at=answer.taken_at,
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        location=need_text(body, "location"),
        state=need_text(properties, "provisioningState"),
        power=text(properties, "powerState", "code"),
        version=text(properties, "kubernetesVersion"),
        current_version=text(properties, "currentKubernetesVersion"),
        node_group=need_text(properties, "nodeResourceGroup"),
        error=innermost(dig(properties, "status", "provisioningError")),
        identities=_identities(body),
        network=dig(properties, "networkProfile") or {},
        fqdn=text(properties, "fqdn"),
        private_fqdn=text(properties, "privateFQDN"),
        private=dig(properties, "apiServerAccessProfile", "enablePrivateCluster") is True,
        private_zone=text(properties, "apiServerAccessProfile", "privateDNSZone"),
        authorized_ranges=texts(properties, "apiServerAccessProfile", "authorizedIPRanges"),
        api_server_subnet=_api_server_subnet(dig(properties, "apiServerAccessProfile")),
        vnet_integrated=dig(properties, "apiServerAccessProfile", "enableVnetIntegration") is True,
        makes_own_nodes=text(properties, "nodeProvisioningProfile", "mode").lower() == "auto",
        etag=_etag(body),
        own_identities=tuple(dig(body, "identity", "userAssignedIdentities") or ()),
        namespaces=namespaces_of(properties),
        linked=linked_of_cluster(properties),
        system_namespaces=system_namespaces_of(properties),
        kubelet_identity=text(properties, "identityProfile", "kubeletidentity", "objectId"),
        proxy=_host(text(properties, "httpProxyConfig", "httpsProxy")),
        node_registry=_node_registry(dig(properties, "bootstrapProfile")),
        references=named_by_cluster(body),
        workspaces=workspaces_of(properties),
    )


@collector(reads=())
async def network_profile(cluster: ManagedCluster) -> NetworkProfile:
    """the network profile"""
    return NetworkProfile(
        source=cluster.source,
        taken_at=cluster.taken_at,
        plugin=need_text(cluster.network, "networkPlugin"),
        mode=text(cluster.network, "networkPluginMode"),
        dataplane=text(cluster.network, "networkDataplane"),
        outbound_type=text(cluster.network, "outboundType"),
        pod_cidr=text(cluster.network, "podCidr"),
        policy=text(cluster.network, "networkPolicy").lower(),
    )


@collector(reads=("Microsoft.ContainerService/managedClusters/agentPools/read",))
async def agent_pools(target: Target, arm: ArmReader) -> AgentPools | NotApplicable:
    """the node pools"""
    if not target.id.is_a(MANAGED_CLUSTER):
        return NotApplicable(f"{target.name} is a {target.id.type}, not an AKS cluster")
    listing = await arm.agent_pools(target.id)
    pools = tuple(read_pool(item) for item in whole(listing.items))
    return AgentPools(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, pools=pools)


def read_pool(body: Mapping[str, Any]) -> AgentPool:
    """A node pool from its wire body. Pools of type VirtualMachines have no count or size of their own."""
    properties = dig(body, "properties")
    sizes = sized_nodes(properties)
    return AgentPool(
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        count=sum(size.wanted for size in sizes),
        vm_size=next((size.size for size in sizes), ""),
        type=text(properties, "type"),
        mode=text(properties, "mode"),
        os=text(properties, "osType"),
        state=need_text(properties, "provisioningState"),
        power=text(properties, "powerState", "code"),
        max_pods=number(properties, "maxPods"),
        version=text(properties, "orchestratorVersion"),
        current_version=text(properties, "currentOrchestratorVersion"),
        max_surge=text(properties, "upgradeSettings", "maxSurge"),
        max_unavailable=text(properties, "upgradeSettings", "maxUnavailable"),
        subnet=text(properties, "vnetSubnetID"),
        pod_subnet=text(properties, "podSubnetID"),
        pods_in_blocks=text(properties, "podIPAllocationMode").lower() == "staticblock",
        zones=texts(properties, "availabilityZones"),
        spot=text(properties, "scaleSetPriority").lower() == "spot",
        autoscaled=dig(properties, "enableAutoScaling") is True or any(size.autoscaled for size in sizes),
        most_nodes=sum(size.most for size in sizes),
        parks_nodes=text(properties, "scaleDownMode").lower() == "deallocate",
        error=innermost(dig(properties, "status", "provisioningError")),
        sizes=sizes,
        etag=_etag(body),
        node_image=text(properties, "nodeImageVersion"),
        linked=linked_of_pool(properties),
        rolling=read_rolling(properties),
        reserved=_reserved(properties),
        node_addresses=dig(properties, "enableNodePublicIP") is True and not text(properties, "nodePublicIPPrefixID"),
        placement=read_placement(properties),
        references=named_by_pool(properties, need_text(body, "id")),
    )


def _api_server_subnet(access: Any) -> str:
    return text(access, "subnetId") if dig(access, "enableVnetIntegration") is True else ""


def _host(url: str) -> str:
    """Of a proxy, without credentials. Where these were redacted, it is no URL any more."""
    return url.rpartition("://")[2].rpartition("@")[2].partition("/")[0].partition(":")[0]


def _node_registry(bootstrap: Any) -> str:
    return text(bootstrap, "containerRegistryId") if text(bootstrap, "artifactSource").lower() == "cache" else ""


def _reserved(properties: Any) -> str:
    """The reservation, or the host, has used up the quota when it was made; a machine in it uses none."""
    for key, what in (("capacityReservationGroupID", "capacity reservation group"), ("hostGroupID", "host group")):
        if text(properties, key):
            return f"{what} {last_name(text(properties, key))}"
    return ""


def _etag(body: Any) -> str:
    """AKS spells it both ways, and keeps a pool's among its properties."""
    places = ((body, "eTag"), (body, "etag"), (dig(body, "properties"), "eTag"), (dig(body, "properties"), "etag"))
    return next((found for where, name in places if (found := text(where, name))), "")


def _identities(body: Any) -> tuple[str, ...]:
    assigned = dig(body, "identity", "userAssignedIdentities")
    users = [text(item, "principalId") for item in assigned.values()] if isinstance(assigned, Mapping) else []
    kubelet = text(body, "properties", "identityProfile", "kubeletidentity", "objectId")
    return tuple(dict.fromkeys(item for item in (text(body, "identity", "principalId"), *users, kubelet) if item))

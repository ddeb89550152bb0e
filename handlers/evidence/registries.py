"""The Azure container registries that images cannot be pulled from: who may pull there, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.governance import ROLES_API
from handlers.evidence.wire import dig, need_text, rows, text, whole
from handlers.evidence.workloads.images import failed_pulls, image_of, is_azures, registry_of
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why
from handlers.resource_id import last_name

GRAPH, GRAPH_API = "/providers/Microsoft.ResourceGraph/resources", "2022-10-01"
REGISTRY_API = "2025-11-01"
"""The first stable one that tells `roleAssignmentMode`."""
MOST_ASKED = 3
ABAC, LEGACY = "AbacRepositoryPermissions", "LegacyRegistryPermissions"
PULLS: Mapping[str, tuple[str, frozenset[str]]] = {
    "7f951dda-4ed3-4680-a7ca-43fe172d538d": ("AcrPull", frozenset({LEGACY})),
    "8311e382-0749-4cb8-b61a-304f252e45ec": ("AcrPush", frozenset({LEGACY})),
    "577a9874-89fd-4f24-9dbd-b5034d0ad23a": (
        "Container Registry Data Importer and Data Reader",
        frozenset({LEGACY}),
    ),
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": ("Owner", frozenset({LEGACY})),
    "b24988ac-6180-42a0-ab88-20f7382dd24c": ("Contributor", frozenset({LEGACY})),
    "acdd72a7-3385-48ef-bd42-f606fba81ae7": ("Reader", frozenset({LEGACY})),
    "b93aa761-3e63-49ed-ac28-beffa264f7ac": ("Container Registry Repository Reader", frozenset({ABAC})),
    "2a1e307c-b015-4ebd-883e-5b7698a07328": ("Container Registry Repository Writer", frozenset({ABAC})),
    "2efddaa5-3f1f-4df3-97df-af3f13818f4c": ("Container Registry Repository Contributor", frozenset({ABAC})),
    "c2f4ef07-c644-48eb-af81-4b1b4947fb11": ("AcrDelete", frozenset()),
    "bfdb9389-c9a5-478a-bb2f-ba9ca092c3c7": ("Container Registry Repository Catalog Lister", frozenset()),
    "4d97b98b-1d4f-4787-a291-c67834d212e7": ("Network Contributor", frozenset()),
    "f1a07417-d97a-45cb-824c-7a7467783830": ("Managed Identity Operator", frozenset()),
}
"""Azure's own roles by id, and the permissions modes in which each may pull. In the ABAC mode registries take no notice
of AcrPull, and Owner, Contributor and Reader see no repository."""


@dataclass(frozen=True, slots=True)
class Registry:
    """One registry."""

    id: str
    host: str
    mode: str
    """`ABAC` or `LEGACY`; empty where this cloud's api-version does not tell."""
    public: bool
    """Whether it answers on its public address at all."""
    allowed: tuple[str, ...] | None
    """The address ranges that it lets in; None where everybody may come."""
    endpoints: tuple[str, ...]
    """Its approved private endpoints."""

    @property
    def name(self) -> str:
        return last_name(self.id)

    @property
    def role(self) -> str:
        """The role that lets pull, and no more."""
        return "Container Registry Repository Reader" if self.mode == ABAC else "AcrPull"


@dataclass(frozen=True, slots=True)
class Grant:
    """A role that the kubelets' identity holds at a registry or above it."""

    role: str
    """Its name; the id of one that is not Azure's own."""
    scope: str
    pulls: frozenset[str] | None
    """The modes in which it may pull; None where that is not known here."""
    condition: str


@dataclass(frozen=True, slots=True)
class SeenRegistry:
    """What was seen of a registry, by the host in the image."""

    host: str
    registry: Registry | None
    grants: tuple[Grant, ...] = ()
    unseen: Unavailable | None = None
    """Why the registry, or the roles at it, could not be looked at."""

    def may_pull(self) -> bool | None:
        """Whether the kubelets' identity may pull; None where that cannot be told."""
        if self.registry is None or self.unseen:
            return None
        modes = {self.registry.mode} if self.registry.mode else {ABAC, LEGACY}
        holding = [grant for grant in self.grants if grant.pulls is None or grant.pulls & modes]
        if any(grant.pulls and modes <= grant.pulls and not grant.condition for grant in holding):
            return True
        return None if holding else False


@dataclass(frozen=True, kw_only=True)
class Registries(Evidence):
    """The registries of Azure's that images cannot be pulled from."""

    identity: str
    """The object id of the kubelets' identity."""
    seen: tuple[SeenRegistry, ...]

    def at(self, host: str) -> SeenRegistry | None:
        return next((seen for seen in self.seen if seen.host.lower() == host.lower()), None)


@collector(
    reads=("Microsoft.ContainerRegistry/registries/read", "Microsoft.Authorization/roleAssignments/read"),
    deadline_s=10,
)
async def registries(cluster: ManagedCluster, symptoms: Symptoms, arm: ArmReader) -> Registries | NotApplicable:
    """the registries that images cannot be pulled from"""
    hosts = [registry_of(image_of(symptom)) for symptom in failed_pulls(symptoms)]
    wanted = [host for host in dict.fromkeys(hosts) if is_azures(host)][:MOST_ASKED]
    if not wanted:
        return NotApplicable("no image of an Azure container registry fails to be pulled")
    seen = [await _seen(host, cluster.kubelet_identity, arm) for host in wanted]
    return Registries(
        source=", ".join(f"GET {one.registry.id}" for one in seen if one.registry) or "Azure Resource Graph",
        taken_at=symptoms.taken_at,
        identity=cluster.kubelet_identity,
        seen=tuple(seen),
    )


async def _seen(host: str, identity: str, arm: ArmReader) -> SeenRegistry:
    """What cannot be seen is part of the answer: the image is not pulled, whatever is known of the registry."""
    registry: Registry | None = None
    try:
        found = await _find(host, arm)
        if not found:
            hidden = Unavailable(f"the registry {host}", Why.ABSENT, "Azure Resource Graph shows none to aksbot")
            return SeenRegistry(host, None, unseen=hidden)
        registry = read_registry((await arm.get(found, REGISTRY_API)).body, host)
        if not identity:
            nobody = Unavailable("the kubelets' identity", Why.ABSENT, "the cluster names none: a service principal")
            return SeenRegistry(host, registry, unseen=nobody)
        return SeenRegistry(host, registry, await _grants(registry, identity, arm))
    except CannotSee as error:
        what = f"the roles at {host}" if registry else f"the registry {host}"
        return SeenRegistry(host, registry, unseen=replace(error.unavailable, wanted=what))


async def _find(host: str, arm: ArmReader) -> str:
    """The id of a registry of any subscription. Its name may hold a hash that its resource has not."""
    query = (
        "Resources | where type =~ 'microsoft.containerregistry/registries' "
        f"| where properties.loginServer =~ '{host}' | project id"
    )
    options = {"resultFormat": "objectArray", "$top": 1}
    answer = await arm.query(GRAPH, GRAPH_API, {"query": query, "options": options})
    return next((text(row, "id") for row in rows(answer.body, "data")), "")


async def _grants(registry: Registry, identity: str, arm: ArmReader) -> tuple[Grant, ...]:
    """What holds there, from above too. A role that was given to a group of it counts: `assignedTo` asks for that."""
    path = f"{registry.id}/providers/Microsoft.Authorization/roleAssignments"
    asked = {"$filter": f"atScope() and assignedTo('{identity}')"}
    listing = await arm.list(path, ROLES_API, params=asked)
    return tuple(read_grant(item) for item in whole(listing.items))


def read_registry(body: Mapping[str, Any], host: str) -> Registry:
    """A registry from its wire body."""
    properties = dig(body, "properties")
    denies = text(properties, "networkRuleSet", "defaultAction").lower() == "deny"
    ranges = tuple(text(rule, "value") for rule in rows(properties, "networkRuleSet", "ipRules"))
    links = rows(properties, "privateEndpointConnections")
    return Registry(
        id=need_text(body, "id"),
        host=host,
        mode=text(properties, "roleAssignmentMode"),
        public=text(properties, "publicNetworkAccess").lower() != "disabled",
        allowed=ranges if denies else None,
        endpoints=tuple(_endpoint(link) for link in links if _is_approved(link)),
    )


def read_grant(body: Mapping[str, Any]) -> Grant:
    """A role assignment from its wire body."""
    definition = last_name(text(body, "properties", "roleDefinitionId"))
    name, pulls = PULLS.get(definition.lower(), (definition, None))
    return Grant(name, text(body, "properties", "scope"), pulls, text(body, "properties", "condition"))


def _endpoint(link: Mapping[str, Any]) -> str:
    return last_name(text(link, "properties", "privateEndpoint", "id"))


def _is_approved(link: Mapping[str, Any]) -> bool:
    return text(link, "properties", "privateLinkServiceConnectionState", "status") == "Approved"

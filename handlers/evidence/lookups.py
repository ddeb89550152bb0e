"""Does a resource exist? Asked one by one, within bounds. What was denied or is out of sight is not called missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError, NotFound
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import COMPUTE_API
from handlers.evidence.named_resources import Reference
from handlers.evidence.network import NETWORK_API
from handlers.evidence.public_addresses import PublicAddresses
from handlers.evidence.wire import text
from handlers.model import Evidence, NotApplicable, Unavailable, Why
from handlers.resource_id import same
from runbooks.linear import compile_linear

INVALID_REFERENCE = "invalid-resource-reference"
MOST = 30
"""Resources that one check looks up: a cluster names five to ten; a load balancer may have a hundred addresses."""
ABSENT = frozenset({"resourcenotfound", "resourcegroupnotfound"})
"""The answers that prove absence. SubscriptionNotFound may only mean that the bot has no role in it."""
USUAL: Mapping[str, str] = {
    "microsoft.managedidentity/userassignedidentities": "2023-01-31",
    "microsoft.network/loadbalancers": NETWORK_API,
    "microsoft.network/publicipaddresses": NETWORK_API,
    "microsoft.network/virtualnetworks/subnets": NETWORK_API,
}
"""What nearly every cluster names, with the api-version that it is asked in."""
RARE: Mapping[str, str] = {
    "microsoft.compute/capacityreservationgroups": COMPUTE_API,
    "microsoft.compute/diskencryptionsets": "2024-03-02",
    "microsoft.compute/hostgroups": COMPUTE_API,
    "microsoft.compute/proximityplacementgroups": COMPUTE_API,
    "microsoft.containerregistry/registries": "2023-07-01",
    "microsoft.keyvault/vaults": "2023-07-01",
    "microsoft.network/applicationgateways": NETWORK_API,
    "microsoft.network/dnszones": "2018-05-01",
    "microsoft.network/natgateways": NETWORK_API,
    "microsoft.network/networksecuritygroups": NETWORK_API,
    "microsoft.network/privatednszones": "2020-06-01",
    "microsoft.network/publicipprefixes": NETWORK_API,
    "microsoft.network/routetables": NETWORK_API,
    "microsoft.network/virtualnetworks": NETWORK_API,
}
"""What few clusters name, and what only errors do."""
SUBNET = "microsoft.network/virtualnetworks/subnets"
WORKSPACE: Mapping[str, str] = {"microsoft.operationalinsights/workspaces": "2022-10-01"}
VERSIONS = {**USUAL, **RARE, **WORKSPACE}
_REFERENCED = compile_linear(
    r"resource (?P<missing>/subscriptions/\S{10,300}) referenced by resource (?P<referrer>/subscriptions/\S{10,300})"
    r" was not found",
    ignore_case=True,
)


@dataclass(frozen=True, slots=True)
class Missing:
    """A resource that does not exist, and Azure's answer that says so."""

    reference: Reference
    code: str

    @property
    def group_is_gone(self) -> bool:
        return self.code.lower() == "resourcegroupnotfound"


@dataclass(frozen=True, kw_only=True)
class LookedUp(Evidence):
    """What of the resources named exists."""

    missing: tuple[Missing, ...]
    present: tuple[Reference, ...]


Kind = TypeVar("Kind", bound=LookedUp)


@dataclass(frozen=True, kw_only=True)
class Workspaces(LookedUp):
    """The Log Analytics workspaces that the cluster sends to."""


@dataclass(frozen=True, kw_only=True)
class NamedResources(LookedUp):
    """The identities, load balancers, addresses and subnets that the cluster, its pools or Azure's errors name."""

    strange: tuple[Unavailable, ...] = ()
    """What errors name of types that nobody here looks up."""


@dataclass(frozen=True, kw_only=True)
class RareResources(LookedUp):
    """What else they name: encryption sets, key vaults, placement groups, gateways, DNS zones."""


@collector(reads=("Microsoft.OperationalInsights/workspaces/read",))
async def workspaces(cluster: ManagedCluster, arm: ArmReader) -> Workspaces | NotApplicable:
    """the Log Analytics workspace"""
    if not cluster.workspaces:
        return NotApplicable(f"{cluster.name} sends nothing to a Log Analytics workspace")
    return await _look_up(Workspaces, cluster.workspaces, cluster, arm)


@collector(
    reads=(
        "Microsoft.ManagedIdentity/userAssignedIdentities/read",
        "Microsoft.Network/loadBalancers/read",
        "Microsoft.Network/publicIPAddresses/read",
        "Microsoft.Network/virtualNetworks/subnets/read",
    )
)
async def named_resources(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints | Unavailable,
    addresses: PublicAddresses | Unavailable,
    arm: ArmReader,
) -> NamedResources:
    """the resources that the cluster refers to"""
    named = _named(cluster, pools, complaints)
    wanted = [reference for reference in named if type_of(_asked_for(reference.id)) in USUAL]
    # The list of a subscription's addresses has come anyway; what stands in it need not be asked about again.
    listed = (
        {address.id.lower() for address in addresses.addresses} if isinstance(addresses, PublicAddresses) else set()
    )
    found = await _look_up(
        NamedResources, [reference for reference in wanted if reference.id.lower() not in listed], cluster, arm
    )
    strange = [reference for reference in named if type_of(_asked_for(reference.id)) not in VERSIONS]
    return replace(
        found,
        gaps=(*found.gaps, *([addresses] if isinstance(addresses, Unavailable) else [])),
        present=(*found.present, *(reference for reference in wanted if reference.id.lower() in listed)),
        strange=tuple(
            Unavailable(_title(reference), Why.FAILED, "resources of its type are not looked up")
            for reference in strange
        ),
    )


@collector(
    reads=(
        "Microsoft.Compute/capacityReservationGroups/read",
        "Microsoft.Compute/diskEncryptionSets/read",
        "Microsoft.Compute/hostGroups/read",
        "Microsoft.Compute/proximityPlacementGroups/read",
        "Microsoft.ContainerRegistry/registries/read",
        "Microsoft.KeyVault/vaults/read",
        "Microsoft.Network/applicationGateways/read",
        "Microsoft.Network/dnszones/read",
        "Microsoft.Network/natGateways/read",
        "Microsoft.Network/networkSecurityGroups/read",
        "Microsoft.Network/privateDnsZones/read",
        "Microsoft.Network/publicIPPrefixes/read",
        "Microsoft.Network/routeTables/read",
        "Microsoft.Network/virtualNetworks/read",
    )
)
async def rare_resources(
    cluster: ManagedCluster, pools: AgentPools, complaints: Complaints | Unavailable, arm: ArmReader
) -> RareResources | NotApplicable:
    """the vaults, groups, gateways and zones that the cluster refers to"""
    wanted = [
        reference for reference in _named(cluster, pools, complaints) if type_of(_asked_for(reference.id)) in RARE
    ]
    if not wanted:
        return NotApplicable(f"{cluster.name} names no key vault, encryption set, placement group, gateway or zone")
    return await _look_up(RareResources, wanted, cluster, arm)


def _named(cluster: ManagedCluster, pools: AgentPools, complaints: Complaints | Unavailable) -> list[Reference]:
    """Each once, as the cluster names it rather than as an error does."""
    at_rest = not (cluster.stopped or cluster.busy)
    of_pools = (reference for pool in pools.pools for reference in pool.references)
    known: dict[str, Reference] = {}
    for each_reference in (*cluster.references, *of_pools, *named_in_errors(complaints)):
        if at_rest or not each_reference.by_aks:
            known.setdefault(each_reference.id.lower(), each_reference)
    return [*known.values()]


def named_in(complaint: Complaint) -> Iterator[Reference]:
    """What an error of Azure's calls missing, and by whom it is named."""
    for match in _REFERENCED.finditer(complaint.error.message):
        yield Reference(match["missing"], "a resource", referrer=match["referrer"])


def named_in_errors(complaints: Complaints | Unavailable) -> Iterator[Reference]:
    """The same of all errors that still matter."""
    told = complaints.standing(INVALID_REFERENCE) if isinstance(complaints, Complaints) else ()
    yield from (reference for complaint in told for reference in named_in(complaint))


async def _look_up(kind: type[Kind], references: Sequence[Reference], cluster: ManagedCluster, arm: ArmReader) -> Kind:
    asked = references[:MOST]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_exists(reference, arm)) for reference in asked]
    answers = [task.result() for task in tasks]
    return kind(
        source=", ".join(f"GET {reference.id}" for reference in asked) or "the cluster names none",
        taken_at=cluster.taken_at,
        truncated=len(references) > MOST,
        gaps=tuple(answer for answer in answers if isinstance(answer, Unavailable)),
        missing=tuple(answer for answer in answers if isinstance(answer, Missing)),
        present=tuple(answer for answer in answers if isinstance(answer, Reference)),
    )


async def _exists(reference: Reference, arm: ArmReader) -> Reference | Missing | Unavailable:
    """The reference itself where the resource exists."""
    asked = _asked_for(reference.id)
    try:
        answer = await arm.get(asked, VERSIONS[type_of(asked)])
    except NotFound as error:
        if error.code.lower() in ABSENT:
            return Missing(reference, error.code)
        if type_of(asked) == SUBNET:
            return await _among_subnets(reference, arm)
        return replace(error.unavailable, wanted=_title(reference))
    except ArmError as error:
        return replace(error.unavailable, wanted=_title(reference))
    if not same(text(answer.body, "id"), asked):
        return Unavailable(_title(reference), Why.FAILED, "the answer is not the resource that was asked for")
    return (
        reference if same(asked, reference.id) or _holds(answer.body, reference.id) else Missing(reference, "NotFound")
    )


async def _among_subnets(reference: Reference, arm: ArmReader) -> Reference | Missing | Unavailable:
    """A network that answers "NotFound" about one of its subnets: its list of them is the proof."""
    above = reference.id.rpartition("/")[0]
    try:
        listing = await arm.list(above, NETWORK_API)
    except NotFound as error:
        if error.code.lower() in ABSENT:
            return Missing(reference, error.code)
        return replace(error.unavailable, wanted=_title(reference))
    except ArmError as error:
        return replace(error.unavailable, wanted=_title(reference))
    if any(same(text(item, "id"), reference.id) for item in listing.items) or listing.truncated:
        return Unavailable(_title(reference), Why.FAILED, "its network lists it, and does not show it")
    return Missing(reference, "NotFound")


def _title(reference: Reference) -> str:
    return f"{reference.what} {reference.name}"


def _asked_for(resource: str) -> str:
    """The id that is asked about: parts of a load balancer stand in the load balancer's own body."""
    return resource if type_of(resource) in VERSIONS else "/".join(resource.split("/")[:9])


def type_of(resource: str) -> str:
    """`microsoft.network/virtualnetworks/subnets`; empty where an id stops in the middle."""
    parts = resource.strip("/").lower().split("/")
    if len(parts) < 8 or parts[4] != "providers":
        return ""
    return "/".join((parts[5], *parts[6::2]))


def _holds(body: Any, child: str) -> bool:
    """A load balancer lists its parts, each with its id."""
    return f'"{child.lower()}"' in json.dumps(body).lower()

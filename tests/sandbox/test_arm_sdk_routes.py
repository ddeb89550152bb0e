"""Every address that a check asks, asked by the unmodified Azure SDK through its public `send_request`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest
from azure.identity.aio import ClientSecretCredential
from azure.mgmt.containerservice.aio import ContainerServiceClient

from handlers.clients.arm.reader import ArmReader
from handlers.fleet.names import fleet
from sandbox.arm.paths import parse
from sandbox.arm.providers import catalogue
from sandbox.arm.request_log import LoggedRequest
from sandbox.arm.server import ArmServer, Fault
from sandbox.scenario import Scenario
from sandbox.world import Body, World
from tests.checking import access, azure, check, cluster_id

CLUSTER = "prod-eus2"
AKS, COMPUTE, NETWORK, LOCKS = "2026-08-01", "2024-11-01", "2024-05-01", "2016-09-01"
ASSIGNED, EXEMPTED, STATES, ROLES = "2022-06-01", "2022-07-01-preview", "2019-10-01", "2022-04-01"
LOGS, SETTINGS, SKUS = "2015-04-01", "2021-05-01-preview", "2021-07-01"
PROVIDERS = "2021-04-01"
NEEDED = ("ContainerService", "Compute", "Network", "Storage", "ManagedIdentity")
NETWORKING, ZONES = ("loadBalancers", "networkSecurityGroups", "routeTables", "virtualNetworks"), "2020-06-01"
NEXUS = "2025-02-01"
GRAPH = "/providers/Microsoft.ResourceGraph/resources"

Asked = tuple[str, str, str, dict[str, str]]
"""Method, path, api-version, parameters."""


def questions(world: World) -> list[Asked]:
    """What the reader asks of Azure, written down by hand: a new address must be added here."""
    cluster = str(cluster_id(world, CLUSTER))
    body = world.resources[cluster.lower()]
    subscription = f"/subscriptions/{cluster.split('/')[2]}"
    nodes = f"{subscription}/resourceGroups/{body['properties']['nodeResourceGroup']}"
    scale_set = one_of(world, f"{nodes}/providers/Microsoft.Compute/virtualMachineScaleSets/")
    pool = world.resources[one_of(world, f"{cluster}/agentPools/").lower()]
    subnet = pool["properties"]["vnetSubnetID"]
    vnet = subnet.rsplit("/subnets/", 1)[0]
    yesterday = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:00:00Z")
    since = {"$filter": f"eventTimestamp ge '{yesterday}' and resourceGroupName eq '{cluster.split('/')[4]}'"}
    holder = {"$filter": "assignedTo('00000000-0000-4000-8000-000000000001')"}
    compute = f"{subscription}/providers/Microsoft.Compute"
    network = f"{subscription}/providers/Microsoft.Network"
    return [
        ("GET", cluster, AKS, {}),
        ("GET", f"{cluster}/agentPools", AKS, {}),
        ("POST", f"{cluster}/listClusterUserCredential", AKS, {}),
        ("GET", f"{cluster}/providers/Microsoft.Insights/diagnosticSettings", SETTINGS, {}),
        ("GET", f"{cluster}/providers/Microsoft.ResourceHealth/availabilityStatuses/current", "2020-05-01", {}),
        ("GET", f"{subscription}/providers/Microsoft.ResourceHealth/events", "2024-02-01", {}),
        ("GET", f"{compute}/virtualMachines", COMPUTE, {"statusOnly": "true"}),
        ("GET", f"{subscription}/providers/Microsoft.ContainerService/managedClusters", AKS, {}),
        ("GET", f"{subscription}/providers/Microsoft.Kubernetes/connectedClusters", "2024-01-01", {}),
        ("GET", f"{subscription}/providers/Microsoft.ResourceConnector/appliances", "2022-10-27", {}),
        ("GET", f"{subscription}/providers/Microsoft.NetworkCloud/kubernetesClusters", NEXUS, {}),
        ("GET", f"{scale_set}/providers/Microsoft.Insights/diagnosticSettings", SETTINGS, {}),
        ("GET", f"{subscription}/providers/Microsoft.Insights/eventtypes/management/values", LOGS, since),
        ("GET", f"{nodes}/providers/Microsoft.Compute/virtualMachineScaleSets", COMPUTE, {}),
        ("GET", f"{nodes}/providers/Microsoft.Compute/virtualMachines", COMPUTE, {}),
        ("GET", f"{scale_set}/virtualMachines", COMPUTE, {"$expand": "instanceView"}),
        ("GET", f"{compute}/locations/{body['location']}/usages", COMPUTE, {}),
        ("GET", f"{compute}/skus", SKUS, {"$filter": f"location eq '{body['location']}'"}),
        ("GET", subnet, NETWORK, {}),
        ("GET", f"{vnet}/usages", NETWORK, {}),
        ("GET", f"{network}/locations/{body['location']}/usages", NETWORK, {}),
        ("GET", f"{network}/publicIPAddresses", NETWORK, {}),
        ("GET", f"{subscription}/providers/Microsoft.Authorization/locks", LOCKS, {}),
        ("GET", f"{nodes}/providers/Microsoft.Authorization/roleAssignments", ROLES, holder),
        ("GET", f"{subnet}/providers/Microsoft.Authorization/roleAssignments", ROLES, holder),
        ("GET", f"{nodes}/providers/Microsoft.Authorization/policyAssignments", ASSIGNED, {}),
        ("GET", f"{nodes}/providers/Microsoft.Authorization/policyExemptions", EXEMPTED, {}),
        ("POST", f"{nodes}/providers/Microsoft.PolicyInsights/policyStates/latest/queryResults", STATES, {}),
        *(("GET", f"{subscription}/providers/Microsoft.{name}", PROVIDERS, {}) for name in NEEDED),
        ("GET", f"{cluster}/outboundNetworkDependenciesEndpoints", AKS, {}),
        ("GET", first(world, "Microsoft.ManagedIdentity/userAssignedIdentities"), "2023-01-31", {}),
        *(("GET", first(world, f"Microsoft.Network/{name}"), NETWORK, {}) for name in NETWORKING),
        ("GET", f"{nodes}/providers/Microsoft.Network/networkInterfaces", NETWORK, {}),
        ("GET", f"{nodes}/providers/Microsoft.Network/virtualNetworks", NETWORK, {}),
        ("GET", first(world, "Microsoft.Network/privateDnsZones/A"), ZONES, {}),
        ("GET", f"{first(world, 'Microsoft.Network/privateDnsZones')}/virtualNetworkLinks", ZONES, {}),
        ("GET", "/subscriptions", "2022-12-01", {}),
        ("GET", subscription, "2022-12-01", {}),
        ("POST", GRAPH, "2022-10-01", {}),
    ]


def one_of(world: World, above: str) -> str:
    return next(
        str(body["id"])
        for key, body in world.resources.items()
        if key.startswith(above.lower()) and "/" not in key[len(above) :]
    )


def first(world: World, kind: str) -> str:
    """The id of some resource of the type."""
    return next(str(body["id"]) for body in world.resources.values() if parse(body["id"]).kind.lower() == kind.lower())


@asynccontextmanager
async def unmodified(server: ArmServer) -> AsyncIterator[ContainerServiceClient]:
    """The SDK's own client with its own pipeline."""
    principal = server.principal("reader")
    async with AsyncExitStack() as stack:
        credential = ClientSecretCredential(
            server.world.tenant_id,
            principal.client_id,
            principal.secret,
            authority=server.url,
            disable_instance_discovery=True,
            connection_verify=str(server.ca_file),
        )
        await stack.enter_async_context(credential)
        client = ContainerServiceClient(
            credential,
            str(cluster_id(server.world, CLUSTER)).split("/")[2],
            base_url=server.url,
            credential_scopes=[f"{server.url}/.default"],
            connection_verify=str(server.ca_file),
        )
        yield await stack.enter_async_context(client)


async def ask(client: ContainerServiceClient, asked: Asked) -> Any:
    method, path, version, params = asked
    body = {"query": "Resources | project id"} if path.endswith("/resources") else {}
    request = HttpRequest(
        method, path, params={"api-version": version, **params}, json=body if method == "POST" else None
    )
    answer = await client.send_request(request)
    answer.raise_for_status()
    return answer.json()


def routes(log: list[LoggedRequest]) -> set[tuple[str, str]]:
    return {(one.method, one.route) for one in log if one.action}


async def test_the_sdk_reads_every_address_that_a_check_asks() -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        async with unmodified(server) as client:
            for asked in questions(world):
                answer = await ask(client, asked)
                assert isinstance(answer, dict), asked
                assert answer.keys() & {"id", "value", "data", "kubeconfigs"}, asked
        driven = routes(server.log)
    assert driven == await asked_by_checks()


async def asked_by_checks() -> set[tuple[str, str]]:
    """Checks of all clusters, and finding them with and without Resource Graph."""
    seen: set[tuple[str, str]] = set()
    for scenario in ("healthy-fleet", "quota-blocks-upgrade"):
        world = Scenario.load(scenario).world
        async with azure(world) as server:
            async with ArmReader(access(server), fresh_for_s=0) as arm:
                for member in await fleet(arm):
                    if member.type.endswith("/managedClusters"):
                        await check(server, member.name)
                server.faults.append(Fault("403", route=GRAPH))
                await fleet(arm)
            seen |= routes(server.log)
    return seen


def kinds_of(world: World) -> dict[str, Body]:
    """One resource of each type that the fleet holds."""
    found: dict[str, Body] = {}
    for body in world.resources.values():
        found.setdefault(parse(body["id"]).kind, body)
    return found


async def test_the_sdk_reads_a_resource_of_every_type_that_the_fleet_holds() -> None:
    world = Scenario.load("healthy-fleet").world
    kinds = {kind: body for kind, body in kinds_of(world).items() if catalogue().type(kind)}
    assert {"microsoft.containerservice/managedclusters", "microsoft.compute/virtualmachinescalesets"} <= {
        kind.lower() for kind in kinds
    }
    unread = {}
    async with azure(world) as server, unmodified(server) as client:
        for kind, body in sorted(kinds.items()):
            known = catalogue().type(kind)
            assert known is not None
            try:
                answer = await ask(client, ("GET", body["id"], known.versions[0], {}))
            except HttpResponseError as refused:
                unread[kind] = refused.status_code
                continue
            assert answer.get("id", body["id"]).lower() == body["id"].lower(), kind
    assert unread == {}

"""Resolving what a user types to a cluster, against the sandbox's fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.fleet.cluster_text import ClusterRef, read_cluster
from handlers.fleet.names import fleet, resolve
from handlers.problem import Exit, Problem
from handlers.resource_id import ResourceId
from sandbox.arm.server import ArmServer, Fault
from sandbox.scenario import Scenario
from sandbox.world import World

SUB = "00000000-0000-0000-0000-0000000000a1"
ID = f"/subscriptions/{SUB}/resourceGroups/rg-prod/providers/Microsoft.ContainerService/managedClusters/prod-weu"
FLEET = {
    "arc-bridge-hq",
    "dev-shared",
    "edge-nexus-01",
    "edge-nexus-02",
    "payments-prod",
    "prod-eus2",
    "prod-weu",
    "staging-neu",
}
GRAPH_ACTION = "Microsoft.ResourceGraph/resources/read"


def as_who(arm: ArmServer, principal: str) -> AzureAccess:
    environment = arm.environment(principal)
    return AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
    )


@pytest.fixture
def world() -> World:
    return Scenario.load("healthy-fleet").world


@pytest.fixture
async def azure(world: World) -> AsyncIterator[ArmServer]:
    async with ArmServer(world) as server:
        yield server


@pytest.fixture
async def arm(azure: ArmServer) -> AsyncIterator[ArmReader]:
    async with ArmReader(as_who(azure, "reader"), fresh_for_s=0) as reader:
        yield reader


async def test_a_name_is_found_in_any_case_with_one_question(azure: ArmServer, arm: ArmReader) -> None:
    target = await resolve(" PROD-weu ", arm)
    assert target.name == "prod-weu"
    assert target.id.is_a("Microsoft.ContainerService/managedClusters")
    assert arm.calls.count == 1


@pytest.mark.parametrize("name", ["edge-nexus-01", "arc-bridge-hq"])
async def test_clusters_that_are_not_aks_are_found_too(arm: ArmReader, name: str) -> None:
    assert (await resolve(name, arm)).name == name


@pytest.mark.parametrize("graph", [True, False])
async def test_a_nexus_cluster_is_one_cluster_although_azure_holds_it_twice(
    azure: ArmServer, arm: ArmReader, graph: bool
) -> None:
    if not graph:
        azure.faults.append(Fault("403", action=GRAPH_ACTION))
    target = await resolve("edge-nexus-01", arm)
    assert target.id.is_a("Microsoft.NetworkCloud/kubernetesClusters")
    kinds = {one.name: one.kind for one in await fleet(arm)}
    assert kinds["edge-nexus-01"] == "Operator Nexus Kubernetes cluster"
    assert kinds["arc-bridge-hq"] == "Arc resource bridge"
    assert kinds["prod-weu"] == "AKS cluster"


async def test_an_aks_cluster_is_looked_for_without_listing_nexus(azure: ArmServer, arm: ArmReader) -> None:
    azure.faults.append(Fault("403", action=GRAPH_ACTION))
    assert (await resolve("prod-weu", arm)).name == "prod-weu"
    assert not [request for request in azure.log if "networkcloud" in request.route.lower()]


async def test_aks_hybrid_is_told_from_other_connected_clusters() -> None:
    async with (
        ArmServer(Scenario.load("hybrid-cluster-offline").world) as azure,
        ArmReader(as_who(azure, "reader"), fresh_for_s=0) as arm,
    ):
        assert {one.name: one.kind for one in await fleet(arm)}["edge-aks-01"] == "AKS hybrid cluster"
        instance = f"{(await resolve('edge-aks-01', arm)).id}/providers/Microsoft.HybridContainerService"
        pasted = f"https://portal.azure.com/#@x/resource{instance}/provisionedClusterInstances/default/overview".upper()
        assert (await resolve(pasted.replace("HTTPS", "https"), arm)).name.lower() == "edge-aks-01"


async def test_the_whole_fleet_is_listed(arm: ArmReader) -> None:
    members = await fleet(arm)
    assert {one.name for one in members} == FLEET
    weu = next(one for one in members if one.name == "prod-weu")
    assert (weu.type, weu.location, weu.provisioning_state) == (
        "Microsoft.ContainerService/managedClusters",
        "westeurope",
        "Succeeded",
    )
    assert weu.subscription in weu.id
    assert weu.group


async def test_the_fleet_is_listed_without_the_graph_too(azure: ArmServer, arm: ArmReader) -> None:
    by_graph = await fleet(arm)
    azure.faults.append(Fault("403", action=GRAPH_ACTION))
    assert await fleet(arm) == by_graph
    assert "/subscriptions" in {request.route for request in azure.log}


async def test_a_new_cluster_that_the_graph_does_not_know_yet_is_found(
    world: World, azure: ArmServer, arm: ArmReader
) -> None:
    known = (await resolve("prod-weu", arm)).id
    world.unindexed.add(known.key)
    assert (await resolve("prod-weu", arm)).id.key == known.key


async def test_without_the_right_to_ask_the_graph_subscriptions_are_read(azure: ArmServer, arm: ArmReader) -> None:
    azure.faults.append(Fault("403", action=GRAPH_ACTION))
    assert (await resolve("staging-neu", arm)).name == "staging-neu"
    assert "/subscriptions" in {request.route for request in azure.log}


async def test_an_unknown_name_brings_the_nearest(arm: ArmReader) -> None:
    with pytest.raises(Problem) as caught:
        await resolve("prod-wue", arm)
    assert caught.value.code is Exit.USAGE
    assert "prod-weu" in caught.value.do
    assert caught.value.what == "cannot find prod-wue"


async def test_two_clusters_of_one_name_bring_a_choice(world: World, arm: ArmReader) -> None:
    first = (await resolve("prod-weu", arm)).id
    twin = {**world.resources[first.key], "id": str(first).replace(first.resource_group or "", "rg-other")}
    world.put(
        {
            "id": f"/subscriptions/{first.subscription}/resourceGroups/rg-other",
            "name": "rg-other",
            "type": "Microsoft.Resources/resourceGroups",
            "location": "westeurope",
            "properties": {},
        }
    )
    world.put(twin)
    with pytest.raises(Problem) as caught:
        await resolve("prod-weu", arm)
    problem = caught.value
    assert problem.why.startswith("2 clusters have that name")
    assert first.resource_group in problem.why
    assert "rg-other" in problem.why
    assert str(twin["id"]) in problem.do
    assert problem.code is Exit.USAGE


async def test_who_may_read_nothing_is_told_what_to_grant(azure: ArmServer) -> None:
    async with ArmReader(as_who(azure, "nobody")) as arm:
        for asking in (resolve("prod-weu", arm), fleet(arm)):
            with pytest.raises(Problem) as caught:
                await asking
            assert caught.value.do.startswith("grant aksbot-reader")
            assert caught.value.code is Exit.UNAVAILABLE


async def test_who_may_not_read_clusters_is_told_the_action(azure: ArmServer, arm: ArmReader) -> None:
    for action in (
        GRAPH_ACTION,
        "Microsoft.ContainerService/managedClusters/read",
        "Microsoft.Kubernetes/connectedClusters/read",
        "Microsoft.ResourceConnector/appliances/read",
    ):
        azure.deny("reader", action)
    with pytest.raises(Problem) as caught:
        await resolve("prod-weu", arm)
    assert "Microsoft.ContainerService/managedClusters/read" in caught.value.why


@pytest.mark.parametrize(
    "text",
    [
        ID,
        ID.upper(),
        ID.lower() + "/",
        f"{ID}/agentPools/apps",
        f"{ID}/overview",
        f"https://management.azure.com{ID}?api-version=2024-01-01",
        f"https://portal.azure.com/#@contoso.onmicrosoft.com/resource{ID}/overview",
        f"https://portal.azure.com/?feature.x=1#@/resource{ID}/nodePools",
        f"https://portal.azure.com/#view/Microsoft_Azure_Monitor/Logs/resourceId/{quote(ID, safe='')}/source/x",
        f"https://portal.azure.com/#blade/HubsExtension/x/id/{quote(quote(ID, safe=''), safe='')}",
        f"<https://portal.azure.com/#@t/resource{ID}/overview|prod-weu>",
    ],
)
async def test_ids_and_portal_links_ask_nobody(arm: ArmReader, text: str) -> None:
    target = await resolve(text, arm)
    assert target.id.key == ID.lower()
    assert arm.calls.count == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "prod weu",
        "prod-weu'; drop",
        "prod-weu' or 1==1 //",
        "$(reboot)",
        "`id`",
        "<!channel>",
        "*bold*",
        "prod-weu\n| take 1",
        "\x1b[31mred\x1b[0m",
        "\x00",
        "../../etc/passwd",
        "ünïcode",
        "a" * 64,
        "a" * 10_000,
        "/subscriptions/" * 1_000,
        "/subscriptions/not-a-guid/resourceGroups/x/providers/Microsoft.ContainerService/managedClusters/y",
        f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters",
        f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm-1",
        f"/subscriptions/{SUB}",
    ],
)
async def test_what_is_no_cluster_is_refused_without_asking_and_without_echoing_it(arm: ArmReader, text: str) -> None:
    with pytest.raises(Problem) as caught:
        await resolve(text, arm)
    problem = caught.value
    assert problem.code is Exit.USAGE
    assert problem.what
    assert problem.why
    assert problem.do
    assert str(problem).isprintable()
    assert not set("<>`$*|\x1b") & set(problem.why)
    assert len(str(problem)) < 500
    assert arm.calls.count == 0


def test_an_id_of_something_else_is_named() -> None:
    with pytest.raises(Problem, match=r"it names a Microsoft.Compute/virtualMachines"):
        read_cluster(f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm-1")


def test_a_sub_resource_is_cut_to_its_cluster() -> None:
    read = read_cluster(f"{ID}/agentPools/apps/machines/m1")
    assert isinstance(read, ResourceId)
    assert str(read) == ID


def test_a_link_and_an_id_of_one_cluster_are_the_same_reference_and_a_name_is_another() -> None:
    link = ClusterRef.of(f"https://portal.azure.com/#@contoso.com/resource{ID}/overview")
    assert (link.key, link.name) == (ClusterRef.of(ID.upper()).key, "prod-weu")
    assert ClusterRef.of(" Prod-WEU ").key == "prod-weu" != link.key


def test_what_was_read_once_is_handed_on_and_still_says_what_is_wrong_with_it() -> None:
    typed = ClusterRef.of(" prod weu ")
    assert ClusterRef.of(typed) is typed
    assert (typed.text, typed.name) == (" prod weu ", "prod weu")
    with pytest.raises(Problem, match="cannot tell which cluster is meant"):
        _ = typed.meant

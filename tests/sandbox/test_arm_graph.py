"""Azure Resource Graph: a little Kusto, strictly."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.conftest import Caller, Reply
from tests.sandbox.worlds import CLUSTER, NEXUS, NODE_GROUP, OTHER_SUB, SCALE_SET, SUB, VNET

PATH = "/providers/Microsoft.ResourceGraph/resources"


async def ask(caller: Caller, query: str, **more: Any) -> Reply:
    return await caller("POST", PATH, "2022-10-01", json={"query": query, **more})


async def names(caller: Caller, query: str) -> list[str]:
    reply = await ask(caller, query)
    assert reply.status == 200, reply.text
    return [row["name"] for row in reply.body["data"]]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("type == 'microsoft.containerservice/managedclusters'", ["prod-weu"]),
        ("type == 'Microsoft.ContainerService/managedClusters'", []),
        ("type =~ 'Microsoft.ContainerService/managedClusters'", ["prod-weu"]),
        (
            "type in~ ('Microsoft.ContainerService/managedClusters', \"microsoft.network/virtualnetworks\")",
            ["prod-weu", "vnet-prod"],
        ),
        ("type in ('Microsoft.Network/virtualNetworks')", []),
        ("name contains 'EDGE' and type startswith 'microsoft.networkcloud'", ["edge-nexus-01"]),
        ("(name =~ 'PROD-weu' or name == 'vnet-prod') and location != 'eastus'", ["prod-weu", "vnet-prod"]),
        ("tolower(name) == 'prod-weu'", ["prod-weu"]),
        (
            "properties.provisioningState == 'Succeeded' and properties.powerState.code =~ 'running' and kind == ''",
            ["prod-weu"],
        ),
        ("properties.provisioningstate == 'Succeeded'", []),
        ("tags.team == 'platform'", ["prod-weu"]),
    ],
)
async def test_where(reader: Caller, where: str, found: list[str]) -> None:
    assert await names(reader, f"Resources | where {where} | order by name desc | order by type asc") == found


async def test_rows_are_projected_ordered_and_cut(reader: Caller) -> None:
    query = (
        "Resources\n| where resourceGroup =~ 'RG-prod'\n"
        "| project name, state = properties.provisioningState, properties.detailedStatus\n"
        "| order by name asc\n| limit 2"
    )
    reply = await ask(reader, query)
    assert reply.body == {
        "totalRecords": 2,
        "count": 2,
        "data": [
            {"name": "edge-nexus-01", "state": "Succeeded", "properties_detailedStatus": "Available"},
            {"name": "edge-nexus-01", "state": "Succeeded", "properties_detailedStatus": None},
        ],
        "facets": [],
        "resultTruncated": "false",
    }


async def test_a_row_looks_as_graph_shows_it(reader: Caller) -> None:
    row = (await ask(reader, "Resources | where name == 'prod-weu'")).body["data"][0]
    assert row["id"] == CLUSTER
    assert row["type"] == "microsoft.containerservice/managedclusters"
    assert (row["resourceGroup"], row["subscriptionId"]) == ("rg-prod", SUB)


@pytest.mark.parametrize(
    "query",
    [
        "Resources | summarize count()",
        "Resources | where name = 'x'",
        "Resources | where name == 'x",
        "Resources | where name matches regex 'x'",
        "Resources | where (name == 'x'",
        "Resources | extend y = name",
        "Resources | where nosuchcolumn == 'x'",
        "Resources | project name | where id == 'x'",
        "Resources | take many",
        "Resources | join kind=inner (Resources) on id",
        "NoSuchTable | where name == 'x'",
        "Resources | where name == 'x' ; drop",
    ],
)
async def test_anything_else_is_graphs_400(reader: Caller, query: str) -> None:
    reply = await ask(reader, query)
    assert (reply.status, reply.error["code"]) == (400, "BadRequest")
    assert reply.error["message"].startswith("Please provide below info when asking for support: timestamp = ")
    assert reply.error["details"][0]["code"] == "InvalidQuery"


async def test_only_what_the_caller_may_read_is_there(arm: ArmServer, reader: Caller, nobody: Caller) -> None:
    assert await names(nobody, "Resources") == []
    everything = await names(reader, "Resources | order by name asc")
    arm.deny("reader", "Microsoft.ContainerService/managedClusters/read")
    assert await names(reader, "Resources | order by name asc") == [name for name in everything if name != "prod-weu"]
    assert "prod-weu" in everything


async def test_children_and_extensions_are_no_resources_of_graph(reader: Caller) -> None:
    found = {row["id"] for row in (await ask(reader, "Resources | project id")).body["data"]}
    assert found == {
        CLUSTER,
        SCALE_SET,
        VNET,
        NEXUS,
        NEXUS.replace("NetworkCloud/kubernetesClusters", "Kubernetes/connectedClusters"),
    }


async def test_graph_lags_behind(world: World, reader: Caller) -> None:
    world.unindexed.add(CLUSTER.lower())
    assert await names(reader, "Resources | where name == 'prod-weu'") == []
    assert (await reader.get(CLUSTER, "2026-08-01")).status == 200


async def test_containers_are_a_table_of_their_own(reader: Caller) -> None:
    query = "ResourceContainers | where type == 'microsoft.resources/subscriptions/resourcegroups' | order by name asc"
    assert await names(reader, query) == [NODE_GROUP.rsplit("/", 1)[1], "rg-prod"]


async def test_pages_are_followed_with_the_skip_token(reader: Caller) -> None:
    query = "Resources | project id | order by id asc"
    whole = (await ask(reader, query)).body["data"]
    first = (await ask(reader, query, options={"$top": 2})).body
    assert (first["count"], first["totalRecords"], first["data"]) == (2, 5, whole[:2])
    second = (await ask(reader, query, options={"$top": 2, "$skipToken": first["$skipToken"]})).body
    assert second["data"] == whole[2:4]
    skipped = (await ask(reader, query, options={"$skip": 4})).body
    assert (skipped["data"], "$skipToken" in skipped) == (whole[4:], False)
    assert (await ask(reader, query, options={"$skipToken": "nonsense"})).status == 400


async def test_subscriptions_narrow_the_question(reader: Caller) -> None:
    assert (await ask(reader, "Resources", subscriptions=[OTHER_SUB])).body["count"] == 0
    assert (await ask(reader, "Resources", subscriptions=[SUB.upper()])).body["count"] == 5


async def test_the_answer_says_how_many_questions_are_left(reader: Caller) -> None:
    headers = (await ask(reader, "Resources | limit 1")).headers
    assert (headers["x-ms-user-quota-remaining"], headers["x-ms-user-quota-resets-after"]) == ("14", "00:00:05")
    assert "x-ms-ratelimit-remaining-subscription-writes" not in headers


async def test_a_question_is_a_read_in_the_log(arm: ArmServer, reader: Caller) -> None:
    await ask(reader, "Resources")
    assert [(entry.action, entry.is_write) for entry in arm.calls] == [
        ("Microsoft.ResourceGraph/resources/read", False)
    ]


async def test_a_body_that_is_no_query_is_400(reader: Caller) -> None:
    assert (await reader("POST", PATH, "2022-10-01", data=b"{")).error["code"] == "InvalidRequestContent"
    assert (await reader("POST", PATH, "2022-10-01", json={})).status == 400

"""Pages: how many there are, how their links are written, and what a client may not do to a link."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    GROUP,
    SCALE_SET,
    SUBSCRIPTION,
    VNET,
    instance,
    pool,
)
from tests.sandbox_calls import trusting


@pytest.fixture
async def paged(world: World) -> AsyncIterator[Caller]:
    """A server that pages by two."""
    for number in range(5):
        world.put(pool(f"pool{number}"))
        world.put(instance(number))
    async with ArmServer(world, page_size=2) as arm, trusting(arm.ca_file) as session:
        yield Caller(session, arm, "reader")


async def test_following_the_links_gives_every_item_once(paged: Caller) -> None:
    pages = await paged.pages(f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION, dollar_expand="instanceView")
    assert [len(page.names) for page in pages] == [2, 2, 1]
    assert sorted(name for page in pages for name in page.names) == [f"aks-apps-12345678-vmss_{n}" for n in range(5)]
    assert all("instanceView" in item["properties"] for page in pages for item in page.body["value"])


async def test_aks_puts_its_token_into_the_link_twice(paged: Caller) -> None:
    link = (await paged.get(f"{CLUSTER}/agentPools", AKS_VERSION)).body["nextLink"]
    query = link.split("?", 1)[1]
    first, version, last = query.split("&")
    assert first.startswith("%24skipToken=")
    assert version == f"api-version={AKS_VERSION}"
    assert last == first.replace("%24", "")


async def test_nexus_adds_its_own_page_size_to_the_link(world: World, paged: Caller) -> None:
    for number in range(3):
        world.put({"id": f"{GROUP}/providers/Microsoft.NetworkCloud/l3Networks/net{number}", "name": f"net{number}"})
    page = await paged.get(f"{GROUP}/providers/Microsoft.NetworkCloud/l3Networks", "2025-09-01")
    assert "%24top=10" in page.body["nextLink"]
    assert "%24skiptoken=" in page.body["nextLink"]


async def test_the_port_stays_in_the_link(paged: Caller) -> None:
    link = (await paged.get(f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION)).body["nextLink"]
    assert link.startswith("https://127.0.0.1:")


async def test_a_token_that_was_decoded_or_moved_to_another_list_is_refused(paged: Caller) -> None:
    link = (await paged.get(f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION)).body["nextLink"]
    for spoiled in (
        link.replace("%2F", "/").replace("%3D", "")[:-1],
        link.replace(f"{SCALE_SET}/virtualMachines", f"{VNET}/subnets").replace(COMPUTE_VERSION, "2024-05-01"),
    ):
        assert (await paged.follow(spoiled)).status == 400


async def test_some_aks_lists_have_a_link_on_their_only_page_which_leads_to_nothing(
    world: World, reader: Caller
) -> None:
    ends: list[int] = []
    for number in range(40):
        identity = CLUSTER.replace("prod-weu", f"cluster-{number}")
        world.put({"id": identity, "name": f"cluster-{number}", "properties": {}})
        world.put({**pool("only"), "id": f"{identity}/agentPools/only"})
        pages = await reader.pages(f"{identity}/agentPools", AKS_VERSION)
        assert [page.names for page in pages] in ([["only"]], [["only"], []])
        ends.append(len(pages))
    assert 8 <= ends.count(2) <= 24, "about four in ten"


async def test_whether_a_list_has_the_needless_link_is_always_the_same(reader: Caller) -> None:
    first, second = [await reader.get(f"{CLUSTER}/agentPools", AKS_VERSION) for _ in range(2)]
    assert first.body == second.body


async def test_a_filtered_list_of_resources_begins_with_an_empty_page(reader: Caller) -> None:
    wanted = "resourceType eq 'Microsoft.Network/virtualNetworks'"
    pages = await reader.pages(f"{SUBSCRIPTION}/resources", "2022-09-01", dollar_filter=wanted)
    assert [page.names for page in pages] == [[], ["vnet-prod"]]
    refused = await reader.get(f"{SUBSCRIPTION}/resources", "2022-09-01", dollar_filter="properties eq 'x'")
    assert (refused.status, refused.error["code"]) == (400, "InvalidFilterInQueryString")

"""Azure's links to next pages and operations. Ones that must not be followed are reported, and get no token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.clients.access import AzureAccess
from handlers.clients.addresses import follow, is_resource_manager
from handlers.clients.answers import Listing
from handlers.clients.arm.operation import Via
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.transport import _verbatim
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.errors import NotFollowed
from handlers.fleet.clusters import GRAPH, ask_graph
from handlers.model import Why
from handlers.resource_id import ResourceId
from tests.clients.azure import LocalAzure, PaperCredential, QuickClock, says

SUB = "00000000-0000-0000-0000-0000000000a1"
GROUP = f"/subscriptions/{SUB}/resourceGroups/rg-prod"
CLUSTER = ResourceId.parse(f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu")
CLUSTERS = f"/subscriptions/{SUB}/providers/Microsoft.ContainerService/managedClusters"
ACTIVITY = f"/subscriptions/{SUB}/providers/Microsoft.Insights/eventtypes/management/values"
RESOURCES = f"{GROUP}/resources"
HOME = "https://management.azure.com"
NOW = datetime(2026, 11, 19, tzinfo=UTC)

MALFORMED = [
    "http://[",
    "https://[::1",
    "https://management.azure.com:port/x",
    "https://127.0.0.1:99999/x",
    ["/next"],
    {"href": "/next"},
    7,
    True,
]
AWAY = [
    "https://example.com/steal",
    "http://127.0.0.1/plain",
    "//example.com/steal",
    "ftp://127.0.0.1/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://me:secret@HOME/x",
    "https://HOME@example.com/x",
    "https://HOME\\@example.com/x",
    "https://example.com\\.HOME/x",
    "https://HOME.example.com/x",
]


async def by_path(arm: ArmReader) -> Listing:
    return await arm.list(RESOURCES, "2021-04-01")


async def clusters(arm: ArmReader) -> Listing:
    return await arm.managed_clusters(SUB)


async def pools(arm: ArmReader) -> Listing:
    return await arm.agent_pools(CLUSTER)


async def activity(arm: ArmReader) -> Listing:
    return await arm.activity(SUB, group="rg-prod", since=NOW - timedelta(hours=1), until=NOW)


LISTS = pytest.mark.parametrize(
    ("path", "read"),
    [(RESOURCES, by_path), (CLUSTERS, clusters), (f"{CLUSTER}/agentPools", pools), (ACTIVITY, activity)],
)


@pytest.fixture
async def writer(access: AzureAccess, credential: PaperCredential, clock: QuickClock) -> AsyncIterator[ArmWriter]:
    async with ArmWriter(access, credential=credential, clock=clock) as arm:
        yield arm


@LISTS
@pytest.mark.parametrize("link", [*MALFORMED, *AWAY], ids=repr)
async def test_a_next_link_that_cannot_be_followed_is_unavailable_and_names_the_list(
    azure: LocalAzure, arm: ArmReader, path: str, read: Any, link: Any
) -> None:
    there = link.replace("HOME", urlsplit(azure.url).netloc) if isinstance(link, str) else link
    azure.reply(path, says({"value": [], "nextLink": there}))
    with pytest.raises(NotFollowed) as caught:
        await read(arm)
    told = caught.value.unavailable
    assert told.why is Why.FAILED
    assert told.wanted.lower() == path.lower().removeprefix(f"/subscriptions/{SUB}").removeprefix(
        "/resourcegroups/rg-prod"
    ).removeprefix("/").removeprefix("providers/")
    assert "not followed" in told.detail
    assert len(azure.asked) == 1


@LISTS
@pytest.mark.parametrize("link", [None, "", [], {}], ids=repr)
async def test_an_empty_link_is_the_end_of_a_list(
    azure: LocalAzure, arm: ArmReader, path: str, read: Any, link: Any
) -> None:
    azure.reply(path, says({"value": [], "nextLink": link}))
    assert not (await read(arm)).truncated


@LISTS
@pytest.mark.parametrize("page", ["?page=2&api-version=1", "?page={2}", "/{more}/of/it?page=2"])
async def test_a_link_at_home_is_followed(azure: LocalAzure, arm: ArmReader, path: str, read: Any, page: str) -> None:
    following = (path + page).partition("?")[0]
    azure.reply(path, says({"value": [], "nextLink": f"{azure.url}{path}{page}"}), says({"value": []}))
    azure.reply(following, says({"value": []}))
    assert not (await read(arm)).truncated
    assert len(azure.asked) == 2


@LISTS
async def test_links_that_lead_in_a_circle_of_two_end_and_say_so(
    azure: LocalAzure, arm: ArmReader, path: str, read: Any
) -> None:
    there, back = ({"value": [], "nextLink": f"{azure.url}{path}?page={page}"} for page in (1, 2))
    azure.reply(path, *(says(body) for body in (there, back) * 10))
    assert (await read(arm)).truncated
    assert len(azure.asked) <= 4


@pytest.mark.parametrize("token", ["same", ["x"], {"x": 1}])
async def test_a_graph_whose_pages_lead_nowhere_has_not_told_all_clusters(
    azure: LocalAzure, arm: ArmReader, token: Any
) -> None:
    azure.reply(GRAPH, says({"data": [{"id": str(CLUSTER)}], "$skipToken": token}))
    assert await ask_graph(arm) == ()
    assert len(azure.asked) <= 2


async def test_a_graph_whose_pages_lead_in_a_circle_of_two_ends(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GRAPH, *(says({"data": [], "$skipToken": token}) for token in "ab" * 10))
    assert await ask_graph(arm) == ()
    assert len(azure.asked) == 3


@pytest.mark.parametrize("via", [Via.STATUS, Via.LOCATION])
@pytest.mark.parametrize("link", [one for one in [*MALFORMED, *AWAY] if isinstance(one, str)])
async def test_an_operation_is_not_followed_to_nowhere(
    azure: LocalAzure, writer: ArmWriter, link: str, via: Via
) -> None:
    there = link.replace("HOME", urlsplit(azure.url).netloc)
    name = "azure_asyncoperation" if via is Via.STATUS else "location"
    azure.reply(str(CLUSTER), says(None, 202, **{name: there}))
    operation = await writer.post(str(CLUSTER), "2026-08-01")
    assert operation.progress.via is via
    with pytest.raises(NotFollowed, match="not followed"):
        await operation.wait()
    assert [one.method for one in azure.asked] == ["POST"]


@given(st.text() | st.from_regex(r"(https?:)?//[^\s]{0,30}", fullmatch=True) | st.from_regex(r"https://management.+"))
def test_whatever_stands_in_a_link_it_leads_to_azure_or_nowhere(link: str) -> None:
    try:
        url = follow(HOME, link, "a list")
    except NotFollowed:
        return
    assert is_resource_manager(HOME, url)
    sent_to = _verbatim(url)
    assert sent_to.scheme == "https"
    assert sent_to.user is None
    assert sent_to.host == "management.azure.com" or str(sent_to.host).endswith(".management.azure.com")

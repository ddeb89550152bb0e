"""The activity log: which filters it has, how far back it goes, and how it pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import CLUSTER, NODE_GROUP, OTHER_SUB, POOL, SUBSCRIPTION, event

LOG = f"{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
VERSION = "2015-04-01"


def since(minutes: float) -> str:
    return f"eventTimestamp ge {(datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()}"


@pytest.fixture
def logged(world: World) -> World:
    world.events = [
        event(30, 1),
        event(10, 2),
        event(20, 3, resource=CLUSTER),
        event(5, 4, group_name=NODE_GROUP.rsplit("/", 1)[1]),
    ]
    other = event(1, 5)
    world.events.append(
        {**other, "subscriptionId": OTHER_SUB, "resourceId": other["resourceId"].replace("1111", "9999")}
    )
    return world


def numbers(body: dict[str, Any]) -> list[int]:
    return [int(row["eventDataId"][-2:]) for row in body["value"]]


async def test_events_are_newest_first_and_of_this_subscription_only(logged: World, reader: Caller) -> None:
    reply = await reader.get(LOG, VERSION, dollar_filter=since(60))
    assert (reply.status, numbers(reply.body)) == (200, [4, 2, 3, 1])


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ("resourceGroupName eq 'RG-PROD'", [2, 3, 1]),
        (f"resourceUri eq '{CLUSTER.upper()}'", [3]),
        (f"resourceId eq '{POOL}'", [4, 2, 1]),
        ("resourceProvider eq Microsoft.ContainerService", [4, 2, 3, 1]),
        ("correlationId eq '11111111-0000-4000-8000-000000000002'", [2]),
        ("eventChannels eq 'Admin, Operation' and resourceGroupName eq 'rg-prod'", [2, 3, 1]),
    ],
)
async def test_one_more_filter_is_permitted(logged: World, reader: Caller, narrowed: str, found: list[int]) -> None:
    reply = await reader.get(LOG, VERSION, dollar_filter=f"{since(60)} and {narrowed}")
    assert (reply.status, numbers(reply.body)) == (200, found)


@pytest.mark.parametrize(
    ("picked", "found"),
    [
        ("status eq 'Failed'", [4, 2, 1]),
        ("status eq 'started'", [3]),
        ("resourceGroupName eq 'rg-prod' and status eq 'Failed'", [2, 1]),
        ("resourceGroupName eq 'rg-prod' and caller eq 'somebody@example.com' and status eq 'Failed'", [1]),
        (f"resourceId eq '{CLUSTER}' and status eq 'Failed'", []),
        ("correlationId eq '11111111-0000-4000-8000-000000000003' and status eq 'Started'", [3]),
        ("levels eq 'Error'", [4, 2, 1]),
        ("levels eq 'Critical,Error,Warning'", [4, 2, 1]),
        ("eventChannels eq 'Admin, Operation' and levels eq 'Informational' and resourceProvider eq 'x.y'", []),
    ],
)
async def test_a_status_a_caller_and_levels_may_stand_beside_it(
    logged: World, reader: Caller, picked: str, found: list[int]
) -> None:
    """What `az monitor activity-log list --status … --caller …`, PowerShell and the portal send."""
    logged.events[0]["caller"] = "somebody@example.com"
    logged.events[2] |= {"status": {"value": "Started"}, "level": "Informational"}
    reply = await reader.get(LOG, VERSION, dollar_filter=f"{since(60)} and {picked}")
    assert (reply.status, numbers(reply.body)) == (200, found)


async def test_an_end_bounds_the_time(logged: World, reader: Caller) -> None:
    until = (datetime.now(UTC) - timedelta(minutes=15)).strftime("%Y-%m-%dT%H:%M:%SZ")
    reply = await reader.get(LOG, VERSION, dollar_filter=f"{since(25)} and eventTimestamp le '{until}'")
    assert numbers(reply.body) == [3]


@pytest.mark.parametrize(
    "refused",
    [
        "operationName eq 'x'",
        "status ne 'Failed'",
        "status eq 'Failed' and status eq 'Started'",
        "resourceGroupName eq 'a' and resourceProvider eq 'b'",
        "resourceGroupName ne 'a'",
        "startswith(resourceUri, '/x')",
        "eventTimestamp eq yesterday",
    ],
)
async def test_any_other_filter_is_a_bare_400(reader: Caller, refused: str) -> None:
    reply = await reader.get(LOG, VERSION, dollar_filter=f"{since(60)} and {refused}")
    assert (reply.status, list(reply.body), reply.body["code"]) == (400, ["code", "message"], "BadRequest")


async def test_without_a_start_there_is_no_answer(reader: Caller) -> None:
    assert (await reader.get(LOG, VERSION)).status == 400
    assert (await reader.get(LOG, VERSION, dollar_filter="resourceGroupName eq 'rg-prod'")).status == 400


async def test_the_log_goes_back_ninety_days(reader: Caller) -> None:
    assert (await reader.get(LOG, VERSION, dollar_filter=since(60 * 24 * 89))).status == 200
    reply = await reader.get(LOG, VERSION, dollar_filter=since(60 * 24 * 91))
    assert reply.status == 400
    assert reply.body == {"code": "BadRequest", "message": "The start time cannot be more than 90 days in the past."}


async def test_a_page_holds_two_hundred_events_and_its_link_comes_first(world: World, reader: Caller) -> None:
    world.events = [event(1 + number / 100, number) for number in range(450)]
    pages = await reader.pages(LOG, VERSION, dollar_filter=since(60))
    assert [len(page.body["value"]) for page in pages] == [200, 200, 50]
    assert [list(page.body) for page in pages] == [["nextLink", "value"], ["nextLink", "value"], ["value"]]
    assert "&$skipToken=" in pages[0].body["nextLink"]
    assert len({row["eventDataId"] for page in pages for row in page.body["value"]}) == 450


async def test_select_leaves_out_what_was_not_asked_for(logged: World, reader: Caller) -> None:
    reply = await reader.get(LOG, VERSION, dollar_filter=since(60), dollar_select="eventName, operationName")
    assert all(set(row) == {"eventName", "operationName", "id"} for row in reply.body["value"])
    assert "somebody" not in reply.text


async def test_the_permission_has_a_name_of_its_own(reader: Caller, nobody: Caller) -> None:
    reply = await nobody.get(LOG, VERSION, dollar_filter=since(60))
    assert reply.status == 403
    assert "'Microsoft.Insights/eventtypes/values/read' over scope '/subscriptions/1" in reply.error["message"]

"""Offers on a real server: of all who click at the same instant, on whichever replica, one moves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.address import Address
from bot.fixes import moves
from bot.fixes.moves import Moved, NotMoved, Why
from bot.fixes.proposal import End, Person, Proposal, Rules, State
from bot.fixes.store.proposals import Proposals
from bot.store import keys
from bot.store.connect import Connection, connected
from tests.fixes.plans import APPROVER, PLAN, REQUESTER, SECOND, rules

SPOT = Address(channel="C1", thread_ts="1.1")


@pytest.fixture
def proposals(connection: Connection) -> Proposals:
    return Proposals(connection.redis)


async def offered(proposals: Proposals, given: Rules | None = None) -> Proposal:
    return await proposals.offer(PLAN, "T1", SPOT, given or rules())


async def approve(proposals: Proposals, one: Proposal, who: Person) -> Moved:
    def asked_and_approved(was: Proposal, now_ms: int) -> Moved:
        asked = was if was.requester else was.moved(requester=REQUESTER)
        return moves.approve(asked, now_ms, who=who, digest=one.digest)

    return await proposals.move(one.id, asked_and_approved)


async def start(proposals: Proposals, one: Proposal) -> Moved:
    return await proposals.move(one.id, moves.start)


async def test_an_offer_is_kept_as_it_was_made(proposals: Proposals) -> None:
    one = await offered(proposals)
    assert await proposals.load(one.id) == one
    assert [found.id for found in await proposals.open("T1")] == [one.id]
    assert await proposals.open("T2") == []


async def test_an_id_that_nobody_was_given_leads_nowhere(proposals: Proposals) -> None:
    one = await offered(proposals)
    forged = replace(one, id=one.id[:-1] + ("A" if one.id[-1] != "A" else "B"))
    refused = await approve(proposals, forged, APPROVER)
    assert isinstance(refused, NotMoved)
    assert refused.why is Why.UNKNOWN


async def test_what_was_moved_can_be_told_by_its_version(proposals: Proposals) -> None:
    one = await offered(proposals)
    moved = await approve(proposals, one, APPROVER)
    assert isinstance(moved, Proposal)
    assert (moved.version, moved.state) == (1, State.APPROVED)


async def test_what_has_ended_is_no_longer_open(proposals: Proposals) -> None:
    one = await offered(proposals)
    await proposals.move(one.id, lambda was, now: moves.decline(was, now, who=SECOND))
    assert await proposals.open("T1") == []
    kept = await proposals.load(one.id)
    assert kept
    assert kept.end is End.DENIED


async def test_it_expires_by_the_servers_clock(proposals: Proposals) -> None:
    one = await offered(proposals, Rules(1, True, False, 1))

    async def is_late() -> bool:
        moved = await proposals.move(one.id, moves.expire)
        return isinstance(moved, Proposal) and moved.end is End.EXPIRED

    async with asyncio.timeout(5):
        while not await is_late():
            pass
    late = await approve(proposals, one, APPROVER)
    assert isinstance(late, NotMoved)
    assert late.why is Why.ENDED


async def race(one: Proposals, other: Proposals) -> None:
    """A double click on two replicas, and then two workers: one approval each, one start from `approved`."""
    made = await offered(one, rules(2))
    await one.move(made.id, lambda was, now: moves.ask(was, now, who=REQUESTER, digest=made.digest))
    clicks = [approve(store, made, APPROVER) for store in (one, other)]
    moved = await asyncio.gather(*clicks, approve(one, made, SECOND))
    assert sum(isinstance(result, Proposal) for result in moved) == 2
    twice = [result.why for result in moved if isinstance(result, NotMoved)]
    assert twice[0] in (Why.TWICE, Why.APPROVED)
    kept = await one.load(made.id)
    assert kept
    assert [(word.person.user) for word in kept.approvals].count("U2") == 1
    assert kept.state is State.APPROVED


async def test_of_a_double_click_on_two_replicas_one_counts(connection: Connection, tmp_path: Path) -> None:
    async with connected(connection.url, tmp_path) as second:
        for _ in range(50):
            await race(Proposals(connection.redis), Proposals(second.redis))


@pytest.mark.soak
async def test_of_a_thousand_double_clicks_on_two_replicas_one_counts_each_time(
    connection: Connection, tmp_path: Path
) -> None:
    async with connected(connection.url, tmp_path) as second:
        for _ in range(1000):
            await race(Proposals(connection.redis), Proposals(second.redis))


async def test_failed_tries_of_the_same_fix_are_counted_for_a_day(proposals: Proposals, connection: Connection) -> None:
    for end in (End.NOT_FIXED, End.FAILED, End.DENIED, End.STALE):
        one = replace(await offered(proposals), end=end)
        await proposals.count_ended(one)
        await proposals.count_ended(one)
    assert await proposals.failed_tries(PLAN) == 2
    assert await proposals.failed_tries(replace(PLAN, target=PLAN.target.upper())) == 2
    assert await proposals.failed_tries(replace(PLAN, remedy="other")) == 0
    assert 0 < await connection.redis.ttl(keys.tries(PLAN.cluster, PLAN.remedy, PLAN.target)) <= 24 * 3600
    await proposals.count_ended(replace(await offered(proposals), end=End.FIXED))
    assert await proposals.failed_tries(PLAN) == 0


@pytest.mark.parametrize("text", ["{}", "not json", "[]", "null", '{"id": "x", "plan": "{}", "future": 1}'])
async def test_an_offer_that_cannot_be_read_stops_no_other(
    proposals: Proposals, connection: Connection, text: str
) -> None:
    """Such as one of another version of the bot."""
    broken, whole = await offered(proposals), await offered(proposals)
    await connection.redis.set(keys.proposal(broken.id), text)
    assert await proposals.load(broken.id) is None
    assert [one.id for one in await proposals.open("T1")] == [whole.id]
    refused = await start(proposals, broken)
    assert isinstance(refused, NotMoved)
    assert refused.why is Why.UNKNOWN


async def test_a_try_counts_for_a_day_however_many_come_after_it(proposals: Proposals, connection: Connection) -> None:
    key = keys.tries(PLAN.cluster, PLAN.remedy, PLAN.target)
    for hours_ago in (47, 25, 1):
        one = replace(await offered(proposals), end=End.NOT_FIXED)
        await proposals.count_ended(one)
        await connection.redis.zincrby(key, -hours_ago * 3_600_000, one.id)
    assert await proposals.failed_tries(PLAN) == 1


async def test_an_offer_whose_time_was_over_before_it_ended_is_forgotten(
    proposals: Proposals, connection: Connection
) -> None:
    gone, whole = await offered(proposals), await offered(proposals)
    await connection.redis.delete(keys.proposal(gone.id))
    assert [one.id for one in await proposals.open("T1")] == [whole.id]
    assert await connection.redis.zrange(keys.proposals("T1"), 0, -1) == [whole.id]

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.checks.store import recent
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.store import keys
from bot.store.away import StoreAway
from bot.store.connect import Connection

NOW = datetime(2026, 3, 4, 3, 12, tzinfo=UTC)


def _check(number: int, at: datetime = NOW) -> RecentCheck:
    return RecentCheck(f"r{number}", "prod-weu", "FOUND", "A core quota is used up", "U1", "C1", at, ts="1.2")


@pytest.fixture
def kept(connection: Connection) -> RecentChecks:
    return RecentChecks(connection.redis)


async def test_the_latest_comes_first_and_other_teams_are_left_out(kept: RecentChecks) -> None:
    for number in (2, 1, 3):
        await kept.add("T1", _check(number, NOW + timedelta(seconds=number)))
    await kept.add("T2", _check(9))
    assert [one.request for one in await kept.latest("T1", NOW)] == ["r3", "r2", "r1"]
    assert (await kept.latest("T2", NOW))[0] == _check(9)


async def test_one_that_was_told_twice_is_there_once(kept: RecentChecks) -> None:
    await kept.add("T1", _check(1))
    await kept.add("T1", _check(1, NOW + timedelta(seconds=5)))
    assert [one.request for one in await kept.latest("T1", NOW)] == ["r1"]


async def test_old_ones_are_dropped_and_the_number_is_capped(kept: RecentChecks, connection: Connection) -> None:
    await kept.add("T1", _check(0, NOW - keys.RECENT_TTL - timedelta(seconds=1)))
    assert await kept.latest("T1", NOW) == []
    for number in range(recent.MOST + 5):
        await kept.add("T1", _check(number, NOW + timedelta(seconds=number)))
    assert await connection.redis.zcard(keys.recent("T1")) == recent.MOST
    assert await connection.redis.ttl(keys.recent("T1")) > 0


async def test_when_the_memory_is_away_it_is_said(kept: RecentChecks, connection: Connection) -> None:
    assert connection.embedded
    await connection.embedded.__aexit__(None, None, None)
    with pytest.raises(StoreAway):
        await kept.add("T1", _check(1))


async def test_the_only_one_keeps_its_expiry_when_more_is_known_of_it(
    kept: RecentChecks, connection: Connection
) -> None:
    await kept.add("T1", _check(1))
    assert await kept.change("T1", _check(1), replace(_check(1), now="over"))
    assert await connection.redis.ttl(keys.recent("T1")) > 0
    assert [one.now for one in await kept.latest("T1", NOW)] == ["over"]


async def test_a_change_to_what_it_is_already_keeps_it(kept: RecentChecks) -> None:
    await kept.add("T1", _check(1))
    assert await kept.change("T1", _check(1), _check(1))
    assert [one.request for one in await kept.latest("T1", NOW)] == ["r1"]

"""How far the chain of a fix is, and whose end still has to be said, on a real server."""

from __future__ import annotations

import pytest

from bot.fixes.store.offers import FixesInHand
from bot.store import keys
from bot.store.connect import Connection


@pytest.fixture
def in_hand(connection: Connection) -> FixesInHand:
    return FixesInHand(connection.redis)


async def test_a_later_piece_takes_the_place_of_the_one_before(in_hand: FixesInHand) -> None:
    assert await in_hand.later_piece("fix", 0, "first") == "first"
    assert await in_hand.later_piece("fix", 1, "second") == "second"


async def test_an_earlier_piece_and_the_same_one_once_more_learn_which_is_the_latest(in_hand: FixesInHand) -> None:
    await in_hand.later_piece("fix", 4, "fourth")
    assert await in_hand.later_piece("fix", 3, "third") == "fourth"
    assert await in_hand.later_piece("fix", 4, "another fourth") == "fourth"
    assert await in_hand.later_piece("another fix", 0, "its first") == "its first"


async def test_an_end_is_to_be_said_until_it_was_said(in_hand: FixesInHand) -> None:
    for name in ("one", "other", "one"):
        await in_hand.must_report(name)
    assert await in_hand.unreported_outcomes() == ["one", "other"]
    await in_hand.outcome_is_reported("one")
    assert await in_hand.unreported_outcomes() == ["other"]


async def test_what_nobody_takes_for_a_day_is_not_said_any_more(in_hand: FixesInHand, connection: Connection) -> None:
    await in_hand.must_report("one")
    (written,) = await connection.redis.zrange(keys.FIXES_UNTOLD, 0, -1, withscores=True)
    await connection.redis.zadd(keys.FIXES_UNTOLD, {"one": float(written[1]) - 90_000})
    assert await in_hand.unreported_outcomes() == []

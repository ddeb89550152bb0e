"""What is kept of each cluster's verdicts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.checks.store import verdicts
from bot.checks.store.verdicts import PastVerdict, Verdicts
from bot.store import keys
from bot.store.away import StoreAway
from bot.store.connect import Connection
from handlers.model import State

NOW = datetime(2026, 3, 4, 3, 12, tzinfo=UTC)
ONE, OTHER = "/subscriptions/x/one", "/subscriptions/x/other"


def verdict(cluster: str, at: datetime, state: State = State.FOUND) -> PastVerdict:
    return PastVerdict(cluster.rsplit("/", 1)[-1], cluster, at, state, "error", (("quota-exceeded", "Cores"),))


@pytest.fixture
def kept(connection: Connection) -> Verdicts:
    return Verdicts(connection.redis)


async def test_the_latest_comes_first_and_each_cluster_has_its_own(kept: Verdicts) -> None:
    for hours in (2, 1, 3):
        await kept.add(verdict(ONE, NOW - timedelta(hours=hours)))
    await kept.add(verdict(OTHER, NOW))
    assert [one.at for one in await kept.of(ONE)] == [NOW - timedelta(hours=hours) for hours in (1, 2, 3)]
    assert await kept.of(ONE.upper()) == await kept.of(ONE)


async def test_the_last_of_many_clusters_are_read_at_once_now_and_as_of_then(kept: Verdicts) -> None:
    await kept.add(verdict(ONE, NOW - timedelta(hours=30), State.CLEAR))
    await kept.add(verdict(ONE, NOW))
    await kept.add(verdict(OTHER, NOW))
    latest = await kept.latest([ONE, OTHER, "/subscriptions/x/never"])
    assert {cluster: one.state for cluster, one in latest.items()} == {ONE: State.FOUND, OTHER: State.FOUND}
    before = await kept.latest([ONE, OTHER], before=NOW - timedelta(hours=24))
    assert {cluster: one.state for cluster, one in before.items()} == {ONE: State.CLEAR}
    assert await kept.latest([]) == {}


async def test_old_ones_are_dropped_and_the_number_is_capped(
    kept: Verdicts, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kept.add(verdict(ONE, NOW - keys.VERDICT_TTL - timedelta(seconds=1)))
    for number in range(verdicts.MOST + 2):
        await kept.add(verdict(ONE, NOW + timedelta(seconds=number)))
    found = await kept.of(ONE)
    assert len(found) == verdicts.MOST
    assert found[-1].at == NOW + timedelta(seconds=2)
    assert await connection.redis.ttl(keys.verdicts(ONE)) > 0


async def test_secrets_in_subjects_are_not_kept(kept: Verdicts, connection: Connection) -> None:
    leaking = PastVerdict("one", ONE, NOW, State.FOUND, "error", (("x", "password=hunter2hunter2!"),))
    await kept.add(leaking)
    assert "hunter2" not in str(await connection.redis.zrange(keys.verdicts(ONE), 0, -1))


async def test_a_store_that_is_away_is_said(kept: Verdicts, connection: Connection) -> None:
    assert connection.embedded
    await connection.embedded.__aexit__(None, None, None)
    with pytest.raises(StoreAway):
        await kept.of(ONE)

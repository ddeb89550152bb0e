from __future__ import annotations

import asyncio

from bot.store import keys
from bot.store.connect import Connection
from bot.store.gaps import Gaps


async def test_the_last_connection_of_all_processes_counts(connection: Connection) -> None:
    gaps = Gaps(connection.redis)
    assert await gaps.last_connected() is None
    await gaps.connected(200.5)
    await gaps.connected(100.0)
    assert await gaps.last_connected() == 200.5


async def test_of_several_processes_one_reads_what_all_have_missed(connection: Connection) -> None:
    gaps = Gaps(connection.redis)
    assert await gaps.take(100.0, 200.0, "first") is True
    assert await gaps.take(101.0, 199.0, "second") is None
    await gaps.done(100.0, 200.0, "first")
    assert await gaps.take(101.0, 199.0, "second") is False


async def test_what_nobody_has_read_is_still_to_be_read(connection: Connection) -> None:
    gaps = Gaps(connection.redis)
    await gaps.take(100.0, 200.0, "first")
    await gaps.done(100.0, 200.0, "first")
    assert await gaps.take(150.0, 210.0, "second") is True


async def test_who_could_not_read_leaves_it_to_another(connection: Connection) -> None:
    gaps = Gaps(connection.redis)
    await gaps.take(100.0, 200.0, "first")
    await gaps.release("second")
    assert await gaps.take(100.0, 200.0, "second") is None
    await gaps.release("first")
    assert await gaps.take(100.0, 200.0, "second") is True


async def test_who_gives_up_takes_nothing_from_whoever_has_it_by_then(connection: Connection) -> None:
    """Its lock ran out, and another has taken it, in the moment in which it looked whether it has it still."""
    gaps = Gaps(connection.redis)
    for _ in range(200):
        await connection.redis.set(keys.CATCHING_UP, "first")
        taken = connection.redis.set(keys.CATCHING_UP, "second")
        await asyncio.gather(gaps.release("first"), taken)
        assert await connection.redis.get(keys.CATCHING_UP) == "second"
        await connection.redis.delete(keys.CATCHING_UP)

"""A server that is there and takes no writes: known at once, said in words, and over once there is room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from bot.store.away import StoreAway, TakesNoWrites, reachable
from bot.store.connect import Connection, connected
from bot.store.writes import Writes
from tests.store.full_disk import fill, no_more_bytes, small_disk
from tests.store.servers import until

PATIENCE_S = 20.0

Breaks = Callable[[Connection], Awaitable[object]]

FULL: dict[str, tuple[Breaks, str]] = {
    "memory": (lambda to: to.redis.config_set("maxmemory", 1), "maxmemory is reached"),
    "replicas": (lambda to: to.redis.config_set("min-replicas-to-write", 1), "too few replicas"),
    "read-only": (lambda to: to.redis.execute_command("REPLICAOF", "127.0.0.1", "1"), "read-only replica"),
}


@pytest.mark.parametrize("how", FULL)
async def test_a_server_that_takes_no_writes_is_told_from_one_that_is_away(connection: Connection, how: str) -> None:
    breaks, words = FULL[how]
    writes = Writes(connection)
    assert await writes.now_ms(PATIENCE_S) > 0
    await breaks(connection)
    with pytest.raises(TakesNoWrites, match=words):
        await writes.now_ms(PATIENCE_S)
    assert await connection.redis.ping()


async def test_who_waits_reads_no_error_of_the_client(connection: Connection, tmp_path: Path) -> None:
    async with connected(connection.url, tmp_path / "unused") as other:
        assert connection.embedded
        connection.embedded.socket.unlink()
        await other.redis.connection_pool.disconnect()
        with pytest.raises(StoreAway) as away:
            await Writes(other).now_ms(0.2)
    assert away.value.why == "its server takes no connections"
    assert "Error" not in str(away.value)


async def test_a_write_in_a_pipeline_is_refused_in_the_same_words(connection: Connection) -> None:
    await connection.redis.config_set("min-replicas-to-write", 1)
    async with connection.redis.pipeline(transaction=True) as together:
        together.set("one", "1")
        together.set("two", "2")
        with pytest.raises(TakesNoWrites, match="too few replicas"), reachable():
            await together.execute()


async def test_what_the_server_ended_over_is_refused_until_a_write_was_taken(connection: Connection) -> None:
    await connection.redis.set("kept", "yes")
    no_more_bytes(connection)
    with pytest.raises(RedisError):
        await connection.redis.set("more", "x" * 1000)
    await until(lambda: _takes_writes(connection), PATIENCE_S)
    assert await connection.redis.get("kept") == "yes"
    assert await connection.redis.get("more") is None


async def test_a_full_disk_is_known_without_asking_the_server(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with connected(None, disk) as opened:
            await opened.redis.set("kept", "yes")
            filler = fill(disk)
            assert opened.why_no_writes
            assert "its disk is full" in opened.why_no_writes
            with pytest.raises(TakesNoWrites, match="its disk is full"):
                await Writes(opened).now_ms(PATIENCE_S)
            filler.unlink()
            assert await Writes(opened).now_ms(PATIENCE_S) > 0


async def test_a_server_that_ended_over_a_full_disk_comes_back_with_what_it_had(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with connected(None, disk) as opened:
            await opened.redis.set("kept", "yes")
            filler = fill(disk)
            with pytest.raises(RedisError):
                await opened.redis.set("more", "x" * 100_000)
            assert opened.why_no_writes
            filler.unlink()
            await until(lambda: _takes_writes(opened), PATIENCE_S)
            assert await opened.redis.get("kept") == "yes"


async def _takes_writes(connection: Connection) -> bool:
    return await Writes(connection).now_ms(PATIENCE_S) > 0

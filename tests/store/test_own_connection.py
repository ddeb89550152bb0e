"""A dedicated connection is returned to the pool, even if its user is cancelled at any point."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from bot.store.connect import Connection
from bot.store.dedicated_connection import own_connection
from tests.store.servers import until


async def test_it_goes_back_when_the_task_is_cancelled_as_it_lets_go(connection: Connection) -> None:
    clients: list[Redis] = []

    async def works() -> None:
        async with own_connection(connection.redis) as client:
            clients.append(client)
            await client.ping()
            task.cancel()  # arrives at the next wait, which is behind the last command
        await asyncio.sleep(0)

    task = asyncio.create_task(works())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clients[0].connection is None


async def test_it_goes_back_when_the_task_is_cancelled_in_the_middle_of_a_command(connection: Connection) -> None:
    clients: list[Redis] = []

    async def works() -> None:
        async with own_connection(connection.redis) as client:
            clients.append(client)
            await client.blpop(["nothing"], timeout=0)

    async def waits() -> bool:
        return int((await connection.redis.info("clients"))["blocked_clients"]) == 1

    task = asyncio.create_task(works())
    await until(waits)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clients[0].connection is None
    assert await connection.redis.ping()


async def test_one_client_after_the_other_takes_the_same_connection(connection: Connection) -> None:
    ids = []
    for _ in range(3):
        async with own_connection(connection.redis) as client:
            ids.append(await client.client_id())
    assert len(set(ids)) == 1

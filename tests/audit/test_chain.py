"""The audit on a real server: concurrent appends work, and any later tampering is detected."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from bot.audit.store import Audit
from bot.store import keys
from bot.store.away import StoreAway
from bot.store.connect import Connection, connected
from tests.audit.conftest import entry


async def rewritten(connection: Connection, rows: list[dict[str, str]]) -> None:
    await connection.redis.delete(keys.AUDIT)
    for row in rows:
        await connection.redis.xadd(keys.AUDIT, row)  # type: ignore[arg-type]


async def rows(connection: Connection) -> list[dict[str, str]]:
    return [fields for _, fields in await connection.redis.xrange(keys.AUDIT)]


async def test_an_empty_audit_is_whole(connection: Connection) -> None:
    assert (await Audit(connection.redis).verify()).whole


async def test_what_was_written_is_whole_and_in_order(audit: Audit) -> None:
    assert await audit.verify() == await audit.verify()
    assert (await audit.verify()).records == 6
    assert [one.entry["reason"] async for one in audit.records()] == [f"because {number}" for number in range(6)]
    assert (await audit.latest(1))[0].number == 6


async def test_many_writers_make_one_chain(audit: Audit, connection: Connection) -> None:
    other = Audit(connection.redis)
    await asyncio.gather(*(one.write(entry(number)) for number in range(10) for one in (audit, other)))
    verdict = await audit.verify()
    assert verdict.whole
    assert verdict.records == 26


async def test_a_changed_record_is_found(audit: Audit, connection: Connection) -> None:
    all_of_them = await rows(connection)
    all_of_them[2]["body"] = all_of_them[2]["body"].replace("because 2", "because 9")
    await rewritten(connection, all_of_them)
    verdict = await audit.verify()
    assert verdict.broken_at == 3
    assert "changed after it was written" in verdict.why


@pytest.mark.parametrize(
    ("damage", "at"),
    [
        (lambda all_of_them: all_of_them[:2] + all_of_them[3:], 3),
        (lambda all_of_them: [*all_of_them[:2], all_of_them[3], all_of_them[2], *all_of_them[4:]], 3),
        (lambda all_of_them: [*all_of_them[:3], all_of_them[2], *all_of_them[3:]], 4),
        (lambda all_of_them: all_of_them[:-1], 6),
        (lambda all_of_them: [], 1),
        (lambda all_of_them: [*all_of_them[:2], {**all_of_them[2], "number": "three"}, *all_of_them[3:]], 3),
    ],
    ids=["taken out", "moved", "put in", "cut off", "emptied", "unreadable"],
)
async def test_other_damage_is_found_where_it_is(audit: Audit, connection: Connection, damage, at) -> None:  # type: ignore[no-untyped-def]
    await rewritten(connection, damage(await rows(connection)))
    assert (await audit.verify()).broken_at == at


async def test_a_chain_that_was_made_anew_does_not_fit_the_tip(audit: Audit, connection: Connection) -> None:
    tip = await connection.redis.hgetall(keys.AUDIT_TIP)
    await connection.redis.delete(keys.AUDIT, keys.AUDIT_TIP)
    for number in range(6):
        await audit.write(entry(number + 10))
    await connection.redis.hset(keys.AUDIT_TIP, mapping=tip)
    assert not (await audit.verify()).whole


async def test_every_record_is_a_line_of_the_log_that_stands_by_itself(
    audit: Audit, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "aksbot.audit"):
        record = await audit.write(entry(7))
    assert json.loads(caplog.messages[-1]) == record.as_dict()


async def test_without_the_server_nothing_is_taken_as_written(tmp_path: Path) -> None:
    async with connected(None, tmp_path) as opened:
        assert opened.embedded
        await opened.embedded.__aexit__(None, None, None)
        with pytest.raises(StoreAway):
            await Audit(opened.redis).write(entry(1))


async def test_what_is_not_on_the_disk_is_not_taken_as_written(audit: Audit, connection: Connection) -> None:
    await connection.redis.config_set("appendfsync", "no")
    # Connections that have written nothing have nothing to wait for: none of them may be the one that is asked.
    await asyncio.gather(*(connection.redis.ping() for _ in range(10)))
    with pytest.raises(StoreAway, match="not on disk"):
        await audit.write(entry(1))

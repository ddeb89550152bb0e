"""A person sets a broken audit log aside, and the new one records that; a deleted log is detected."""

from __future__ import annotations

import json

import pytest

from bot.audit.aside_store import AuditAside
from bot.audit.record import What
from bot.audit.store import Audit, rows
from bot.fixes.store.executions import Executions
from bot.store import keys
from bot.store.connect import Connection
from handlers.problem import Problem
from handlers.remedy.execution import Execution
from tests.audit.conftest import entry
from tests.fixes.plans import PLAN

REASON = "a disk was full, the log was compared"


async def taken_out(connection: Connection, key: str, number: int) -> None:
    place, _ = rows(await connection.redis.xrange(key))[number]
    await connection.redis.xdel(key, place)


@pytest.fixture
async def broken(audit: Audit, connection: Connection) -> Audit:
    """The third record was taken out."""
    await taken_out(connection, keys.AUDIT, 2)
    return audit


async def test_a_broken_audit_is_set_aside_and_a_new_one_begins(broken: Audit, connection: Connection) -> None:
    aside = AuditAside(connection.redis)
    before = await connection.redis.xrange(keys.AUDIT)
    made = await aside.set_aside("somebody (root@host)", REASON)
    assert (made.records, made.broken_at) == (5, 3)
    assert await connection.redis.xrange(made.key) == before
    first = await broken.first()
    assert first
    said = first.entry
    assert (said["what"], said["who"]["name"], said["reason"]) == ("set-aside", "somebody (root@host)", REASON)
    assert (said["digest"], said["details"]["key"]) == (made.digest, made.key)
    assert (await broken.verify()).whole
    await broken.write(entry(7))
    standing = await aside.standing()
    assert (standing.verdict.whole, standing.verdict.records) == (True, 2)
    assert (standing.aside, standing.changed) == ((made,), ())


async def test_what_is_whole_is_not_set_aside(audit: Audit, connection: Connection) -> None:
    with pytest.raises(Problem, match="it is whole"):
        await AuditAside(connection.redis).set_aside("somebody", REASON)
    assert (await audit.verify()).records == 6


async def test_what_was_set_aside_and_is_changed_afterwards_is_found(broken: Audit, connection: Connection) -> None:
    aside = AuditAside(connection.redis)
    made = await aside.set_aside("somebody", REASON)
    await taken_out(connection, made.key, 0)
    assert (await aside.standing()).changed == (made,)


async def test_that_one_was_set_aside_is_known_although_its_list_was_deleted(
    broken: Audit, connection: Connection
) -> None:
    aside = AuditAside(connection.redis)
    made = await aside.set_aside("somebody", REASON)
    await connection.redis.delete(keys.AUDIT_ASIDE)
    assert (await aside.standing()).changed == (made,)


async def test_one_that_breaks_again_is_set_aside_again_and_names_the_one_before(
    broken: Audit, connection: Connection
) -> None:
    aside = AuditAside(connection.redis)
    first = await aside.set_aside("somebody", REASON)
    await broken.write(entry(8))
    await connection.redis.hset(keys.AUDIT_TIP, "number", "70")
    second = await aside.set_aside("somebody", "again")
    assert await aside.all() == (first, second)
    record = await broken.first()
    assert record
    assert record.entry["details"]["earlier"] == [first.digest]
    assert (await broken.verify()).whole


@pytest.mark.parametrize("key", [keys.AUDIT, keys.AUDIT_TIP, keys.AUDIT_WITNESS])
async def test_what_stands_in_the_place_of_the_audit_is_set_aside_too(
    audit: Audit, connection: Connection, key: str
) -> None:
    await connection.redis.delete(key)
    await connection.redis.set(key, "something else")
    assert not (await audit.verify()).whole
    await AuditAside(connection.redis).set_aside("somebody", REASON)
    assert (await audit.verify()).whole
    assert (await audit.write(entry(9))).number == 2


@pytest.mark.parametrize("field", ["number", "hash"])
async def test_a_tip_that_cannot_be_read_is_a_broken_audit(audit: Audit, connection: Connection, field: str) -> None:
    await connection.redis.hset(keys.AUDIT_TIP, field, "a word")
    assert not (await audit.verify()).whole


async def test_records_and_tip_deleted_together_do_not_look_new(audit: Audit, connection: Connection) -> None:
    await connection.redis.delete(keys.AUDIT, keys.AUDIT_TIP)
    verdict = await audit.verify()
    assert not verdict.whole
    assert "6 records were written" in verdict.why
    await audit.write(entry(1))
    assert not (await audit.verify()).whole


async def test_an_audit_that_was_made_anew_to_its_full_length_does_not_look_the_same(
    audit: Audit, connection: Connection
) -> None:
    await connection.redis.delete(keys.AUDIT, keys.AUDIT_TIP)
    for number in range(6):
        await audit.write(entry(number + 10))
    verdict = await audit.verify()
    assert verdict.broken_at == 6
    assert "made anew" in verdict.why


async def test_where_fixes_have_begun_and_nothing_of_them_is_recorded_something_is_missing(
    audit: Audit, connection: Connection
) -> None:
    """Whoever deletes all that is called audit still leaves the counter of fixes."""
    await Executions(connection.redis).hold(Execution.begin("fix-1", PLAN))
    await connection.redis.delete(keys.AUDIT, keys.AUDIT_TIP, keys.AUDIT_WITNESS)
    await audit.write(entry(1))
    verdict = await audit.verify()
    assert not verdict.whole
    assert "1 fixes had begun" in verdict.why
    await AuditAside(connection.redis).set_aside("somebody", REASON)
    assert (await audit.verify()).whole


async def test_a_record_that_has_a_name_is_written_once(audit: Audit) -> None:
    first = await audit.write_once(entry(1), "ended p-1")
    assert await audit.write_once(entry(2), "ended p-1") == first
    assert (await audit.write_once(entry(3), "started p-1")).number == 8
    verdict = await audit.verify()
    assert (verdict.whole, verdict.records) == (True, 8)


async def test_the_bot_trims_nothing(audit: Audit, connection: Connection) -> None:
    """All that writes to the stream is one script, and it names no length."""
    for number in range(1200):
        await audit.write_once(entry(number), str(number))
    assert await connection.redis.xlen(keys.AUDIT) == 1206
    assert await connection.redis.ttl(keys.AUDIT) == -1
    assert await connection.redis.ttl(keys.AUDIT_WITNESS) == -1
    assert (await audit.verify()).records == 1206
    assert [one.number async for _, one in audit.backwards()] == list(range(1206, 0, -1))


async def test_the_line_of_the_log_names_what_was_set_aside(
    broken: Audit, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "aksbot.audit"):
        made = await AuditAside(connection.redis).set_aside("somebody", REASON)
    (line,) = caplog.messages
    assert json.loads(json.loads(line)["body"])["what"] == What.SET_ASIDE
    assert made.digest in line

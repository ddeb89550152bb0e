"""The audit is shown to the one who asks, page by page; App Home says when it cannot tell what is open."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from bot.app import Bot
from bot.audit.record import Actor, Entry, What
from bot.audit.store import Audit
from bot.store import keys
from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.fixes.steps import CHANNEL
from tests.slack_app.reading import buttons, seen

WHO = Actor("T1", "U1", "somebody")
MANY = 10_000


async def recorded(redis: Connection, number: int, cluster: str = "staging-neu") -> None:
    audit = Audit(redis.redis)
    for one in range(number):
        await audit.write(Entry(What.APPROVED, WHO, f"/subscriptions/s/{cluster}", reason=f"because {one}"))


async def page(control: Control, user: str, *words: str) -> Message:
    """What only this person sees, once one of the messages says all of this."""

    def found() -> list[Message]:
        private = control.ephemerals(user, CHANNEL)
        return [one for one in private if all(word in seen(one) for word in words)]

    await control.until(lambda: bool(found()), 60)
    return found()[-1]


async def test_the_audit_is_shown_to_the_one_who_asks_and_to_nobody_else(
    bot: Bot, control: Control, redis: Connection
) -> None:
    await recorded(redis, 3)
    await control.slash("requester", CHANNEL, "/aks", "audit")
    shown = await page(control, "requester", "3 records, whole", "because 2")
    assert "audit_older" not in buttons(shown)
    assert not [one for one in control.messages(CHANNEL) if "because" in seen(one)]
    assert not control.files(CHANNEL)
    assert not control.ephemerals("visitor", CHANNEL)


async def test_older_records_come_with_a_button_until_the_first(bot: Bot, control: Control, redis: Connection) -> None:
    await recorded(redis, 25)
    await control.slash("requester", CHANNEL, "/aks", "audit")
    first = await page(control, "requester", "because 24", "because 15", "aksbot audit export")
    assert "because 14" not in seen(first)
    await control.press("requester", first, "audit_older")
    second = await page(control, "requester", "because 14", "because 5 ")
    await control.press("requester", second, "audit_older")
    third = await page(control, "requester", "because 4", "because 0")
    assert "audit_older" not in buttons(third)


async def test_in_a_direct_message_the_whole_is_a_file(bot: Bot, control: Control, redis: Connection) -> None:
    await recorded(redis, 12)
    direct = control.direct("requester").id
    await control.slash("requester", direct, "/aks", "audit")
    await control.until(lambda: bool(control.files(direct)), 60)
    (file,) = control.files(direct)
    lines = [json.loads(line) for line in (file.content or b"").decode().splitlines()]
    assert [one["number"] for one in lines] == list(range(1, 13))


async def test_in_a_thread_it_is_whispered(bot: Bot, control: Control, redis: Connection) -> None:
    await recorded(redis, 3)
    said = control.mention("requester", CHANNEL, "audit")
    await page(control, "requester", "because 2")
    assert not [one for one in control.thread(CHANNEL, said.ts) if "because" in seen(one)]


@pytest.mark.parametrize("pressed", ["0-0", "nonsense", "99999999999999999999-1", "1-0"])
async def test_a_place_that_no_button_of_ours_carries_is_the_beginning_or_the_end(
    bot: Bot, control: Control, redis: Connection, pressed: str
) -> None:
    await recorded(redis, 12)
    await control.slash("requester", CHANNEL, "/aks", "audit")
    first = await page(control, "requester", "because 11")
    for block in first.blocks:
        for one in block.get("elements", []):
            if one.get("action_id") == "audit_older":
                one["value"] = pressed
    before = len(control.ephemerals("requester", CHANNEL))
    await control.press("requester", first, "audit_older")
    await control.until(lambda: len(control.ephemerals("requester", CHANNEL)) > before, 30)
    said = seen(control.ephemerals("requester", CHANNEL)[-1])
    assert "because 11" in said or "Nothing" in said


async def test_records_in_whose_place_something_else_stands_are_not_called_none(
    bot: Bot, control: Control, redis: Connection
) -> None:
    await redis.redis.set("aksbot:audit", "something else")
    await control.slash("requester", CHANNEL, "/aks", "audit")
    said = seen(await page(control, "requester", "The audit is broken", "cannot be read"))
    assert "Nothing has been recorded" not in said


async def test_ten_thousand_records_are_answered_quickly(bot: Bot, control: Control, redis: Connection) -> None:
    await filled(redis, MANY)
    began = time.monotonic()
    await control.slash("requester", CHANNEL, "/aks", "audit")
    await page(control, "requester", "10000 records, whole", f"because {MANY - 1}")
    assert time.monotonic() - began < 15  # a second or so where nothing else runs


async def filled(redis: Connection, number: int) -> None:
    """Written as the audit writes, without waiting for the disk each time."""
    from bot.audit.record import GENESIS, seal
    from bot.store import keys

    previous, record = GENESIS, None
    async with redis.redis.pipeline(transaction=False) as together:
        for one in range(1, number + 1):
            body = Entry(What.APPROVED, WHO, "/subscriptions/s/staging-neu", reason=f"because {one - 1}").as_json()
            record = seal(one, 1_800_000_000_000 + one, previous, body)
            previous = record.hash
            together.xadd(keys.AUDIT, {name: str(value) for name, value in record.as_dict().items()})
        assert record
        together.hset(keys.AUDIT_TIP, mapping={"number": number, "hash": record.hash})
        await asyncio.wait_for(together.execute(), 60)


@pytest.mark.parametrize(
    ("at_ms", "body"),
    [
        ("1", "[]"),
        ("1", '{"who": "x"}'),
        ("1", '{"details": [1]}'),
        ("999999999999999999", "[]"),
        ("1", "x"),
    ],
)
async def test_a_record_that_somebody_has_put_there_hides_no_other(
    bot: Bot, control: Control, redis: Connection, at_ms: str, body: str
) -> None:
    await recorded(redis, 2)
    put: dict[Any, Any] = {"number": "3", "at_ms": at_ms, "previous": "x", "body": body, "hash": "x"}
    await redis.redis.xadd(keys.AUDIT, put)
    await redis.redis.hset(keys.AUDIT_TIP, mapping={"number": "3", "hash": "x"})
    await control.slash("requester", CHANNEL, "/aks", "audit")
    await page(control, "requester", "audit is broken", "cannot be read", "because 1", "because 0")

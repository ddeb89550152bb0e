"""An approval that cannot be stored is reported immediately, and one that is too old must be repeated."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.address import Address
from bot.app import Bot
from bot.fixes.moves import WORD_LASTS_MS
from bot.fixes.proposal import End
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.queue.job import Job
from bot.queue.priority import Priority
from bot.slack.inbound.asks import Ask, What
from bot.slack.kit.limits import ACK_WITHIN_S
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, asked_proposal, audited, ended, writes
from tests.store.full_disk import fill, small_disk


async def test_a_click_on_a_full_disk_is_told_at_once_and_never_takes_effect(
    start: Start, configured: None, desk: Desk, control: Control, arm: ArmServer, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "data") as disk:
        async with start(times=ShortenedPauses()):
            proposal = await desk.asked()
            filler = fill(disk)
            async with asyncio.timeout(ACK_WITHIN_S):
                await control.press("approver", proposal, "fix_approve")
            said = await desk.told("approver", "takes no writes", "its disk is full", "nothing was done")
            assert "Error" not in said
            filler.unlink()
            await _declined_when_it_is_back(desk, proposal)
            await desk.says("declined")
    assert writes(arm) == []


async def _declined_when_it_is_back(desk: Desk, proposal: Message) -> None:
    """Until the server writes again, the modal says so where it could not be stored, and stays open."""
    async with asyncio.timeout(60):
        while True:
            await desk.declined(proposal)
            if desk.control.modal("approver") is None:
                return
            await desk.control.close_view("approver")
            await asyncio.sleep(0.5)


async def test_a_click_on_a_full_server_is_told_at_once(
    bot: Bot, desk: Desk, control: Control, redis: Connection, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    await redis.redis.config_set("maxmemory", 1)
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "takes no writes", "maxmemory is reached")
    await redis.redis.config_set("maxmemory", 0)
    assert "approved" not in await audited(redis)
    assert writes(arm) == []


async def test_an_approval_that_waited_for_more_than_a_minute_asks_again(
    bot: Bot, desk: Desk, control: Control, redis: Connection, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    await _pressed_long_ago(bot, redis, control, proposal, What.FIX_APPROVE)
    await desk.told("approver", "more than a minute ago", "Press again")
    assert "approved" not in await audited(redis)
    await control.press("approver", proposal, "fix_approve")
    assert (await ended(redis)).end is End.FIXED


@pytest.mark.parametrize("rules", [{"approvers": ["requester"], "break_glass": ["approver"]}])
async def test_broken_glass_that_waited_for_more_than_a_minute_asks_again(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    proposal = await desk.asked()
    await _pressed_long_ago(bot, redis, control, proposal, What.FIX_GLASS, text="the site is down")
    await desk.told("approver", "more than a minute ago")
    assert "broke glass" not in " ".join(await audited(redis)).replace("_", " ")


async def test_a_no_counts_however_long_it_waited(bot: Bot, desk: Desk, control: Control, redis: Connection) -> None:
    proposal = await desk.asked()
    await _pressed_long_ago(bot, redis, control, proposal, What.FIX_DECLINE)
    await desk.says("declined")
    assert (await ended(redis)).end is End.DENIED


async def _pressed_long_ago(
    bot: Bot, redis: Connection, control: Control, proposal: Message, what: What, *, text: str = ""
) -> None:
    """A click as it lies in the queue when a worker comes to it late."""
    value = next(
        one["value"]
        for block in proposal.blocks
        for one in block.get("elements", [])
        if one.get("action_id") == "fix_approve"
    )
    team, person = control.team, control.team.person("approver")
    place = Address(team.id, proposal.channel, person.id, thread_ts=proposal.thread_ts or "")
    one = await asked_proposal(redis)
    now_ms = await Proposals(redis.redis).now_ms()
    ask = Ask(f"late-{what.value}-{one.id}", what, place, text=text, pressed=value)
    late = replace(ask, pressed_ms=now_ms - WORD_LASTS_MS - 1)
    await bot.jobs.submit(Job(late.id, late, Priority.CLICK))

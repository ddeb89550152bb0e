"""If Slack is down when a fix ends, for longer than jobs are retried, the outcome is posted when Slack is back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from bot.fixes.proposal import End, Proposal
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, asked_proposal, ended, no_job_is_left, writes
from tests.slack_app.reading import seen
from tests.store.servers import until

pytestmark = pytest.mark.usefixtures("configured")
AWAY_S = 120.0


@asynccontextmanager
async def away(slack: SlackServer, redis: Connection) -> AsyncIterator[None]:
    """Nothing can be said for as long as this is open; at its end everybody has given up."""
    with silent(slack):
        yield
        await until(lambda: no_job_is_left(redis), AWAY_S)


@contextmanager
def silent(slack: SlackServer) -> Iterator[None]:
    faults = [Fault("500", method) for method in ("chat.postMessage", "chat.update", "chat.postEphemeral")]
    slack.faults.extend(faults)
    yield
    for fault in faults:
        slack.faults.remove(fault)


async def a_minute_later(redis: Connection, one: Proposal) -> None:
    """Signs of life are forgotten."""
    await redis.redis.delete(f"aksbot:fix:{one.id}:alive")


def outcomes(desk: Desk, proposal: Message) -> list[Message]:
    thread = desk.control.thread(proposal.channel, proposal.thread_ts or "")
    return [one for one in thread if (one.metadata or {}).get("event_payload", {}).get("part") == "outcome"]


async def told_once(desk: Desk, proposal: Message, *words: str) -> None:
    await desk.says(*words)
    await desk.control.until(lambda: bool(outcomes(desk, proposal)), 60)
    (outcome,) = outcomes(desk, proposal)
    assert words[0] in seen(outcome)


Act = Callable[[Control, Message], Awaitable[None]]


async def nothing(control: Control, proposal: Message) -> None:
    """An approval needs no window."""


async def approve(control: Control, proposal: Message) -> None:
    await control.press("approver", proposal, "fix_approve")


async def ask_why(control: Control, proposal: Message) -> None:
    await control.press("approver", proposal, "fix_decline")


async def decline(control: Control, proposal: Message) -> None:
    await control.submit_view("approver", {"reason": "batch runs until 5"})


@pytest.mark.parametrize(
    ("before", "act", "end", "word"),
    [(nothing, approve, End.FIXED, "*fixed*"), (ask_why, decline, End.DENIED, "*declined")],
)
async def test_how_it_ended_is_said_once_slack_is_back(
    start: Start,
    desk: Desk,
    control: Control,
    arm: ArmServer,
    slack: SlackServer,
    redis: Connection,
    before: Act,
    act: Act,
    end: End,
    word: str,
) -> None:
    async with start(times=ShortenedPauses()):
        proposal = await desk.asked()
        await before(control, proposal)
        async with away(slack, redis):
            await act(control, proposal)
            assert (await ended(redis, AWAY_S)).end is end
    assert outcomes(desk, proposal) == []
    await a_minute_later(redis, await asked_proposal(redis))
    async with start(times=ShortenedPauses()):
        await told_once(desk, proposal, word)
    assert len(writes(arm)) == (1 if end is End.FIXED else 0)


async def test_that_it_expired_is_said_once_slack_is_back(
    start: Start, desk: Desk, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with start(times=ShortenedPauses()):
        proposal = await desk.asked()
    one = await asked_proposal(redis)
    await Proposals(redis.redis).move(one.id, lambda before, _: before.moved(expires_ms=1))
    # The first look of a bot that starts finds it: Slack must be away by then.
    with silent(slack):
        async with start(times=ShortenedPauses()):
            assert (await ended(redis)).end is End.EXPIRED
            await until(lambda: no_job_is_left(redis), AWAY_S)
    assert outcomes(desk, proposal) == []
    await a_minute_later(redis, one)
    async with start(times=ShortenedPauses()):
        await told_once(desk, proposal, "*expired: nothing was done*")

"""Fixes do not depend on Slack: any implementation of the display, notification and user lookup interfaces works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from bot.fixes import moves
from bot.fixes.final_message import FinalMessage
from bot.fixes.offering import Offering
from bot.fixes.proposal import Approval, End, Person, Proposal, State
from bot.fixes.recheck import ApprovalRecheck, CannotAsk, Unknown
from bot.fixes.store.offers import FixesInHand, OfferedPlans
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import RealTimes
from bot.policy.fixes import Fixes
from bot.policy.look import Asker
from bot.queue.retry import CannotTell
from bot.report.events import Report
from bot.store.connect import Connection
from handlers.problem import Problem
from handlers.remedy.permit import NotKnown, Withdrawn
from handlers.remedy.plan import Offer
from tests.bot import diagnoses
from tests.fixes.paper import Paper
from tests.fixes.plans import PLAN, POOL, REQUESTER, proposal, rules

WHO = Person("T01", "U02", "approver")
POLICY = Fixes.model_validate({"rules": [{"clusters": ["prod-*"], "approvers": ["T01:U02"], "approvals": 1}]})


@dataclass
class Register:
    """Knows who people are, or says why it cannot be asked."""

    people: Mapping[str, Asker | Unknown]
    closed: bool = False

    async def askers_now(self, team: str, users: Iterable[str], groups: Iterable[str]) -> Mapping[str, Asker | Unknown]:
        if self.closed:
            raise CannotAsk("the register is closed")
        return {user: self.people[user] for user in users}


def last_word(connection: Connection, paper: Paper) -> FinalMessage:
    redis = connection.redis
    offering = Offering(POLICY, Proposals(redis), OfferedPlans(redis), RealTimes())
    return FinalMessage(paper, offering, FixesInHand(redis), no_check)


async def no_check(cluster: str) -> Report | Problem:
    return Problem(f"cannot check {cluster}", "nobody looks here", "look elsewhere")


def ended(end: End, why: str) -> Proposal:
    return proposal().moved(state=State.ENDED, end=end, why=why, requester=REQUESTER)


async def test_the_end_of_a_fix_is_told_to_any_reporter(connection: Connection) -> None:
    paper = Paper()
    await last_word(connection, paper).say(ended(End.FIXED, "it is gone"))
    assert paper.lines == ["show p1", "p1 fixed: it is gone"]
    assert await FixesInHand(connection.redis).unreported_outcomes() == []


async def test_what_can_be_done_now_is_told_with_it(connection: Connection) -> None:
    paper = Paper()
    report = Report(diagnoses.found(), 1.0, 1, offers=(Offer("nodepool-failed", POOL, "reconcile-pool", PLAN),))
    await last_word(connection, paper).say(ended(End.NOT_FIXED, "it is still there"), report)
    assert paper.lines[-1] == "p1 not-fixed: it is still there; offered: reconcile-pool"


async def test_what_no_reporter_could_tell_is_owed(connection: Connection) -> None:
    paper = Paper(torn=True)
    with pytest.raises(CannotTell, match="torn"):
        await last_word(connection, paper).say(ended(End.FIXED, "it is gone"))
    assert await FixesInHand(connection.redis).unreported_outcomes() == ["p1"]
    paper.torn = False
    await last_word(connection, paper).post_again(ended(End.FIXED, "it is gone"))
    assert paper.lines == ["show p1", "p1 fixed: it is gone"]
    assert await FixesInHand(connection.redis).unreported_outcomes() == []


async def approved(connection: Connection) -> Proposal:
    """By the only one who may."""
    proposals = Proposals(connection.redis)
    made = await proposals.offer(PLAN, "T01", proposal().spot, rules())
    await proposals.move(made.id, partial(moves.ask, who=REQUESTER, digest=made.digest))
    moved = await proposals.move(made.id, partial(moves.approve, who=WHO, digest=made.digest))
    assert isinstance(moved, Proposal)
    return moved


def still(connection: Connection, register: Register) -> ApprovalRecheck:
    return ApprovalRecheck(POLICY, Proposals(connection.redis), register, RealTimes())


async def test_who_is_known_and_may_still_lets_it_begin(connection: Connection) -> None:
    one = await approved(connection)
    assert [type(word) for word in one.approvals] == [Approval]
    register = Register({"U02": Asker("T01", "U02")})
    assert await still(connection, register).against(one) is None
    assert await still(connection, register).permit(one)() is None


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (Unknown("no such person"), "no such person"),
        (Asker("T01", "U02", guest=True), "a guest account"),
    ],
    ids=["nobody any more", "a guest by now"],
)
async def test_whose_word_counts_no_more_is_said_in_the_reason(
    connection: Connection, now: Asker | Unknown, why: str
) -> None:
    one = await approved(connection)
    against = await still(connection, Register({"U02": now})).permit(one)()
    assert isinstance(against, Withdrawn)
    assert f"approver {'is not known' if isinstance(now, Unknown) else 'has'}" in against.why
    assert why in against.why


async def test_nothing_is_sent_where_nobody_can_be_asked(connection: Connection) -> None:
    one = await approved(connection)
    closed = still(connection, Register({}, closed=True))
    against = await closed.permit(one)()
    assert isinstance(against, NotKnown)
    assert "the register is closed" in against.why
    with pytest.raises(CannotAsk):
        await closed.against(one)

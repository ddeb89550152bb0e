"""A request that nobody approves calls the next group, when the policy says so, and once."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import pytest

from bot.audit.store import Audit
from bot.fixes import moves
from bot.fixes.escalating import Escalating
from bot.fixes.proposal import Proposal
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import RealTimes
from bot.policy.fixes import Fixes
from bot.queue.retry import CannotTell
from bot.store.connect import Connection
from tests.fixes.plans import PLAN, REQUESTER, proposal, rules
from tests.fixes.test_without_slack import WHO, Paper

ON_CALL, LEADS, HEAD = "S01", "S02", "T01:U09"
RULE = {
    "clusters": ["prod-*"],
    "approvers": [ON_CALL, LEADS, HEAD],
    "escalate": [{"after_minutes": 10, "ping": [LEADS]}, {"after_minutes": 20, "ping": [HEAD]}],
    "frozen": ["always"],
}
NEVER = {"name": "always", "last": date(2001, 1, 2)}
MINUTE = 60_000


def escalating(connection: Connection, paper: Paper, freeze: dict[str, Any] | None = None) -> Escalating:
    policy = Fixes.model_validate({"rules": [RULE], "freezes": [freeze or NEVER]})
    redis = connection.redis
    return Escalating(policy, Proposals(redis), Audit(redis), paper, RealTimes())


async def waiting(connection: Connection, minutes: int) -> Proposal:
    """Asked for so many minutes ago."""
    proposals = Proposals(connection.redis)
    made = await proposals.offer(PLAN, "T01", proposal().spot, replace(rules(), lasts_ms=30 * MINUTE))
    await proposals.move(made.id, partial(moves.ask, who=REQUESTER, digest=made.digest))
    return await since(connection, made, minutes)


async def since(connection: Connection, one: Proposal, minutes: int) -> Proposal:
    proposals = Proposals(connection.redis)
    moved = await proposals.move(one.id, lambda was, now_ms: was.moved(asked_ms=now_ms - minutes * MINUTE))
    assert isinstance(moved, Proposal)
    return moved


async def latest(connection: Connection, one: Proposal) -> Proposal:
    found = await Proposals(connection.redis).load(one.id)
    assert found
    return found


async def audited(connection: Connection) -> list[tuple[str, object]]:
    return [(one.entry["what"], one.entry["details"].get("called")) async for one in Audit(connection.redis).records()]


async def test_the_next_group_is_called_once_its_time_has_come_and_never_again(connection: Connection) -> None:
    paper = Paper()
    one = await waiting(connection, 9)
    await escalating(connection, paper).look(one)
    assert paper.lines == []
    one = await since(connection, one, 11)
    await escalating(connection, paper).look(one)
    assert paper.lines == [f"{one.id} level 1 calls S02", f"show {one.id}"]
    # Another worker, or the same one after a restart.
    await escalating(connection, paper).look(await latest(connection, one))
    assert len(paper.lines) == 2
    await escalating(connection, paper).look(await since(connection, one, 21))
    assert paper.lines[2] == f"{one.id} level 2 calls T01:U09"
    assert await audited(connection) == [("escalated", [LEADS]), ("escalated", [HEAD])]


async def test_whoever_was_away_for_long_calls_all_who_are_due_at_once(connection: Connection) -> None:
    paper = Paper()
    one = await waiting(connection, 25)
    await escalating(connection, paper).look(one)
    assert paper.lines[0] == f"{one.id} level 2 calls S02, T01:U09"


async def test_where_nobody_could_be_told_it_is_tried_again(connection: Connection) -> None:
    paper = Paper(torn=True)
    one = await waiting(connection, 11)
    with pytest.raises(CannotTell, match="torn"):
        await escalating(connection, paper).look(one)
    assert await audited(connection) == []
    paper.torn = False
    await escalating(connection, paper).look(await latest(connection, one))
    assert paper.lines[0] == f"{one.id} level 1 calls S02"


async def test_what_is_approved_or_over_calls_nobody(connection: Connection) -> None:
    paper = Paper()
    one = await waiting(connection, 11)
    moved = await Proposals(connection.redis).move(one.id, partial(moves.approve, who=WHO, digest=one.digest))
    assert isinstance(moved, Proposal)
    await escalating(connection, paper).look(moved)
    late = await waiting(connection, 11)
    await escalating(connection, paper).look(late.moved(expires_ms=1))
    assert paper.lines == []


async def test_in_a_freeze_nobody_is_woken_who_cannot_approve_it(connection: Connection) -> None:
    paper = Paper()
    await escalating(connection, paper, {"name": "always"}).look(await waiting(connection, 25))
    assert paper.lines == []

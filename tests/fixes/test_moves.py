"""Every transition from every state: its effect, or the reason for its rejection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fixes import moves
from bot.fixes.moves import Moved, NotMoved, Why
from bot.fixes.proposal import End, Person, Proposal, State
from bot.store.codec import decode, encode
from handlers.remedy.execution import Execution
from tests.fixes.plans import APPROVER, PLAN, REQUESTER, SECOND, proposal, rules

NOW = 2_000
DIGEST = PLAN.digest


def done(moved: Moved) -> Proposal:
    assert isinstance(moved, Proposal), moved
    return moved


def why(moved: Moved) -> Why:
    assert isinstance(moved, NotMoved), moved
    return moved.why


def asked(one: Proposal | None = None) -> Proposal:
    return done(moves.ask(one or proposal(), NOW, who=REQUESTER, digest=DIGEST, reason="because"))


def approved() -> Proposal:
    return done(moves.approve(asked(), NOW, who=APPROVER, digest=DIGEST))


def running() -> Proposal:
    return done(moves.start(approved(), NOW))


def ended() -> Proposal:
    return done(moves.finish(running(), NOW, end=End.FIXED))


def test_one_approval_is_enough_where_one_is_needed() -> None:
    assert approved().state is State.APPROVED
    assert approved().approvals[0].digest == DIGEST


def test_two_are_needed_where_two_are() -> None:
    one = done(moves.approve(asked(proposal(rules(2))), NOW, who=APPROVER, digest=DIGEST))
    assert (one.state, one.missing) == (State.OFFERED, 1)
    assert done(moves.approve(one, NOW, who=SECOND, digest=DIGEST)).state is State.APPROVED


def test_nobody_counts_twice() -> None:
    one = done(moves.approve(asked(proposal(rules(2))), NOW, who=APPROVER, digest=DIGEST))
    assert why(moves.approve(one, NOW, who=APPROVER, digest=DIGEST)) is Why.TWICE


def test_the_same_id_in_another_team_is_another_person() -> None:
    one = done(moves.approve(asked(proposal(rules(2))), NOW, who=APPROVER, digest=DIGEST))
    twin = Person("T2", APPROVER.user)
    assert done(moves.approve(one, NOW, who=twin, digest=DIGEST)).state is State.APPROVED


def test_under_four_eyes_whoever_asks_cannot_approve() -> None:
    four_eyes = asked(proposal(rules(requester_counts=False)))
    assert why(moves.approve(four_eyes, NOW, who=REQUESTER, digest=DIGEST)) is Why.REQUESTER
    assert done(moves.approve(four_eyes, NOW, who=APPROVER, digest=DIGEST)).state is State.APPROVED


def test_nobody_approves_first_and_asks_afterwards() -> None:
    """Otherwise one person would be two of the four eyes."""
    four_eyes = proposal(rules(2, requester_counts=False))
    assert why(moves.approve(four_eyes, NOW, who=APPROVER, digest=DIGEST)) is Why.NOT_ASKED


def test_without_four_eyes_they_can() -> None:
    assert done(moves.approve(asked(), NOW, who=REQUESTER, digest=DIGEST)).state is State.APPROVED


def test_an_approval_is_for_one_plan_only() -> None:
    assert why(moves.approve(asked(), NOW, who=APPROVER, digest="0" * 64)) is Why.OTHER_PLAN
    assert why(moves.ask(proposal(), NOW, who=REQUESTER, digest="0" * 64)) is Why.OTHER_PLAN


def test_an_offer_expires_at_its_minute_and_not_before() -> None:
    last, late = 60_999, 61_000
    assert done(moves.ask(proposal(), last, who=REQUESTER, digest=DIGEST)).requester == REQUESTER
    assert why(moves.ask(proposal(), late, who=REQUESTER, digest=DIGEST)) is Why.EXPIRED
    assert why(moves.expire(proposal(), last)) is Why.APPROVED
    assert done(moves.expire(proposal(), late)).end is End.EXPIRED


def test_asking_starts_the_clock_for_those_who_are_called() -> None:
    assert asked().expires_ms == NOW + 60_000
    assert why(moves.ask(asked(), NOW, who=SECOND, digest=DIGEST)) is Why.ASKED_ALREADY


def test_a_reason_is_asked_for_where_the_policy_wants_one() -> None:
    strict = proposal(rules(reason_needed=True))
    assert why(moves.ask(strict, NOW, who=REQUESTER, digest=DIGEST, reason="  ")) is Why.NO_REASON
    assert asked(strict).reason == "because"


def test_glass_is_broken_by_one_with_a_reason() -> None:
    two = proposal(rules(2, requester_counts=False))
    assert why(moves.break_glass(two, NOW, who=APPROVER, digest=DIGEST, reason="")) is Why.NO_REASON
    broken = done(moves.break_glass(two, NOW, who=APPROVER, digest=DIGEST, reason="on fire"))
    assert broken.state is State.APPROVED
    assert broken.approvals[-1].broke_glass


def test_a_worker_takes_up_what_is_approved_and_again_what_it_was_torn_from() -> None:
    assert why(moves.start(asked(), NOW)) is Why.NOT_APPROVED
    assert running().state is State.RUNNING
    assert done(moves.start(running(), NOW)).state is State.RUNNING
    assert why(moves.start(ended(), NOW)) is Why.ENDED


def test_cancelling_ends_what_waits_and_is_noted_for_what_runs() -> None:
    assert done(moves.cancel(approved(), NOW, who=SECOND)).end is End.CANCELLED
    stopped = done(moves.cancel(running(), NOW, who=SECOND))
    assert (stopped.state, stopped.cancel_by) == (State.RUNNING, SECOND)
    assert done(moves.cancel(stopped, NOW, who=APPROVER)).cancel_by == SECOND


def test_no_ends_it_until_it_runs() -> None:
    assert done(moves.decline(approved(), NOW, who=SECOND, reason="not now")).end is End.DENIED
    assert why(moves.decline(running(), NOW, who=SECOND)) is Why.RUNS


@pytest.mark.parametrize(
    "move",
    [
        lambda one: moves.ask(one, NOW, who=SECOND, digest=DIGEST),
        lambda one: moves.approve(one, NOW, who=SECOND, digest=DIGEST),
        lambda one: moves.break_glass(one, NOW, who=SECOND, digest=DIGEST, reason="x"),
        lambda one: moves.decline(one, NOW, who=SECOND),
        lambda one: moves.start(one, NOW),
        lambda one: moves.cancel(one, NOW, who=SECOND),
        lambda one: moves.finish(one, NOW, end=End.FAILED),
        lambda one: moves.expire(one, 10**12),
    ],
)
def test_what_has_ended_stays_as_it_ended(move: Callable[[Proposal], Moved]) -> None:
    assert why(move(ended())) is Why.ENDED


def test_a_proposal_comes_back_from_json_as_it_was() -> None:
    for one in (proposal(), asked(), approved(), running(), ended()):
        assert decode(Proposal, encode(one)) == one


ACTS: list[Callable[[Proposal, int], Moved]] = [
    *(lambda one, now, who=who: moves.ask(one, now, who=who, digest=DIGEST) for who in (REQUESTER, APPROVER)),
    *(
        lambda one, now, who=who: moves.approve(one, now, who=who, digest=DIGEST)
        for who in (REQUESTER, APPROVER, SECOND)
    ),
    lambda one, now: moves.approve(one, now, who=SECOND, digest="1" * 64),
    lambda one, now: moves.decline(one, now, who=SECOND),
    lambda one, now: moves.cancel(one, now, who=SECOND),
    lambda one, now: moves.start(one, now),
    lambda one, now: moves.expire(one, now),
]


@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 200_000)), max_size=12))
def test_whatever_is_clicked_it_runs_only_with_two_words_for_this_plan(
    acts: list[tuple[Callable[[Proposal, int], Moved], int]],
) -> None:
    one = proposal(rules(2, requester_counts=False))
    for act, now in acts:
        moved = act(one, now)
        one = moved if isinstance(moved, Proposal) else one
        if one.state is State.RUNNING:
            people = {(word.person.team, word.person.user) for word in one.approvals}
            assert one.requester is not None
            assert not any(word.person.is_(one.requester) for word in one.approvals)
            assert len(people) >= 2
            assert all(word.digest == DIGEST for word in one.approvals)


def test_however_often_an_offer_is_read_its_plan_is_decoded_once() -> None:
    first, again = decode(Proposal, encode(proposal())), decode(Proposal, encode(approved()))
    assert first.plan is again.plan
    begun = Execution.begin("p1", first.plan)
    assert Execution.from_json(begun.as_json()).plan is first.plan
    assert decode(Proposal, encode(replace(first, plan=replace(PLAN, title="another")))).plan is not first.plan

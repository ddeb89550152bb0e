"""A fix verifies its authorization right before its first write. Once started, it finishes without asking again."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.executor import MOST_ASKED_LEAVE
from handlers.remedy.permit import NotKnown, Withdrawn
from tests.remedy_execution.inside import as_people_wrote_it
from tests.remedy_execution.plans import CASES
from tests.remedy_execution.stage import Stage
from tests.remedy_execution.test_kill_walk import Died, assert_kept_the_promise, dies_at, end_of, stage_of, undisturbed

GONE, MUTE = Withdrawn("approver is not among the approvers any more"), NotKnown("Slack does not answer")
Said = Withdrawn | NotKnown | None


@dataclass
class Leave:
    """What is said each time; the last of it for ever. Nothing may be written before it was asked for."""

    stage: Stage
    says: list[Said]
    asked: int = 0
    before: list[int] = field(default_factory=list)

    async def __call__(self) -> Said:
        self.before.append(len(sent(self.stage)))
        self.asked += 1
        return self.says[min(self.asked, len(self.says)) - 1]


def sent(stage: Stage) -> list[tuple[str, str]]:
    return [*stage.writes, *stage.kube_writes]


@pytest.mark.parametrize("name", list(CASES))
async def test_what_may_not_begin_any_more_sends_nothing_and_says_why(name: str) -> None:
    async with stage_of(name) as stage:
        leave = Leave(stage, [GONE])
        after = await stage.run(CASES[name].make(stage), permit=leave)
        assert sent(stage) == []
    assert (after.outcome, after.calls, leave.asked) == (Outcome.CANCELLED, (), 1)
    assert after.why == f"{GONE.why}; nothing was sent"


@pytest.mark.parametrize("name", list(CASES))
async def test_what_has_begun_is_carried_through_and_tidied_up_whoever_has_left_since(name: str) -> None:
    calm = await undisturbed(name)
    async with stage_of(name) as stage:
        leave = Leave(stage, [None, GONE])
        end = end_of(stage, await stage.run(CASES[name].make(stage), permit=leave))
    assert_kept_the_promise(name, end, calm)
    assert end.writes == calm.writes
    assert leave.before == [0]


@pytest.mark.parametrize("name", list(CASES))
async def test_a_worker_that_dies_between_the_question_and_the_intent_has_it_asked_again(name: str) -> None:
    async with stage_of(name) as stage:
        begun = Execution.begin("fix-1", CASES[name].make(stage))
        first, again = Leave(stage, [None]), Leave(stage, [GONE])

        async def die(boundary: str) -> None:
            assert "ready, no intent recorded" in boundary
            raise Died

        with pytest.raises(Died):
            await stage.run(begun, die, permit=first)
        after = await stage.run(stage.ledger.last if stage.ledger.saved else begun, permit=again)
        assert sent(stage) == []
    assert (first.asked, again.asked, after.outcome) == (1, 1, Outcome.CANCELLED)


async def test_wherever_a_worker_dies_a_budget_is_put_back_although_nobody_may_begin_it_now() -> None:
    calm = await undisturbed("relax-budget")
    relaxed = 0
    for number in range(len(calm.boundaries)):
        async with stage_of("relax-budget") as stage:
            before = as_people_wrote_it(stage)
            begun = Execution.begin("fix-1", CASES["relax-budget"].make(stage))
            await dies_at(stage, begun, number)
            relaxed += as_people_wrote_it(stage) != before
            stage.azure.finish_operations()
            last = stage.ledger.last if stage.ledger.saved else begun
            after = await stage.run(last, permit=Leave(stage, [GONE]))
            assert after.ended
            assert as_people_wrote_it(stage) == before, calm.boundaries[number]
    assert relaxed > 6


@pytest.mark.parametrize("mute", range(1, MOST_ASKED_LEAVE))
async def test_where_nobody_can_say_it_is_asked_again_a_few_times(mute: int) -> None:
    async with stage_of("reconcile-pool") as stage:
        leave = Leave(stage, [*[MUTE] * mute, None])
        after = await stage.run(CASES["reconcile-pool"].make(stage), permit=leave)
        assert len(sent(stage)) == 1
    assert (after.outcome, leave.before) == (Outcome.DONE, [0] * (mute + 1))
    assert [note.says for note in after.notes if MUTE.why in note.says] == [
        f"{MUTE.why}; nothing was sent yet, and it is asked again"
    ]


async def test_where_nobody_can_say_for_long_nothing_is_sent_on_a_guess() -> None:
    async with stage_of("reconcile-pool") as stage:
        leave = Leave(stage, [MUTE])
        after = await stage.run(CASES["reconcile-pool"].make(stage), permit=leave)
        assert sent(stage) == []
    assert (after.outcome, leave.asked) == (Outcome.CANCELLED, MOST_ASKED_LEAVE)
    assert after.why == f"{MUTE.why}; nothing was sent"


async def test_how_often_it_was_asked_outlives_the_worker() -> None:
    """Whoever dies after each question does not ask for ever."""
    asked = 0
    async with stage_of("reconcile-pool") as stage:
        here = Execution.begin("fix-1", CASES["reconcile-pool"].make(stage))
        while not here.ended and asked < 2 * MOST_ASKED_LEAVE:
            leave = Leave(stage, [MUTE])
            async with stage.executor(permit=leave) as executor:
                await executor.advance(here, stage.ledger)
            here = stage.ledger.last
            stage.clock.wait(here.wait_s)
            asked += leave.asked
        assert sent(stage) == []
    assert asked == MOST_ASKED_LEAVE

"""Verdicts as evidence: available after their checks, inconclusive if there is no check, never circular."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from handlers.engine.causes import CausePlan
from handlers.engine.current import Lateness
from handlers.engine.declare import BadDeclaration, ClearWithout, Diagnostic, collector, diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import DiagnosticEnded, Engine
from handlers.model import (
    CannotSee,
    Causes,
    Clear,
    Diagnosis,
    Evidence,
    Finding,
    Judgement,
    NotApplicable,
    Outcome,
    State,
    Target,
    Unavailable,
    Why,
)
from handlers.resource_id import ResourceId

CLUSTER = "/subscriptions/5a1c0000-0000-4000-8000-000000000001/resourceGroups/rg/providers/Microsoft.X/clusters/one"
TARGET = Target(ResourceId.parse(CLUSTER))
EXPLAINS = {
    "flood": frozenset({"outage"}),
    "fire": frozenset({"outage"}),
    "theft": frozenset({"outage"}),
    "fate": frozenset({"outage", "theft"}),
    "outage": frozenset[str](),
}


@dataclass(frozen=True, kw_only=True)
class House(Evidence):
    water: int = 0


@dataclass(frozen=True, kw_only=True)
class Alarm(Evidence):
    rings: bool = False


class Eyes:
    """What there is to see, or why it cannot be seen."""

    def __init__(self, water: int = 0, alarm: Unavailable | None = None) -> None:
        self.water = water
        self.alarm = alarm


@collector(reads=("House/read",))
async def house(writer_permissions: Eyes) -> House:
    """the house"""
    return House(source="house", taken_at=datetime.now(UTC), water=writer_permissions.water)


@collector(reads=("Alarm/read",))
async def alarm(writer_permissions: Eyes) -> Alarm:
    """the alarm"""
    if writer_permissions.alarm:
        raise CannotSee(writer_permissions.alarm)
    return Alarm(source="alarm", taken_at=datetime.now(UTC))


@diagnostic(codes=("flood",), area="water")
def flood(house: House) -> Iterator[Finding | Clear]:
    """Is there water in it?"""
    if house.water:
        yield Finding("flood", "/cellar", (f"{house.water} cm",), affects=("/House",))
    else:
        yield Clear("dry")


@diagnostic(codes=("fire",), area="heat")
def fire(alarm: Alarm) -> Iterator[Finding | Clear]:
    """Does it burn?"""
    yield Clear("silent")


@diagnostic(codes=("fate",), area="last", causes_of=("outage",))
def fate(house: House, causes: Causes) -> Iterator[Judgement]:
    """Was it nobody's fault?"""
    if causes.found:
        yield Clear(f"it was {causes.found[0].code}: {causes.found[0].why}")
        return
    for verdict in causes.open:
        yield Unavailable(verdict.code, Why.ABSENT, verdict.why)
        return
    yield Finding("fate", "/house", tuple(f"not {verdict.code}: {verdict.why}" for verdict in causes.verdicts))


def graph(*diagnostics: Diagnostic) -> Graph:
    return Graph.of([house, alarm], diagnostics)


async def diagnosed(
    asked: Graph, writer_permissions: Eyes | None = None, explains: dict[str, frozenset[str]] = EXPLAINS
) -> Diagnosis:
    return await Engine(asked, explains).diagnose(TARGET, {Eyes: writer_permissions or Eyes()})


async def test_a_code_without_a_check_is_open_and_never_clear() -> None:
    without_theft = {code: below for code, below in EXPLAINS.items() if code != "theft"} | {
        "war": frozenset({"outage"})
    }
    check = next(
        one for one in (await diagnosed(graph(flood, fire, fate), explains=without_theft)).checks if one.id == "fate"
    )
    assert (check.outcome, check.why) == (Outcome.INCONCLUSIVE, "war: absent, no check asks about it yet")


async def test_what_a_code_explains_itself_is_no_cause_of_it() -> None:
    """Nobody checks for theft; but fate explains theft, so that it does not wait for it."""
    diagnosis = await diagnosed(graph(flood, fire, fate))
    assert [one.finding.because for one in diagnosis.findings] == [("not fire: silent", "not flood: dry")]


async def test_a_finding_is_told_to_whom_it_affects() -> None:
    diagnosis = await diagnosed(graph(flood, fire, fate), Eyes(water=3))
    assert {one.id: one.why for one in diagnosis.checks}["fate"] == "it was flood: 3 cm"


async def test_a_cause_that_could_not_be_looked_for_is_open() -> None:
    denied = Unavailable("the alarm", Why.DENIED, "403", "Alarm/read")
    diagnosis = await diagnosed(graph(flood, fire, fate), Eyes(alarm=denied))
    assert {one.id: one.outcome for one in diagnosis.checks}["fate"] is Outcome.INCONCLUSIVE


async def test_what_is_asked_only_for_the_sake_of_another_check_is_no_part_of_the_answer() -> None:
    events = [
        event async for event in Engine(graph(flood, fire, fate).only([fate]), EXPLAINS).check(TARGET, {Eyes: Eyes()})
    ]
    assert [event.check.id for event in events if isinstance(event, DiagnosticEnded)] == ["fate"]
    diagnosis = await diagnosed(graph(flood, fire, fate).only([fate]))
    assert [(one.id, one.outcome) for one in diagnosis.checks] == [("fate", Outcome.FOUND)]


async def test_a_circle_is_cut_by_name_and_the_bot_starts(caplog: pytest.LogCaptureFixture) -> None:
    @diagnostic(codes=("omen",), area="last", causes_of=("grief",))
    def omen(house: House, causes: Causes) -> Iterator[Judgement]:
        """Was it foretold?"""
        yield Clear("no")

    @diagnostic(codes=("curse",), area="last", causes_of=("ruin",))
    def curse(house: House, causes: Causes) -> Iterator[Judgement]:
        """Was it cursed?"""
        yield Clear("no")

    closing = {"omen": frozenset({"ruin"}), "curse": frozenset({"grief"})}
    with caplog.at_level(logging.WARNING):
        plan = CausePlan.of([omen, curse], closing)
    (said,) = plan.skipped
    assert said == "omen does not hear about curse: the runbooks' `explains` go in a circle (curse -> omen -> curse)"
    assert said in caplog.text
    diagnosis = await diagnosed(graph(omen, curse), explains=closing)
    assert [one.outcome for one in diagnosis.checks] == [Outcome.CLEAR, Outcome.CLEAR]


def test_a_question_and_its_causes_go_together() -> None:
    with pytest.raises(BadDeclaration, match="go together"):

        @diagnostic(codes=("x",), area="y", causes_of=("outage",))
        def lonely(house: House) -> Iterator[Judgement]:
            """?"""
            yield Clear("")


class TestClearWithout:
    """Could not look is never "nothing found", whatever a diagnostic says."""

    DENIED = Unavailable("the alarm", Why.DENIED, "403", "Alarm/read")

    async def test_a_clear_word_does_not_count_where_something_was_not_seen(self) -> None:
        @diagnostic(codes=("noise",), area="heat")
        def noise(house: House, alarm: Alarm | Unavailable) -> Iterator[Judgement]:
            """Is it loud?"""
            yield Clear("nothing is heard")

        diagnosis = await diagnosed(graph(noise), Eyes(alarm=self.DENIED))
        assert (diagnosis.checks[0].outcome, diagnosis.state) == (Outcome.INCONCLUSIVE, State.INCONCLUSIVE)

    async def test_it_counts_where_the_declaration_says_why(self) -> None:
        @diagnostic(codes=("noise",), area="heat", clear_without=ClearWithout((Alarm,), "the neighbours would tell"))
        def noise(house: House, alarm: Alarm | Unavailable) -> Iterator[Judgement]:
            """Is it loud?"""
            yield Clear("nothing is heard")

        diagnosis = await diagnosed(graph(noise), Eyes(alarm=self.DENIED))
        assert diagnosis.checks[0].outcome is Outcome.CLEAR


class TestLateness:
    """What a check had no time left for is kept with its recording."""

    async def test_what_was_late_is_noted_and_is_late_again_in_a_replay(self) -> None:
        @collector(reads=("Alarm/read",), deadline_s=0.01)
        async def slow_alarm(writer_permissions: Eyes) -> Alarm:
            """the alarm"""
            await asyncio.Event().wait()
            raise AssertionError

        noted = Lateness()
        asked = Graph.of([house, slow_alarm], [flood, fire])
        first = await Engine(asked, EXPLAINS).diagnose(TARGET, {Eyes: Eyes(), Lateness: noted})
        assert noted.names == {"Alarm"}
        replayed = Lateness(noted.names, replayed=True)
        again = await Engine(graph(flood, fire), EXPLAINS).diagnose(TARGET, {Eyes: Eyes(), Lateness: replayed})
        assert {one.id: one.outcome for one in first.checks} == {one.id: one.outcome for one in again.checks}
        assert again.unseen == first.unseen


class TestOlderThanTheQuestion:
    """A recording answers the questions of its day; what is asked only since then leaves nothing open."""

    NOT_ASKED = Unavailable("the alarm", Why.NOT_ASKED, "not asked when this was recorded")

    async def test_a_check_that_needs_a_new_fact_does_not_apply(self) -> None:
        diagnosis = await diagnosed(graph(flood, fire), Eyes(alarm=self.NOT_ASKED))
        assert {one.id: one.outcome for one in diagnosis.checks} == {
            "fire": Outcome.NOT_APPLICABLE,
            "flood": Outcome.CLEAR,
        }
        assert (diagnosis.state, diagnosis.unseen) == (State.CLEAR, ())

    async def test_a_check_that_got_a_new_fact_beside_the_old_ones_is_judged_as_before(self) -> None:
        @diagnostic(codes=("damp",), area="water")
        def damp(house: House, alarm: Alarm | Unavailable | NotApplicable) -> Iterator[Judgement]:
            """Is it damp?"""
            yield Finding("damp", "/wall", ("wet",)) if house.water else Clear("dry")

        for water, outcome in ((0, Outcome.CLEAR), (1, Outcome.FOUND)):
            diagnosis = await diagnosed(graph(damp), Eyes(water, alarm=self.NOT_ASKED))
            assert (diagnosis.checks[0].outcome, diagnosis.unseen) == (outcome, ())

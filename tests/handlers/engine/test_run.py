"""Fetch once, all at once; judge as soon as the evidence is in; a failure is a value, never "clear"."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from handlers.engine.current import collecting
from handlers.engine.declare import Collector, Diagnostic, collector, diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import Collected, DiagnosticEnded, Engine, Event, Finished
from handlers.model import (
    CannotSee,
    Clear,
    Diagnosis,
    Evidence,
    Finding,
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
DENIED = Unavailable("sky", Why.DENIED, "403 AuthorizationFailed", "Sky/read")


@dataclass(frozen=True, kw_only=True)
class Sky(Evidence):
    colour: str = "blue"


@dataclass(frozen=True, kw_only=True)
class Ground(Evidence):
    pass


@dataclass(frozen=True, kw_only=True)
class Shadow(Evidence):
    pass


class Eyes:
    """A fake client that counts its calls."""

    def __init__(self) -> None:
        self.looked: list[str] = []
        self.sky: Callable[[], Awaitable[Sky]] = self._blue
        self.cut = False
        self.gaps: tuple[Unavailable, ...] = ()

    async def _blue(self) -> Sky:
        return Sky(source="up", taken_at=datetime.now(UTC), truncated=self.cut, gaps=self.gaps)


@collector(reads=("Sky/read",), deadline_s=5)
async def sky(writer_permissions: Eyes) -> Sky | NotApplicable:
    """the sky"""
    writer_permissions.looked.append(f"sky for {collecting.get()}")
    return await writer_permissions.sky()


@collector(reads=("Ground/read",))
async def ground(writer_permissions: Eyes, target: Target) -> Ground:
    """the ground"""
    writer_permissions.looked.append("ground")
    return Ground(source=target.name, taken_at=datetime.now(UTC))


@collector(reads=())
async def shadow(sky: Sky, ground: Ground, writer_permissions: Eyes) -> Shadow:
    """the shadow"""
    writer_permissions.looked.append("shadow")
    return Shadow(source="both", taken_at=sky.taken_at)


@diagnostic(codes=("grey",), area="sky")
def grey_sky(sky: Sky) -> Iterator[Finding]:
    """The sky is grey."""
    if sky.colour == "grey":
        yield Finding("grey", "/sky", ("it is grey",), affects=("/sky/ground",))


@diagnostic(codes=("dark",), area="ground")
def dark_ground(shadow: Shadow, sky: Sky | Unavailable) -> Iterator[Finding | Clear]:
    """The ground is dark."""
    if isinstance(sky, Sky) and sky.colour == "grey":
        yield Finding("dark", "/sky/ground", ("no shadow",))


@diagnostic(codes=("deaf",), area="ground")
def hears_nothing(ground: Ground, sky: Sky | Unavailable) -> Iterator[Finding | Clear]:
    """Nothing is heard."""
    yield from ()


def engine(*diagnostics: Diagnostic, deadline_s: float = 5, extra: tuple[Collector, ...] = ()) -> Engine:
    graph = Graph.of([sky, ground, shadow, *extra], diagnostics or (grey_sky, dark_ground))
    return Engine(graph, {"grey": frozenset({"dark"})}, deadline_s=deadline_s)


async def diagnose(writer_permissions: Eyes, *diagnostics: Diagnostic, deadline_s: float = 5) -> Diagnosis:
    return await engine(*diagnostics, deadline_s=deadline_s).diagnose(TARGET, {Eyes: writer_permissions})


def outcomes(diagnosis: Diagnosis) -> dict[str, Outcome]:
    return {check.id: check.outcome for check in diagnosis.checks}


async def test_each_kind_is_fetched_once_however_many_need_it() -> None:
    writer_permissions = Eyes()
    diagnosis = await diagnose(writer_permissions)
    assert sorted(writer_permissions.looked) == ["ground", "shadow", "sky for Sky"]
    assert diagnosis.state is State.CLEAR
    assert set(outcomes(diagnosis).values()) == {Outcome.CLEAR}


async def test_what_is_ready_runs_at_once() -> None:
    writer_permissions, both = Eyes(), asyncio.Barrier(2)

    @collector(reads=())
    async def met_ground(writer_permissions: Eyes) -> Ground:
        """the ground"""
        await both.wait()
        return Ground(source="down", taken_at=datetime.now(UTC))

    async def met_sky() -> Sky:
        await both.wait()
        return Sky(source="up", taken_at=datetime.now(UTC))

    writer_permissions.sky = met_sky
    graph = Graph.of([sky, met_ground, shadow], [dark_ground])
    diagnosis = await Engine(graph, {}).diagnose(TARGET, {Eyes: writer_permissions})
    assert diagnosis.state is State.CLEAR  # each waited for the other: in a row they would never have met


async def test_a_diagnostic_is_judged_the_moment_its_evidence_is_in() -> None:
    writer_permissions, release = Eyes(), asyncio.Event()

    async def late() -> Sky:
        await release.wait()
        return Sky(source="up", taken_at=datetime.now(UTC))

    @diagnostic(codes=("mud",), area="ground")
    def mud(ground: Ground) -> Iterator[Finding]:
        """Mud."""
        yield Finding("mud", "/ground", ("wet",))

    writer_permissions.sky = late
    events: list[Event] = []
    async for event in engine(grey_sky, mud).check(TARGET, {Eyes: writer_permissions}):
        events.append(event)
        if isinstance(event, DiagnosticEnded) and event.check.id == "mud":
            release.set()  # the sky is only let in after the other verdict is out
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["Collected", "DiagnosticEnded", "Collected", "DiagnosticEnded", "Finished"]


async def test_a_finding_explains_what_its_runbook_lists_and_its_subject_affects() -> None:
    writer_permissions = Eyes()

    async def grey() -> Sky:
        return Sky(source="up", taken_at=datetime.now(UTC), colour="grey")

    writer_permissions.sky = grey
    diagnosis = await diagnose(writer_permissions)
    assert [(one.finding.code, one.explained_by) for one in diagnosis.findings] == [
        ("grey", ()),
        ("dark", (("grey", "/sky"),)),
    ]
    assert diagnosis.findings[0].root
    assert not diagnosis.findings[1].root
    assert diagnosis.state is State.FOUND


async def test_what_could_not_be_seen_makes_the_question_inconclusive_and_is_said_once() -> None:
    writer_permissions = Eyes()

    async def denied() -> Sky:
        raise CannotSee(DENIED)

    writer_permissions.sky = denied
    diagnosis = await diagnose(writer_permissions)
    assert outcomes(diagnosis) == {"dark-ground": Outcome.INCONCLUSIVE, "grey-sky": Outcome.INCONCLUSIVE}
    assert diagnosis.state is State.INCONCLUSIVE
    assert [(one.wanted, one.grant) for one in diagnosis.unseen] == [("the sky", "Sky/read")]
    assert "shadow" not in writer_permissions.looked


async def test_silence_does_not_acquit_when_something_optional_was_missing() -> None:
    writer_permissions = Eyes()

    async def denied() -> Sky:
        raise CannotSee(DENIED)

    assert outcomes(await diagnose(writer_permissions, hears_nothing)) == {"hears-nothing": Outcome.CLEAR}
    writer_permissions.sky = denied
    assert outcomes(await diagnose(writer_permissions, hears_nothing)) == {"hears-nothing": Outcome.INCONCLUSIVE}


@pytest.mark.parametrize("state", ["cut", "gaps"])
async def test_silence_does_not_acquit_when_the_evidence_was_cut(state: str) -> None:
    writer_permissions = Eyes()
    writer_permissions.cut, writer_permissions.gaps = state == "cut", (DENIED,) if state == "gaps" else ()
    assert outcomes(await diagnose(writer_permissions, grey_sky)) == {"grey-sky": Outcome.INCONCLUSIVE}


async def test_an_explicit_acquittal_stands_although_something_was_cut() -> None:
    @diagnostic(codes=("red",), area="sky")
    def red_sky(sky: Sky) -> Iterator[Finding | Clear]:
        """The sky is red."""
        yield Clear("what was seen is enough")

    writer_permissions = Eyes()
    writer_permissions.cut = True
    diagnosis = await diagnose(writer_permissions, red_sky)
    assert [(check.outcome, check.why) for check in diagnosis.checks] == [(Outcome.CLEAR, "what was seen is enough")]


async def test_a_diagnostic_may_leave_its_question_open() -> None:
    @diagnostic(codes=("red",), area="sky")
    def red_sky(sky: Sky) -> Iterator[Finding | Unavailable]:
        """The sky is red."""
        yield Unavailable("the west", Why.ABSENT, "a hill is in the way")

    diagnosis = await diagnose(Eyes(), red_sky)
    assert outcomes(diagnosis) == {"red-sky": Outcome.INCONCLUSIVE}
    assert [one.wanted for one in diagnosis.unseen] == ["the west"]


async def test_a_collector_that_does_not_answer_is_cut_off_at_its_deadline() -> None:
    writer_permissions = Eyes()

    async def never() -> Sky:
        await asyncio.Event().wait()
        raise AssertionError

    writer_permissions.sky = never
    diagnosis = await diagnose(writer_permissions, grey_sky, hears_nothing, deadline_s=0.05)
    assert set(outcomes(diagnosis).values()) == {Outcome.INCONCLUSIVE}
    assert diagnosis.unseen[0].why is Why.TIMEOUT


async def test_a_collector_that_fails_is_a_value_and_a_diagnostic_that_fails_has_crashed() -> None:
    @diagnostic(codes=("red",), area="sky")
    def red_sky(ground: Ground) -> Iterator[Finding]:
        """The sky is red."""
        yield Finding("red", "/sky", ("seen before the fault",))
        raise KeyError("west")

    writer_permissions = Eyes()

    async def wrong() -> Sky:
        raise KeyError("colour")

    writer_permissions.sky = wrong
    diagnosis = await diagnose(writer_permissions, grey_sky, red_sky)
    assert outcomes(diagnosis) == {"grey-sky": Outcome.INCONCLUSIVE, "red-sky": Outcome.CRASHED}
    assert [one.finding.code for one in diagnosis.findings] == ["red"]
    assert diagnosis.unseen[0].why is Why.FAILED


async def test_a_crash_without_a_finding_is_never_clear() -> None:
    @diagnostic(codes=("red",), area="sky")
    def red_sky(ground: Ground) -> Iterator[Finding]:
        """The sky is red."""
        raise KeyError("west")
        yield

    diagnosis = await diagnose(Eyes(), red_sky, hears_nothing)
    assert diagnosis.state is State.INCONCLUSIVE


async def test_a_diagnostic_may_only_find_what_it_declares() -> None:
    @diagnostic(codes=("red",), area="sky")
    def red_sky(ground: Ground) -> Iterator[Finding]:
        """The sky is red."""
        yield Finding("green", "/sky", ("it is",))

    assert outcomes(await diagnose(Eyes(), red_sky)) == {"red-sky": Outcome.CRASHED}


async def test_what_does_not_exist_here_is_not_applicable_and_where_nothing_applies_nothing_is_clear() -> None:
    writer_permissions = Eyes()

    async def underground() -> NotApplicable:
        return NotApplicable("there is no sky in a mine")

    writer_permissions.sky = underground  # type: ignore[assignment]
    diagnosis = await diagnose(writer_permissions)
    assert set(outcomes(diagnosis).values()) == {Outcome.NOT_APPLICABLE}
    assert diagnosis.state is State.INCONCLUSIVE
    assert diagnosis.unseen == ()


async def test_closing_the_stream_cancels_all_that_runs() -> None:
    writer_permissions, cancelled = Eyes(), asyncio.Event()

    async def never() -> Sky:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    writer_permissions.sky = never
    stream = engine(dark_ground, grey_sky).check(TARGET, {Eyes: writer_permissions})
    first = await anext(stream)
    assert isinstance(first, Collected)
    await stream.aclose()  # type: ignore[attr-defined]
    assert cancelled.is_set()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_cancelling_the_caller_cancels_the_check() -> None:
    writer_permissions, began, cancelled = Eyes(), asyncio.Event(), asyncio.Event()

    async def never() -> Sky:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    writer_permissions.sky = never
    caller = asyncio.ensure_future(diagnose(writer_permissions))
    await began.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert cancelled.is_set()


async def test_a_client_can_be_cancelled_by_its_own_library_without_ending_the_check() -> None:
    writer_permissions = Eyes()

    async def times_out() -> Sky:
        raise TimeoutError

    writer_permissions.sky = times_out
    diagnosis = await diagnose(writer_permissions, grey_sky)
    assert diagnosis.unseen[0].why is Why.TIMEOUT


async def test_the_last_event_is_the_diagnosis() -> None:
    events = [event async for event in engine().check(TARGET, {Eyes: Eyes()})]
    assert isinstance(events[-1], Finished)
    assert events[-1].diagnosis.target == TARGET

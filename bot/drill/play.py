"""Runs scenarios: each with its own Azure, Slack and bot, a few at a time in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.checks.library import load
from bot.drill.repair import Offered, Repaired
from bot.drill.result import Item, Played
from bot.drill.steps import Ask, AskAbout, Compare, Look, Read, Scene, Step, StepFailed
from bot.fixes.proposal import End
from bot.playground.hurried import ShortenedPauses
from bot.playground.surroundings import azure, own_settings, running_bot, slack
from bot.store.connect import connected
from handlers.problem import Problem
from runbooks.library import Library
from sandbox.scenario import Expectation, Expected, Questions, Repair, Scenario
from sandbox.slack.cast import drill_workspace
from sandbox.slack.interactions import Trouble
from sandbox.world import World

AT_ONCE = 4
"""They share one process; what is gained is the time in which Slack or a deadline makes one of them wait."""
ANSWER_WITHIN_S = 60.0

Tell = Callable[[Played], None]


@dataclass(frozen=True, slots=True)
class Piece:
    """A scenario or its twin, ready to run."""

    name: str
    world: World
    expect: Expectation
    clusters: tuple[str, ...]
    repairs: Mapping[str, tuple[Repair, ...]] | None = None
    """What is offered as a fix, and how it ends; None where nobody says."""
    stays_open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The checks that cannot come to a verdict."""
    questions: Questions = field(default_factory=dict)

    def expected(self, cluster: str) -> tuple[Item, ...]:
        return items(cluster, self.expect.get(cluster, ()))

    def asked(self, cluster: str) -> tuple[Item, ...]:
        """What the answers to questions about something in particular must hold."""
        return tuple(item for question in self.questions.get(cluster, ()) for item in items(cluster, question.expect))


def items(cluster: str, expected: Iterable[Expected]) -> tuple[Item, ...]:
    return tuple(Item(cluster, finding.code, finding.subject, finding.root) for finding in expected)


def pieces(scenario: Scenario, *, twins: bool) -> list[Piece]:
    """The parts of a scenario to run."""
    found = [
        Piece(
            scenario.name,
            scenario.world,
            scenario.expect,
            scenario.speaks_of,
            scenario.repairs,
            scenario.stays_open,
            scenario.questions,
        )
    ]
    if twins and scenario.twin:
        twin = scenario.twin_world()
        found.append(
            Piece(
                f"{scenario.name}/twin",
                twin,
                scenario.twin.expect,
                scenario.speaks_of,
                stays_open=scenario.twin.stays_open,
                questions=scenario.twin.questions,
            )
        )
    return found


def steps_for(piece: Piece, cluster: str) -> tuple[Step, ...]:
    """The steps for one cluster."""
    seen: tuple[Step, ...] = (
        Ask(cluster),
        Compare(cluster, piece.expected(cluster), piece.stays_open.get(cluster, ())),
        Read(cluster),
        Look(cluster),
        *(
            AskAbout(cluster, question.ask, items(cluster, question.expect), stays_open=question.stays_open)
            for question in piece.questions.get(cluster, ())
        ),
    )
    if piece.repairs is None:
        return seen
    repairs = piece.repairs.get(cluster, ())
    offered = Offered(cluster, tuple(repair.remedy for repair in repairs))
    return (*seen, offered, *(Repaired(cluster, repair.remedy, End(repair.ends)) for repair in repairs))


async def drill(
    load_scenario: Callable[[str], Scenario], names: Sequence[str], *, twins: bool, over_http: bool, tell: Tell
) -> list[Played]:
    """Run all of them and report each as it ends; the results are in the order in which they were named."""
    library = load(own_settings())
    played: dict[str, Played] = {}
    with TemporaryDirectory(prefix="aksbot-drill-", ignore_cleanup_errors=True) as folder:
        async with connected(None, Path(folder)) as state, asyncio.TaskGroup() as group:
            waiting = iter(names)

            async def keep_playing(number: int) -> None:
                stage = _Stage(library, f"{state.url}?db={number}", Path(folder, str(number)), over_http)
                for name in waiting:
                    async for done in stage.play_all(name, load_scenario, twins=twins):
                        played[done.scenario] = done
                        tell(done)

            for number in range(AT_ONCE):
                group.create_task(keep_playing(number), name=f"stage {number} of the drill")
    order = {Path(name).name: place for place, name in enumerate(names)}
    return sorted(
        played.values(), key=lambda result: (order.get(result.scenario.partition("/")[0], 0), result.scenario)
    )


@dataclass(frozen=True, slots=True)
class _Stage:
    """A Slack and an Azure that are reused; their state is reset before each piece."""

    library: Library
    redis_url: str
    data_dir: Path
    over_http: bool

    async def play_all(
        self, name: str, load_scenario: Callable[[str], Scenario], *, twins: bool
    ) -> AsyncIterator[Played]:
        """A scenario, and its twin if wanted. One that cannot be loaded has failed."""
        try:
            wanted = pieces(load_scenario(name), twins=twins)
        except Exception as error:  # noqa: BLE001 - see `play`
            yield Played(Path(name).name, (), (), 0.0, tuple(reasons(error)))
            return
        for piece in wanted:
            yield await self.play(piece)

    async def play(self, piece: Piece) -> Played:
        """Whatever goes wrong in one scenario is its own failure: the others still run."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        found: list[Item] = []
        try:
            why = await self._play(piece, found)
        except Exception as error:  # noqa: BLE001 - an error of one scenario must not end the whole drill
            why = list(reasons(error))
        expected = tuple(
            item for cluster in piece.clusters for item in (*piece.expected(cluster), *piece.asked(cluster))
        )
        return Played(piece.name, expected, tuple(found), (loop.time() - start) * 1000, tuple(why))

    async def _play(self, piece: Piece, found: list[Item]) -> list[str]:
        async with connected(self.redis_url, self.data_dir) as connection:
            await connection.redis.flushdb()
        async with (
            azure(piece.world) as arm,
            slack(drill_workspace(piece.clusters)) as chat,
            running_bot(
                arm, chat, self.redis_url, self.data_dir, over_http=self.over_http, times=ShortenedPauses()
            ) as around,
        ):
            scene = Scene(around, self.library, ANSWER_WITHIN_S)
            async with asyncio.TaskGroup() as group:
                told = [
                    group.create_task(follow(scene, cluster, steps_for(piece, cluster))) for cluster in piece.clusters
                ]
            found += (item for cluster in piece.clusters for item in scene.items(cluster))
        return [task.result() for task in told if task.result()]


async def follow(scene: Scene, cluster: str, steps: tuple[Step, ...]) -> str:
    """The steps for one cluster, up to the first that fails."""
    for step in steps:
        try:
            await step.take(scene)
        except StepFailed as amiss:
            return f"{cluster}: {amiss}"
        except Trouble as trouble:
            return f"{cluster}: the bot did not acknowledge what was pressed in Slack: {trouble}"
    return ""


def reasons(error: Exception) -> Iterator[str]:
    """What went wrong, as sentences; all of it, if several parallel steps failed."""
    if isinstance(error, ExceptionGroup):
        for exception in error.exceptions:
            yield from reasons(exception)
    elif isinstance(error, Problem):
        yield f"{error.what}: {error.why}"
    else:
        yield f"{type(error).__name__}: {error}"

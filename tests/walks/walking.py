"""Three walks through the whole bot in the sandbox: a check, a fix, an incident."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.checks.library import load
from bot.drill.repair import Repaired
from bot.drill.steps import Ask, Scene
from bot.fixes.proposal import End
from bot.playground.hurried import ShortenedPauses
from bot.playground.surroundings import azure, own_settings, running_bot, slack
from bot.store.connect import connected
from sandbox.scenario import Scenario
from sandbox.slack.cast import drill_workspace
from tests.walks.trace import Trace

SCENARIO = "nodepool-failed"
WITHIN_S = 180.0


@dataclass(frozen=True, slots=True)
class Walk:
    name: str
    trace: Trace


async def walks() -> list[Walk]:
    """All three walks, each with its own bot."""
    return [await walk(name) for name in WAYS]


async def check(scene: Scene, cluster: str, trace: Trace, _: Scenario) -> None:
    """`/aks check` in a channel, to the last message of its thread."""
    with trace.walk():
        await Ask(cluster).take(scene)


async def fix(scene: Scene, cluster: str, trace: Trace, staged: Scenario) -> None:
    """From the button under an answer to the final message about the fix."""
    await Ask(cluster).take(scene)
    repair = staged.repairs[cluster][0]
    with trace.walk():
        await Repaired(cluster, repair.remedy, End(repair.ends)).take(scene)


async def incident(scene: Scene, cluster: str, trace: Trace, staged: Scenario) -> None:
    """A message in a channel, to the verdict in its thread."""
    control = scene.around.slack.control
    with trace.walk():
        message = control.say("requester", cluster, f"{cluster} is broken: its node pool failed to upgrade")
        await control.until(
            lambda: any("UNHEALTHY" in str(one.blocks) for one in control.thread(cluster, message.ts)), WITHIN_S
        )


Way = Callable[[Scene, str, Trace, Scenario], Awaitable[None]]
WAYS: dict[str, Way] = {"check": check, "fix": fix, "incident": incident}


async def walk(name: str, scenario: str = SCENARIO) -> Walk:
    staged, trace = Scenario.load(scenario), Trace()
    cluster = staged.speaks_of[0]
    with trace.installed():
        async with _scene(staged) as scene:
            await WAYS[name](scene, cluster, trace, staged)
    return Walk(name, trace)


@asynccontextmanager
async def _scene(staged: Scenario) -> AsyncIterator[Scene]:
    with TemporaryDirectory(prefix="aksbot-walk-", ignore_cleanup_errors=True) as folder:
        async with (
            connected(None, Path(folder)) as state,
            azure(staged.world) as arm,
            slack(drill_workspace(staged.speaks_of)) as chat,
            running_bot(arm, chat, state.url, Path(folder, "bot"), times=ShortenedPauses()) as around,
        ):
            yield Scene(around, load(own_settings()), WITHIN_S)

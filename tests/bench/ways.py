"""The ways of people: from a message to its first sign and its verdict amid 500 events a minute, from a command to its
verdict, and from an alert to an approved fix."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import yaml
from redis.asyncio import Redis

from bot.checks.store.running import RunningChecks
from bot.incidents.store import Incidents
from bot.report import report_json
from bot.slack.fixes.buttons import APPROVE, FIX_PATTERN
from bot.slack.incidents.service import JOB
from bot.store.embedded import EmbeddedServer
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from sandbox.slack.workspace import Channel, Person, Workspace, make_id
from tests.bench.figure import Figure
from tests.bench.storm import (
    CHANNELS,
    CHATTER,
    CLUSTERS,
    MONITORS,
    PEOPLE,
    fleet_of_twenty,
    policy_for_monitors,
    serving,
    workspace,
)
from tests.deploy.slack_manifests import shipped
from tests.slack_app.reading import buttons, is_answer, seen

EVENTS_A_MINUTE, FOR_S, REPORTS = 500, 90, 9
"""As many events as Slack delivers. Twice as many reports as Slack leaves room to answer in the long run: it takes one
message a second in a channel."""
REPORT = "{cluster}: upgrade failed with ErrCode_InsufficientVCPUQuota, insufficient vcpu quota"
COMMANDS = 10
QUIET_S = 5.0
"""Slack takes one message a second in a channel: by then it has taken all of the answer before."""
ENDS_WITHIN_S = 60
FIXABLE = "nodepool-failed"
ASKS, APPROVES, INCIDENTS = "person-0", "person-1", "inc-0"


@dataclass
class Reported:
    """A report, and what came of it."""

    said: Message
    cluster: str
    sign_s: float = float("inf")
    verdict_s: float = float("inf")
    check_s: float = 0.0


@dataclass
class Measured:
    reports: list[Reported] = field(default_factory=list)
    commands_s: list[float] = field(default_factory=list)


def figures() -> Iterator[Figure]:
    yield from asyncio.run(_amid_the_crowd())
    yield asyncio.run(_clicks())


async def _amid_the_crowd() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        fleet, measured = fleet_of_twenty(Path(folder, "fleet")), Measured()
        async with _bot(Path(folder), fleet, workspace(), policy_for_monitors) as (slack, _, redis):
            measured.commands_s = [await _command(slack, name) for name in CLUSTERS[: COMMANDS + 1]][1:]
            await _events(slack, measured)
            for report in measured.reports:
                await _judge(report, slack, redis)
    return list(_figures(measured))


def _figures(measured: Measured) -> Iterator[Figure]:
    load = f"the load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    amid = f"of {len(measured.reports)} amid {EVENTS_A_MINUTE} events a minute for {FOR_S} s; {load}"
    signs = sorted(report.sign_s for report in measured.reports)
    yield Figure("way-first-sign", signs[-1], "s", 1, f"the latest {amid}; median {median(signs):.2f} s")
    over = sorted(report.verdict_s - report.check_s for report in measured.reports)
    checks = median(report.check_s for report in measured.reports)
    told = f"the latest {amid}; median {median(over):.2f} s beyond a check of {checks:.2f} s"
    yield Figure("way-verdict-beyond-check", over[-1], "s", 0.5, told)
    took = sorted(measured.commands_s)
    told = (
        f"median of {len(took)}, from the command to the verdict, without latency; the longest {took[-1]:.2f} s; {load}"
    )
    yield Figure("way-command-to-verdict", median(took), "s", 0.5, told)


@asynccontextmanager
async def _bot(
    folder: Path, scenario: Scenario, team: Workspace, policy: Callable[[Path, Workspace], Path]
) -> AsyncIterator[tuple[SlackServer, ArmServer, Redis]]:
    async with (
        EmbeddedServer(folder) as state,
        ArmServer(scenario.world) as arm,
        SlackServer(team, manifest=shipped()) as slack,
        Redis.from_url(state.url, decode_responses=True) as redis,
    ):
        environment = {**arm.environment("reader"), **slack.environment, "REDIS_URL": state.url}
        environment["AKSBOT_POLICY"] = str(policy(folder, slack.control.team))
        async with serving(environment, folder):
            await slack.control.until(lambda: slack.site.sockets.count > 0, ENDS_WITHIN_S)
            yield slack, arm, redis


async def _events(slack: SlackServer, measured: Measured) -> None:
    """All that is said in the channels; now and then something that needs an answer."""
    chance, loop, total = random.Random(23), asyncio.get_running_loop(), EVENTS_A_MINUTE * FOR_S // 60
    began = loop.time()
    for number in range(total):
        await asyncio.sleep(max(0.0, began + number * FOR_S / total - loop.time()))
        if number % (total // REPORTS) == total // REPORTS // 2:
            at = len(measured.reports)
            cluster = CLUSTERS[COMMANDS + 1 + at]
            said = slack.control.say(f"person-{at}", CHANNELS[at % len(CHANNELS)], REPORT.format(cluster=cluster))
            measured.reports.append(Reported(said, cluster))
        else:
            text = chance.choice(CHATTER).format(n=number)
            slack.control.say(f"person-{chance.randrange(PEOPLE)}", chance.choice(CHANNELS), text)
    await slack.until(lambda: all(_answer(slack, report.said) for report in measured.reports), ENDS_WITHIN_S)


def _answer(slack: SlackServer, said: Message) -> Message | None:
    """The verdict on a report, with its buttons: a message of its own, so that it rings."""
    thread = slack.control.thread(_name(slack, said), said.ts)
    return next((one for one in thread if is_answer(one)), None)


def _name(slack: SlackServer, said: Message) -> str:
    return next(channel.name for channel in slack.control.team.channels if channel.id == said.channel)


async def _judge(report: Reported, slack: SlackServer, redis: Redis) -> None:
    said, answer = report.said, _answer(slack, report.said)
    at = float(said.ts)
    signs = [
        call.ended
        for call in slack.log
        if call.method == "reactions.add" and call.args.get("timestamp") == said.ts and call.ended
    ]
    spoken = [float(one.ts) for one in slack.control.thread(_name(slack, said), said.ts) if one.ts != said.ts]
    report.sign_s = min((*signs, *spoken), default=float("inf")) - at
    report.verdict_s = float(answer.ts) - at if answer else float("inf")
    (incident,) = (await Incidents(redis).book(slack.control.team.id, report.cluster)).incidents
    kept = await RunningChecks(redis).report(f"{JOB}{incident.id}-{incident.rounds}")
    report.check_s = report_json.load(kept.text).took_ms / 1000 if kept else 0.0


async def _command(slack: SlackServer, cluster: str) -> float:
    """Until the verdict stands, when nothing else happens."""

    def answered() -> bool:
        told = (one for one in slack.control.messages(INCIDENTS) if is_answer(one))
        return any(f"`{cluster}`" in f"{one.text} {seen(one)}" for one in told)

    await asyncio.sleep(QUIET_S)
    began = time.perf_counter()
    await slack.control.slash(ASKS, INCIDENTS, "/aks", f"check {cluster}")
    await slack.until(answered, ENDS_WITHIN_S)
    return time.perf_counter() - began


# -- from an alert to an approved fix ---------------------------------------------------------------------------


async def _clicks() -> Figure:
    """Each press counts, whoever presses."""
    scenario, clicks = Scenario.load(FIXABLE), 0
    cluster = next(name for name, found in scenario.expect.items() if found)
    team = Workspace(
        "Contoso Platform", [Person(ASKS), Person(APPROVES)], [Channel(INCIDENTS, [ASKS, APPROVES, "aksbot"])]
    )
    with tempfile.TemporaryDirectory() as folder:
        async with _bot(Path(folder), scenario, team, _approved_by_one) as (slack, arm, _):
            control = slack.control
            title = f"{cluster}: node pool is in a failed state, provisioningState Failed"
            control.say_as_app(MONITORS[0], INCIDENTS, "", attachments=[{"title": title}])
            fix, action = await _with(slack, FIX_PATTERN)
            await control.press(ASKS, fix, action)
            await slack.until(lambda: "One moment" not in str(control.modal(ASKS) or "One moment"), ENDS_WITHIN_S)
            await control.submit_view(ASKS, {})
            clicks += 2
            proposal, action = await _with(slack, re.compile(APPROVE))
            await control.press(APPROVES, proposal, action)
            clicks += 1
            await slack.until(lambda: any(one.is_write and one.principal for one in arm.log), ENDS_WITHIN_S)
    return Figure("way-alert-to-approved-fix", clicks, "clicks", 4, f"of {cluster}, until its first write to Azure")


async def _with(slack: SlackServer, wanted: re.Pattern[str]) -> tuple[Message, str]:
    """The first message with such a button, and the button."""

    def found() -> list[tuple[Message, str]]:
        said = slack.control.messages(INCIDENTS)
        return [(one, action) for one in said for action in buttons(one) if wanted.fullmatch(action)]

    return (await slack.until(found, ENDS_WITHIN_S))[0]


def _approved_by_one(folder: Path, team: Workspace) -> Path:
    rule = {"clusters": ["*"], "approvers": [f"{team.id}:{team.person(APPROVES).id}"], "requester_counts": False}
    apps = [make_id("A", team.domain, name) for name in MONITORS]
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump({"fixes": {"rules": [rule]}, "channels": {"alert_apps": apps}}))
    return file


if __name__ == "__main__":
    for figure in figures():
        sys.stdout.write(
            f"{'ok    ' if figure.ok else 'MISSED'} {figure.name} {figure.value:.3f} {figure.unit}: {figure.detail}\n"
        )

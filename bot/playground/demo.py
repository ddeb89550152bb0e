"""`aksbot demo`: a fleet with several problems and the whole bot in a local Slack, to try in a browser."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.checks.library import load
from bot.playground.asking import Answer, check_in_slack, text_of
from bot.playground.hurried import ShortenedPauses
from bot.playground.incident import CHANNEL, WHO_ASKS, post_incident
from bot.playground.log_file import log_to
from bot.playground.surroundings import Surroundings, azure, own_settings, running_bot, slack
from bot.queue.stop_signal import leave_if_cancelled, stop_requested, unless_stopped
from bot.render.clean import width, wrapped
from bot.render.headline import headline, plain
from bot.render.line import Line
from bot.render.proof import proof_lines
from bot.render.subject import short
from bot.render.terminal import show_lines
from bot.render.verdict import verdict
from bot.slack.inbound.commands import COMMAND
from bot.slack.kit import sentences
from bot.store.connect import connected
from handlers.problem import Problem
from runbooks.library import Library
from sandbox.scenario import Scenario
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.server import SlackServer

FLEET = "demo-fleet"
CLUSTER = "prod-weu"
"""The one that the alert is about."""
PACE = 0.2
"""Azure's minutes are looked at for seconds, so that somebody sees a fix run and end."""
ANSWER_WITHIN_S = 60.0
"""It takes a second; a machine that is starting many things at once may need longer."""


async def run_demo(*, port: int, stay: bool) -> None:
    """Show one check from the command to the verdict, then serve the page until Ctrl-C; without a terminal, end."""
    await unless_stopped(_demonstrate(port, stay=stay))


async def _demonstrate(port: int, *, stay: bool) -> None:
    scenario = Scenario.load(FLEET)
    _say(Line.of(("Starting an Azure, its clusters, a Slack and the bot on this machine …", "dim")))
    # Background tasks of the bot may still write into the folder.
    with (
        TemporaryDirectory(prefix="aksbot-demo-", ignore_cleanup_errors=True) as name,
        log_to(Path(name, "log")) as log,
    ):
        async with _stage(scenario, port, Path(name)) as around:
            leave_if_cancelled()
            post_incident(around.slack.control, scenario.world, CLUSTER)
            _say(*_asked(scenario))
            answer = await check_in_slack(around, WHO_ASKS, CHANNEL, CLUSTER, ANSWER_WITHIN_S)
            leave_if_cancelled()
            _say(*_answered(answer, load(own_settings())), *_invitation(around.slack, scenario))
            if stay:
                _say(Line.of((f"It runs until Ctrl-C. Its log is {log}.", "dim")))
                await stop_requested()
            else:
                _say(*_paragraph("There is no terminal, so the demo ends here. `aksbot demo --stay` keeps it running."))


@asynccontextmanager
async def _stage(scenario: Scenario, port: int, folder: Path) -> AsyncIterator[Surroundings]:
    async with (
        slack(on_call_workspace(), port=port) as chat,
        azure(scenario.world) as arm,
        connected(None, folder) as state,
        running_bot(arm, chat, state.url, folder, times=ShortenedPauses(PACE)) as around,
    ):
        yield around


# -- terminal output ---------------------------------------------------------------------------------------------------


def _asked(scenario: Scenario) -> Iterator[Line]:
    yield Line()
    yield Line.of((scenario.title, "title"))
    yield from _paragraph(scenario.story)
    yield Line()
    yield Line.of((f"#{CHANNEL}  {WHO_ASKS}: ", "dim"), (f"{COMMAND} check {CLUSTER}", "command"))
    yield Line()


def _answered(answer: Answer, library: Library) -> Iterator[Line]:
    """The verdict and its causes; the page shows the rest."""
    if answer.report is None:
        raise Problem(f"cannot show the check of {CLUSTER}", text_of(answer.head)[:500], "report this")
    diagnosis = answer.report.diagnosis
    yield verdict(diagnosis, library)
    for finding in (ranked.finding for ranked in diagnosis.findings if ranked.root):
        said = headline(finding, library, diagnosis.target.name)
        yield Line.of((f"✗ {plain(said.effect)}", "error"))
        yield from (Line.of((f"→ {plain(line)}", "")) for line in (said.do,) if line)
        yield Line.of((f"  {short(finding.subject)} · {finding.code}", "dim"))
        yield from proof_lines(finding, width())
    yield Line.of((f"The complete answer was in its thread {answer.took_s:.1f} s after the question.", "dim"))


def _invitation(chat: SlackServer, scenario: Scenario) -> Iterator[Line]:
    others = [name for name, findings in scenario.expect.items() if findings and name != CLUSTER]
    team = chat.control.team
    yield Line()
    yield Line.of(
        ("Open  ", "heading"), (f"{chat.page_url}w/{team.domain}/{WHO_ASKS}/c/{_channel_id(chat)}", "command")
    )
    yield Line()
    yield Line.of(("Three things to try there", "heading"))
    tries = (
        f"Open the thread under the answer, and press *{sentences.STEPS}*.",
        f"Type {COMMAND} check {others[0]}, or {' or '.join(others[1:])}: each is broken in its own way.",
        f"Type {COMMAND} clusters, then switch to another person (top left) and see what they may view.",
    )
    for number, text in enumerate(tries, 1):
        yield from _paragraph(text, indent=f"  {number}. ", hang="     ")
    yield Line()


def _channel_id(chat: SlackServer) -> str:
    return chat.control.team.channel(CHANNEL).id


def _paragraph(text: str, indent: str = "", hang: str = "") -> Iterator[Line]:
    yield from (Line.of((line, "")) for line in wrapped(text, indent=indent, hang=hang, columns=width()))


def _say(*lines: Line) -> None:
    """Flush at once: a person or a program waits for it."""
    show_lines(lines)
    sys.stdout.flush()

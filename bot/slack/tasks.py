"""Does what is asked besides checks, in a worker, and answers where it was asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from bot.checks.recording import Record
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.store.running import RunningChecks
from bot.queue.job import Kind
from bot.queue.retry import CannotTell
from bot.report import report_json
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.messages import SlackMessages
from bot.slack.checks import cases_text
from bot.slack.checks import view as checks_view
from bot.slack.checks.cases import FOLDER, keep_case, keep_recording
from bot.slack.checks.recordings import SentRecordings
from bot.slack.checks.steps import steps
from bot.slack.fleet.handlers import FleetHandlers
from bot.slack.home import view as home_view
from bot.slack.inbound import replies
from bot.slack.inbound.asks import ALONE, KIND, Ask, What
from bot.slack.inbound.commands import read_mention
from bot.slack.inbound.replier import Replier
from bot.slack.kit import sentences
from bot.slack.kit.message import CHECK_AGAIN, AnswerMessages, Block, Message, Pressed, actions, button, header, section
from bot.slack.kit.modal import modal
from bot.store.away import StoreAway
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)


class TaskHandler:
    """The work behind clicks, lists and replies."""

    def __init__(
        self,
        slack_messages: SlackMessages,
        replier: Replier,
        running: RunningChecks,
        library: Library,
        about_fleet: FleetHandlers,
        data_dir: Path,
        record: Record,
        recordings: SentRecordings,
        others: Mapping[What, Callable[[Ask], Awaitable[None]]] | None = None,
    ) -> None:
        self._slack_messages, self._replier, self._running = slack_messages, replier, running
        self._library, self._data_dir, self._record, self._recordings = library, data_dir, record, recordings
        self._work: dict[What, Callable[[Ask], Awaitable[None]]] = {
            **about_fleet.work,
            **(others or {}),
            What.REPLY: self._reply,
            What.SHOW_CHECKS: self._show_checks,
            What.FILL_STEPS: self._fill_steps,
            What.KEEP_CASE: self._keep_case,
            What.INVITE: self._invite,
            What.SAY: self._say,
            What.WHISPER: self._whisper,
        }

    @property
    def kind(self) -> Kind[Ask]:
        """For the queue."""

        async def run(ask: Ask, interrupted: asyncio.Event) -> bool:
            await self.perform(ask)
            return True

        async def give_up(ask: Ask, problem: Problem) -> None:
            try:
                await self._tell_that_we_gave_up(ask, problem)
            except (CannotTell, CallFailed) as mute:
                log.error("could not tell that %s was given up: %s", ask.id, mute)  # noqa: TRY400

        return Kind(KIND, Ask, run, give_up, lambda ask: ask.what in ALONE)

    async def perform(self, ask: Ask) -> None:
        """A Problem is an answer, too."""
        try:
            await self._work[ask.what](ask)
        except Problem as problem:
            await self._answer(ask, Message(sentences.problem(problem)))
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    async def _reply(self, ask: Ask) -> None:
        said = replies.at_once(read_mention(ask.text), self._library)
        await self._answer(ask, said or replies.only(sentences.HELP))

    async def _show_checks(self, ask: Ask) -> None:
        answer = await self._kept(ask)
        if answer is None:
            await self._answer(ask, _expired(ask))
            return
        said = checks_view.checks(answer, self._library)
        await self._replier.say(ask, said, "checks")

    async def _fill_steps(self, ask: Ask) -> None:
        pressed = Pressed.load(ask.pressed)
        runbook = self._library.get(pressed.code or "")
        if runbook is None:
            await self._fill(ask, modal([section(sentences.NO_RUNBOOK)]))
            return
        try:
            answer, gone = await self._kept(ask), sentences.REPORT_GONE
        except StoreAway:
            answer, gone = None, sentences.REPORT_AWAY
        roots = [ranked.finding for ranked in answer.report.diagnosis.findings if ranked.root] if answer else []
        same = [root for root in roots[ask.number : ask.number + 1] if root.code == runbook.code]
        if answer and same:
            await self._fill(ask, steps(runbook, same[0], answer.report.as_of))
        elif gone == sentences.REPORT_AWAY:
            await self._fill(ask, modal([header(runbook.title), section(gone), *replies.outline(runbook)]))
        else:
            # Steps with holes in them help nobody at night; a check fills them.
            await self._fill(ask, modal([header(runbook.title), section(gone)]))
            await self._replier.privately(ask, AnswerMessages(_expired(ask), ()))

    async def _fill(self, ask: Ask, shown: Block) -> None:
        try:
            await self._slack_messages.fill_view(ask.view, shown)
        except Refused as refused:
            if refused.error != "not_found":
                raise
            log.info("the window of %s was closed before it was filled", ask.id)

    async def _keep_case(self, ask: Ask) -> None:
        answer = await self._kept(ask)
        if answer is None:
            await self._answer(ask, _expired(ask))
            return
        request, target = Pressed.load(ask.pressed).request, answer.report.diagnosis.target
        name = await asyncio.to_thread(keep_case, self._data_dir, request, answer.report, ask.place, ask.text)
        folder = self._data_dir / FOLDER
        try:
            recording = await keep_recording(self._data_dir, request, str(target.id), self._record)
        except Problem as problem:
            said = cases_text.kept_without_recording(name, str(folder), problem)
        else:
            sent = await self._recordings.send(ask, target.name, folder / recording)
            said = cases_text.kept(name, sent, str(folder))
        await self._answer(ask, replies.only(said))

    async def _invite(self, ask: Ask) -> None:
        try:
            await self._slack_messages.join(ask.place.channel)
            said = sentences.INVITED
        except Refused as refused:
            log.info("cannot join %s: %s", ask.place.channel, refused)
            said = sentences.NOT_INVITED
        await self._answer(ask, replies.only(said))

    async def _say(self, ask: Ask) -> None:
        await self._answer(ask, ask.said)

    async def _whisper(self, ask: Ask) -> None:
        await self._replier.privately(ask, AnswerMessages(ask.said, ()))

    async def _kept(self, ask: Ask) -> Answer | None:
        """The report under whose answer the button stands; one that is being told now is the question's latest."""
        pressed = Pressed.load(ask.pressed)
        question = CheckRequest("", ClusterRef.of(pressed.cluster), ask.place, pressed.scope).question
        kept = await self._running.shown(pressed.request, question)
        report = report_json.load_or_none(kept.text) if kept else None
        return Answer(report) if report else None

    async def _tell_that_we_gave_up(self, ask: Ask, problem: Problem) -> None:
        said = Message(sentences.problem(problem))
        if ask.what is What.HOME:
            await self._slack_messages.show_home(ask.place.user, home_view.refused(said, ask.place.channel))
        else:
            await self._answer(ask, said, part="gave-up")

    async def _answer(self, ask: Ask, said: Message, part: str = "reply") -> None:
        await self._replier.reply(ask, said, part)


def _expired(ask: Ask) -> Message:
    """Its facts are gone; one tap makes new ones."""
    again = button(sentences.CHECK_AGAIN, CHECK_AGAIN, Pressed.load(ask.pressed))
    return Message(sentences.REPORT_GONE, (section(sentences.REPORT_GONE), actions(again)))

"""What the bot listens to. Each listener reads, authorises, hands over and acknowledges; a worker does the work."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext, AsyncRespond, AsyncSay

from bot.address import Address
from bot.checks import words
from bot.checks.request import CheckRequest
from bot.metrics import Metrics
from bot.queue.priority import Priority
from bot.slack.api import outgoing
from bot.slack.api.calls import LOST, CallFailed
from bot.slack.api.messages import SlackMessages
from bot.slack.changes import text as changes_text
from bot.slack.checks import cases_text
from bot.slack.checks.wrong_answer_view import COMMENT, COMMENT_BLOCK, WRONG_VIEW, CalledWrong, window
from bot.slack.digest import text as digest_text
from bot.slack.fixes.lists import text as lists_text
from bot.slack.fleet import text as fleet_text
from bot.slack.history import text as history_text
from bot.slack.home import view as home_view
from bot.slack.inbound import channel_text, commands, payloads, replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.intake import Intake, private
from bot.slack.kit import sentences
from bot.slack.kit.message import (
    CHECK_AGAIN,
    CHECK_ALL,
    CHECK_THIS,
    DETECTORS,
    INVITE,
    PICK,
    SHOW_ALL,
    STEPS,
    SUGGESTED,
    SUPPORT,
    WRONG,
    Message,
    Pressed,
    section,
)
from bot.slack.kit.modal import modal
from bot.slack.support import text as support_text
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

Body = dict[str, Any]

_HANDED_OVER = {
    commands.FIXES: (What.FIXES, lists_text.LOOKING),
    commands.AUDIT: (What.AUDIT, lists_text.AUDIT_HERE),
    commands.CHANGES: (What.CHANGES, changes_text.LOOKING),
    commands.HISTORY: (What.HISTORY, history_text.LOOKING),
    commands.DIGEST: (What.DIGEST, digest_text.LOOKING),
}
"""Words whose whole rest a worker reads, and what is said at once."""


class Listeners:
    """Commands, mentions, direct messages, and the buttons under answers. `more` listens to the rest."""

    def __init__(
        self, intake: Intake, slack_messages: SlackMessages, library: Library, areas: Collection[str], metrics: Metrics
    ) -> None:
        self._intake, self._slack_messages, self._library = intake, slack_messages, library
        self._areas, self._metrics = areas, metrics

    def listen_to_commands(self, app: AsyncApp) -> None:
        app.command(commands.COMMAND)(self.command)

    def listen(self, app: AsyncApp) -> None:
        app.event("app_mention", matchers=[_has_an_author])(self.mention)
        app.event("message", matchers=[_is_said_to_us])(self.direct)
        app.action(CHECK_AGAIN)(self.check_again)
        app.action(CHECK_ALL)(self.check_again)
        app.action(DETECTORS)(self.check_again)
        app.action(re.compile(rf"^{CHECK_THIS}_\d+$"))(self.check_again)
        app.action(re.compile(rf"^{SUGGESTED}_\d+$"))(self.suggested)
        app.action(PICK)(self.picked)
        app.action(re.compile(rf"^{STEPS}_\d+$"))(self.show_steps)
        app.action(WRONG)(self.wrong)
        app.view(WRONG_VIEW)(self.called_wrong)
        for action, what in ((SHOW_ALL, What.SHOW_CHECKS), (INVITE, What.INVITE), (SUPPORT, What.SUPPORT)):
            app.action(action)(self._clicked(what))
        app.error(self.failed)

    def listen_to_the_rest(self, app: AsyncApp) -> None:
        """After all others: the first one that fits hears an event."""
        app.event(re.compile(".*"))(self.unsupported_reply)

    async def command(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels("command").inc()
        asked = commands.read_command(body.get("text", ""))
        said = replies.at_once(asked, self._library)
        if said is None:
            said = await self._hand_over(asked, payloads.command_place(body), payloads.command_id(body), body)
        await ack(**private(said))

    async def mention(self, body: Body, say: AsyncSay) -> None:
        self._metrics.heard.labels("mention").inc()
        await self._answer(body, payloads.mention_place(body), say)

    async def direct(self, body: Body, say: AsyncSay) -> None:
        """What somebody writes to the bot alone needs no mention."""
        self._metrics.heard.labels("direct").inc()
        await self._answer(body, payloads.direct_place(body), say)

    async def _answer(self, body: Body, place: Address, say: AsyncSay) -> None:
        text, name = body["event"].get("text", ""), payloads.mention_id(body)
        refused = self._intake.stranger_refusal(place, body)
        asked = commands.read_mention(text)
        if refused:
            said = await self._intake.whisper(name, place, refused)
        elif replies.at_once(asked, self._library) is not None:
            said = await self._intake.ask(Ask(name, What.REPLY, place, text=text))
        else:
            said = await self._hand_over(asked, place, name, body, quiet=True)
        if said:
            shown = outgoing.message(said)
            await say(text=shown.text, blocks=list(shown.blocks), thread_ts=place.thread_ts or None)

    async def check_again(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        self._metrics.heard.labels(CHECK_AGAIN).inc()
        await ack()
        pressed, place = Pressed.load(body["actions"][0]["value"]), payloads.click_place(body)
        cluster, asked = ClusterRef.of(pressed.cluster), pressed.scope.about
        if await self._refused(body, respond, cluster, asked.account if asked else ""):
            return
        request = CheckRequest(payloads.click_id(body), cluster, place, pressed.scope, fresh=True)
        await self._intake.check(request, Priority.CLICK)

    async def suggested(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """As if they had typed it."""
        self._metrics.heard.labels(SUGGESTED).inc()
        await ack()
        typed, place, name = str(body["actions"][0]["value"]), payloads.click_place(body), payloads.click_id(body)
        if await self._refused(body, respond, None):
            return
        asked = commands.read_command(typed)
        if replies.at_once(asked, self._library) is not None:
            said = await self._intake.ask(Ask(name, What.REPLY, place, text=typed))
        else:
            said = await self._hand_over(asked, place, name, body, quiet=bool(place.thread_ts))
        if said:
            await respond(**private(said), replace_original=False)

    async def picked(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        self._metrics.heard.labels(PICK).inc()
        await ack()
        action, place = body["actions"][0], payloads.click_place(body)
        cluster = ClusterRef.of(action["selected_option"]["value"])
        scope, thread_ts = replies.picked(action["block_id"])
        if await self._refused(body, respond, cluster):
            return
        there = replace(place, thread_ts=thread_ts or place.thread_ts)
        await self._intake.check(CheckRequest(payloads.click_id(body), cluster, there, scope))
        if not place.thread_ts:
            await respond(**private(replies.only(sentences.looking_at(cluster.name))), replace_original=True)

    async def show_steps(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """A trigger lives 3 s: the window opens now, and a worker fills it."""
        self._metrics.heard.labels(STEPS).inc()
        await ack()
        action, name = body["actions"][0], payloads.click_id(body)
        if await self._refused(body, respond, Pressed.load(action["value"]).cluster):
            return
        page = await self._slack_messages.open_view(body["trigger_id"], modal([section(sentences.ONE_MOMENT)]))
        number = int(action["action_id"].rpartition("_")[2])
        what, place = What.FILL_STEPS, payloads.click_place(body)
        said = await self._intake.ask(Ask(name, what, place, pressed=action["value"], number=number, view=page))
        if said:
            await self._slack_messages.fill_view(page, modal(list(said.blocks)))

    async def wrong(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """A window for a comment; nothing is kept before it is sent."""
        self._metrics.heard.labels(WRONG).inc()
        await ack()
        value, place = str(body["actions"][0]["value"]), payloads.click_place(body)
        if await self._refused(body, respond, Pressed.load(value).cluster):
            return
        called = CalledWrong(value, place.channel, place.thread_ts)
        await self._slack_messages.open_view(body["trigger_id"], window(called))

    async def called_wrong(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels(WRONG_VIEW).inc()
        view = body["view"]
        called = CalledWrong.load(view["private_metadata"])
        place = called.place(body["team"]["id"], body["user"]["id"])
        said = await self._intake.refusal(place, Pressed.load(called.pressed).cluster, body)
        if said is None:
            comment = payloads.typed_into(view, COMMENT_BLOCK, COMMENT)
            name = payloads.view_id(body)
            said = await self._intake.ask(Ask(name, What.KEEP_CASE, place, text=comment, pressed=called.pressed))
        if said:
            shown = modal(list(said.blocks), title=cases_text.TITLE)
            await ack(response_action="update", view=outgoing.view(shown))
        else:
            await ack()

    def _clicked(self, what: What) -> Any:
        async def clicked(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(what.value).inc()
            await ack()
            pressed, place = body["actions"][0]["value"], payloads.click_place(body)
            about = None if what is What.INVITE else Pressed.load(pressed).cluster
            if await self._refused(body, respond, about):
                return
            said = await self._intake.ask(Ask(payloads.click_id(body), what, place, pressed=pressed))
            if said:
                await respond(**private(said), replace_original=False)

        return clicked

    async def unsupported_reply(self) -> None:
        """Events that mean nothing to us; unacknowledged, Slack would send them again."""

    async def failed(self, error: Exception, body: Body, context: AsyncBoltContext) -> BoltResponse:
        """The edge: whatever it was, whoever asked is told."""
        log.error("a listener failed", exc_info=error)
        page = body.get("view") or {}
        if page.get("type") == "home":
            said = home_view.refused(replies.only(sentences.LISTENER_FAILED), page.get("private_metadata", ""))
            with suppress(CallFailed):
                await self._slack_messages.show_home(body["user"]["id"], said)
        else:
            await _say_that_it_failed(body, context)
        return BoltResponse(status=200)  # else Slack adds words of its own, which help nobody

    async def _refused(
        self, body: Body, respond: AsyncRespond, cluster: str | ClusterRef | None, account: str = ""
    ) -> bool:
        """Whether somebody was told that they may not. An answer that stands in a channel can be read by all there."""
        place = payloads.click_place(body)
        refused = self._intake.stranger_refusal(place, body)
        if refused is None and cluster is not None:
            refused = await self._intake.refusal(place, cluster, body, account=account)
        if refused is None:
            return False
        await respond(**private(refused), replace_original=False)
        return True

    async def _hand_over(
        self, asked: commands.ParsedCommand, place: Address, name: str, body: Body, *, quiet: bool = False
    ) -> Message | None:
        """Put it into the queue; the first words, unless (with `quiet`) a message of the work itself comes at once."""
        if not asked.is_known:
            return await self._intake.ask(Ask(name, What.TALK, place, text=asked.text)) or _first(
                sentences.ONE_MOMENT, quiet
            )
        if asked.word == commands.CLUSTERS:
            return await self._intake.ask(Ask(name, What.CLUSTERS, place)) or _first(
                sentences.LOOKING_FOR_CLUSTERS, quiet
            )
        if asked.word == commands.DEFAULT:
            ask = Ask(name, What.DEFAULT, place, text=asked.rest)
            return await self._intake.ask(ask) or _first(sentences.ONE_MOMENT, quiet)
        if asked.word in _HANDED_OVER:
            what, looking = _HANDED_OVER[asked.word]
            ask = Ask(name, what, place, text=asked.rest.replace("`", "").strip())
            return await self._intake.ask(ask) or _first(looking, quiet)
        if asked.word == commands.SUPPORT:
            return await self._support(asked.rest.replace("`", "").strip(), place, name, body, quiet=quiet)
        try:
            cluster, scope = commands.read_check(asked.rest, self._areas)
        except Problem as misuse:
            said = replies.only(sentences.misuse(misuse))
            return await self._intake.say(name, place, said) if quiet else said
        if cluster and cluster.lower() == commands.ALL and scope.whole:
            return await self._intake.ask(Ask(name, What.CHECK_ALL, place)) or _first(fleet_text.CHECKING, quiet)
        default = None if cluster else await self._intake.default_cluster(place)
        if scope.about and not (cluster or default):
            said = replies.only(sentences.misuse(words.no_cluster(scope.about)))
            return await self._intake.say(name, place, said) if quiet else said
        about = ClusterRef.of(named) if (named := cluster or default) else None
        picker = Ask(f"{name}-menu", What.PICKER, place, text=replies.waiting(scope), pressed=default or "")
        if about is None:
            return await self._intake.ask(picker) or _first(sentences.LOOKING_FOR_CLUSTERS, quiet)
        account = scope.about.account if scope.about else ""
        refused = await self._intake.refusal(place, about, body, account=account)
        if refused:
            return await self._intake.whisper(name, place, refused) if quiet else refused
        if default and not scope.about:
            await self._intake.ask(picker)
        await self._intake.check(CheckRequest(name, about, place, scope))
        first = channel_text.looking_at_default if default else sentences.looking_at
        return _first(first(about.name), quiet)

    async def _support(self, named: str, place: Address, name: str, body: Body, *, quiet: bool) -> Message | None:
        """A packet goes to those who may look at the cluster, as an answer does."""
        cluster = named or await self._intake.default_cluster(place)
        said = replies.only(support_text.NAME_A_CLUSTER) if not cluster else None
        if cluster:
            said = await self._intake.refusal(place, cluster, body)
        if said or not cluster:
            return await self._intake.whisper(name, place, said) if quiet and said else said
        ask = Ask(name, What.SUPPORT, place, text=cluster)
        return await self._intake.ask(ask) or _first(support_text.COLLECTING_HERE, quiet)


async def _say_that_it_failed(body: Body, context: AsyncBoltContext) -> None:
    """Where this does not reach anybody either, only the log is left: the edge itself must not fail."""
    try:
        if context.respond and body.get("response_url"):
            await context.respond(text=sentences.LISTENER_FAILED, response_type="ephemeral", replace_original=False)
        elif context.channel_id and context.say:
            event = body.get("event") or {}
            await context.say(text=sentences.LISTENER_FAILED, thread_ts=event.get("thread_ts") or event.get("ts"))
    except LOST as mute:
        log.error("nobody could be told that a listener failed: %s", mute or type(mute).__name__)  # noqa: TRY400


async def _has_an_author(body: Body) -> bool:
    return payloads.has_an_author(body)


async def _is_said_to_us(body: Body) -> bool:
    return payloads.is_said_to_us(body)


def _first(said: str, quiet: bool) -> Message | None:
    return None if quiet else replies.only(said)

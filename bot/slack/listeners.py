"""What the bot listens to. Each listener reads, authorises, hands over and acknowledges; a worker does the work."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext, AsyncRespond, AsyncSay

from bot.events import Scope
from bot.jobs.request import CheckRequest, Place, Priority
from bot.jobs.service import Jobs
from bot.metrics import Metrics
from bot.slack import commands, heard, replies, words
from bot.slack.asks import KIND, Ask, What
from bot.slack.message import CHECK_AGAIN, INVITE, PICK, SHOW_ALL, STEPS, WRONG, Message, Pressed, section
from bot.slack.steps import view
from bot.slack.voice import Voice
from bot.store.away import StoreAway
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

Body = dict[str, Any]

COMMAND = "/aks"


class Listeners:
    """All of them."""

    def __init__(self, jobs: Jobs, voice: Voice, library: Library, areas: Collection[str], metrics: Metrics) -> None:
        self._jobs, self._voice, self._library = jobs, voice, library
        self._areas, self._metrics = areas, metrics

    def listen(self, app: AsyncApp) -> None:
        app.command(COMMAND)(self.command)
        app.event("app_mention")(self.mention)
        app.action(CHECK_AGAIN)(self.check_again)
        app.action(PICK)(self.picked)
        app.action(re.compile(rf"^{STEPS}_\d+$"))(self.show_steps)
        for action, what in ((SHOW_ALL, What.SHOW_CHECKS), (WRONG, What.KEEP_CASE), (INVITE, What.INVITE)):
            app.action(action)(self._clicked(what))
        app.event(re.compile(".*"))(self.unheard)
        app.error(self.failed)

    async def command(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels("command").inc()
        asked, place, name = (
            commands.read_command(body.get("text", "")),
            heard.command_place(body),
            heard.command_id(body),
        )
        said = replies.at_once(asked, self._library)
        if said is None:
            said = await self._hand_over(asked, place, name)
        await ack(**_private(said))

    async def mention(self, body: Body, say: AsyncSay) -> None:
        self._metrics.heard.labels("mention").inc()
        text, place, name = body["event"].get("text", ""), heard.mention_place(body), heard.mention_id(body)
        if heard.is_stranger(body):
            await say(text=words.NOT_FOR_STRANGERS, thread_ts=place.thread_ts)
            return
        asked = commands.read_mention(text)
        if replies.at_once(asked, self._library) is not None:
            said = await self._ask(Ask(name, What.REPLY, place, text=text))
        else:
            said = await self._hand_over(asked, place, name, quiet=True)
        if said:
            await say(text=said.text, blocks=list(said.blocks), thread_ts=place.thread_ts)

    async def check_again(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        self._metrics.heard.labels(CHECK_AGAIN).inc()
        await ack()
        if await self._refused(body, respond):
            return
        pressed = Pressed.load(body["actions"][0]["value"])
        request = CheckRequest(
            heard.click_id(body), pressed.cluster, heard.click_place(body), pressed.scope, fresh=True
        )
        await self._jobs.check(request, Priority.CLICK)

    async def picked(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        self._metrics.heard.labels(PICK).inc()
        await ack()
        if await self._refused(body, respond):
            return
        action, place = body["actions"][0], heard.click_place(body)
        cluster, scope = action["selected_option"]["value"], Scope(replies.picked_area(action["block_id"]))
        await self._jobs.check(CheckRequest(heard.click_id(body), cluster, place, scope))
        if place.thread_ts is None:
            await respond(**_private(replies.only(words.looking_at(cluster))), replace_original=True)

    async def show_steps(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """A trigger lives 3 s: the window opens now, and a worker fills it."""
        self._metrics.heard.labels(STEPS).inc()
        await ack()
        if await self._refused(body, respond):
            return
        action, name = body["actions"][0], heard.click_id(body)
        window = await self._voice.open_view(body["trigger_id"], view([section(words.ONE_MOMENT)]))
        number = int(action["action_id"].rpartition("_")[2])
        what, place = What.FILL_STEPS, heard.click_place(body)
        said = await self._ask(Ask(name, what, place, pressed=action["value"], number=number, view=window))
        if said:
            await self._voice.fill_view(window, view(list(said.blocks)))

    def _clicked(self, what: What) -> Any:
        async def clicked(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(what.value).inc()
            await ack()
            if await self._refused(body, respond):
                return
            pressed, place = body["actions"][0]["value"], heard.click_place(body)
            said = await self._ask(Ask(heard.click_id(body), what, place, pressed=pressed))
            if said:
                await respond(**_private(said), replace_original=False)

        return clicked

    async def unheard(self) -> None:
        """Events that mean nothing to us; unacknowledged, Slack would send them again."""

    async def failed(self, error: Exception, body: Body, context: AsyncBoltContext) -> BoltResponse:
        """The edge: whatever it was, whoever asked is told."""
        log.error("a listener failed", exc_info=error)
        if context.respond and body.get("response_url"):
            await context.respond(text=words.LISTENER_FAILED, response_type="ephemeral", replace_original=False)
        elif context.channel_id and context.say:
            event = body.get("event") or {}
            await context.say(text=words.LISTENER_FAILED, thread_ts=event.get("thread_ts") or event.get("ts"))
        return BoltResponse(status=200)  # else Slack adds words of its own, which help nobody

    async def _refused(self, body: Body, respond: AsyncRespond) -> bool:
        if not heard.is_stranger(body):
            return False
        await respond(text=words.NOT_FOR_STRANGERS, response_type="ephemeral", replace_original=False)
        return True

    async def _hand_over(
        self, asked: commands.Asked, place: Place, name: str, *, quiet: bool = False
    ) -> Message | None:
        """Put it into the queue; the first words, unless a message of the work itself comes at once."""
        if asked.word == commands.CLUSTERS:
            return await self._ask(Ask(name, What.CLUSTERS, place)) or _first(words.LOOKING_FOR_CLUSTERS, quiet)
        try:
            cluster, scope = commands.read_check(asked.rest, self._areas)
        except Problem as misuse:
            return replies.only(words.misuse(misuse))
        if cluster is None:
            ask = Ask(name, What.PICKER, place, text=scope.area or "")
            return await self._ask(ask) or _first(words.LOOKING_FOR_CLUSTERS, quiet)
        await self._jobs.check(CheckRequest(name, cluster, place, scope))
        return _first(words.looking_at(cluster), quiet)

    async def _ask(self, ask: Ask) -> Message | None:
        """None when it is in the queue; else why not."""
        try:
            await self._jobs.submit(KIND, ask.id, ask.as_json(), Priority.CLICK)
        except StoreAway as away:
            return replies.only(words.away(away))
        return None


def _first(said: str, quiet: bool) -> Message | None:
    return None if quiet else replies.only(said)


def _private(message: Message | None) -> Body:
    if message is None:
        return {}
    return {"text": message.text, "blocks": list(message.blocks), "response_type": "ephemeral"}

"""What the bot hears where nobody speaks to it: messages in channels, channels that appear, and clicks there."""

from __future__ import annotations

import logging
import re
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext, AsyncRespond

from bot.address import Address
from bot.incidents.spans import Spans
from bot.incidents.turns import Turns
from bot.metrics import Metrics
from bot.slack.inbound import commands, message_reader, payloads, replies
from bot.slack.inbound.intake import Intake, private
from bot.slack.inbound.outside import Outside
from bot.slack.incidents import view as incidents_view
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit import sentences
from bot.slack.kit.message import STOP, WATCH, Message, Pressed
from bot.store.away import StoreAway
from bot.store.codec import encode, prepare

log = logging.getLogger(__name__)

Body = dict[str, Any]

WORDS = {commands.MUTE: Do.MUTE, commands.UNMUTE: Do.MUTE, commands.WATCH: Do.WATCH}
"""What people say of what the bot does by itself."""


class IncidentListeners:
    """Registered before the other listeners: the first one that fits hears an event."""

    def __init__(
        self, intake: Intake, turns: Turns, queue: IncidentQueue, spans: Spans, outside: Outside, metrics: Metrics
    ) -> None:
        prepare(message_reader.Utterance)
        self._outside = outside
        self._intake, self._turns, self._queue = intake, turns, queue
        self._spans, self._metrics = spans, metrics

    def listen_to_commands(self, app: AsyncApp) -> None:
        app.command(commands.COMMAND, matchers=[_is_a_word])(self.word)

    def listen(self, app: AsyncApp) -> None:
        app.event("message", matchers=[_is_in_a_channel])(self.message)
        app.event("app_mention", matchers=[_asks_for_silence])(self.silence_wanted)
        app.event("app_mention", matchers=[_mentions_a_word])(self.word_mentioned)
        app.event("message", matchers=[_tells_us_a_word])(self.word_told)
        app.event("channel_created")(self.channel_appeared)
        app.event("channel_rename")(self.channel_appeared)
        app.event("member_joined_channel")(self.arrived)
        app.action(re.compile(rf"^{incidents_view.CHECK}_\d+$"))(self.check)
        app.action(WATCH)(self.watch)
        app.action(incidents_view.PICK)(self.pick)
        for action, do in (
            (incidents_view.QUIET, Do.SILENCE),
            (incidents_view.SNOOZE, Do.SNOOZE),
            (incidents_view.ALLOW, Do.ALLOW),
            (incidents_view.REFUSE, Do.ALLOW),
            (STOP, Do.UNWATCH),
        ):
            app.action(action)(self._pressed(do))

    # -- what is said -----------------------------------------------------------------------------------------

    async def message(self, body: Body, context: AsyncBoltContext) -> BoltResponse | None:
        """Kept until its turn closes. What could not be kept is not acknowledged: Slack says it again."""
        me = message_reader.Me(context.bot_user_id or "", context.bot_id or "", str(body.get("api_app_id") or ""))
        heard_here = await message_reader.read_aside(body, me, time.time())
        name = heard_here.name.lower() if isinstance(heard_here, message_reader.Ignored) else "message"
        self._metrics.heard.labels(name).inc()
        try:
            if not isinstance(heard_here, message_reader.Ignored):
                await self._hear(body, heard_here, me)
            elif gone := message_reader.taken_back(body):
                names = message_reader.names(body, gone)
                await self._turns.take_back(names, message_reader.original(gone), encode(gone), gone.turn)
        except StoreAway as away:
            log.warning("a message was not taken in: %s", away)
            return BoltResponse(status=503)
        return None

    async def _hear(self, body: Body, utterance: message_reader.Utterance, me: message_reader.Me) -> None:
        """An edit may overtake what it changes, as events are taken in side by side: then it is what was said."""
        changes = bool(utterance.edited) and not utterance.to_us
        by_person = bool(utterance.user) and not utterance.to_us
        kept = await self._turns.hear(
            message_reader.names(body, utterance),
            utterance.turn,
            of := utterance.of_person if by_person else utterance.of,
            encode(utterance),
            self._spans.turn if by_person else timedelta(),
            original=message_reader.original(utterance) if changes else None,
        )
        place = Address(utterance.team, utterance.channel, utterance.user or me.user)
        task = Task(f"turn-{kept.turn}", Do.TURN, place, me=me.user, text=kept.turn, of=of)
        if kept.unread:
            await self._queue.submit(replace(task, id=f"{task.id}-{kept.unread}", number=kept.unread))
        if kept.needs_job:
            await self._queue.submit(task, after_s=kept.lasts.total_seconds())

    async def silence_wanted(self, body: Body, context: AsyncBoltContext) -> BoltResponse | None:
        """`@aksbot stop` in a thread, from anyone."""
        event, me = body["event"], context.bot_user_id or ""
        utterance = message_reader.Utterance(
            str(body["team_id"]),
            str(event["channel"]),
            str(event["ts"]),
            str(event.get("text") or ""),
            str(event.get("user") or ""),
            thread_ts=str(event["thread_ts"]),
            edited=message_reader.TO_US,
        )
        try:
            await self._hear(body, utterance, message_reader.Me(me, "", ""))
        except StoreAway as away:
            log.warning("a message was not taken in: %s", away)
            return BoltResponse(status=503)
        return None

    # -- channels ---------------------------------------------------------------------------------------------

    async def channel_appeared(self, body: Body) -> BoltResponse | None:
        channel = body["event"]["channel"]
        place = Address(str(body["team_id"]), str(channel["id"]))
        name = f"appeared-{channel['id']}-{body.get('event_id')}"
        return await self._submitted(Task(name, Do.APPEARED, place, text=str(channel.get("name") or "")))

    async def arrived(self, body: Body, context: AsyncBoltContext) -> BoltResponse | None:
        event = body["event"]
        place = Address(str(body["team_id"]), str(event["channel"]), str(event.get("inviter") or ""))
        with suppress(StoreAway):  # then nothing is remembered of the channel either
            await self._outside.joined(place.team, place.channel)
        if event.get("user") != context.bot_user_id:
            return None
        return await self._submitted(Task(f"arrived-{place.channel}-{event.get('event_ts')}", Do.ARRIVED, place))

    async def _submitted(self, task: Task) -> BoltResponse | None:
        try:
            await self._queue.submit(task)
        except StoreAway as away:
            log.warning("%s was not taken in: %s", task.id, away)
            return BoltResponse(status=503)
        return None

    # -- what is pressed --------------------------------------------------------------------------------------

    async def check(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await ack()
        pressed = Pressed.load(body["actions"][0]["value"])
        place = payloads.click_place(body)
        await self._check(body, respond, place, pressed.cluster, pressed.code or "", pressed.request)

    async def pick(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await ack()
        action = body["actions"][0]
        code, sighting, thread_ts = incidents_view.picked(action["block_id"])
        place = payloads.click_place(body)
        place = replace(place, thread_ts=place.thread_ts or thread_ts)
        await self._check(body, respond, place, action["selected_option"]["value"], code, sighting)

    async def _check(
        self, body: Body, respond: AsyncRespond, place: Address, cluster: str, code: str, sighting: str
    ) -> None:
        self._metrics.heard.labels("incident_check").inc()
        refused = await self._intake.refusal(place, cluster, body)
        if refused is None:
            task = Task(payloads.click_id(body), Do.CHECK, place, cluster=cluster, incident=sighting, code=code)
            refused = await self._taken(task)
        if refused:
            await respond(**private(refused), replace_original=False)

    async def watch(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """*Watch this* under an answer: `/aks watch` for its cluster, in its thread."""
        self._metrics.heard.labels(WATCH).inc()
        await ack()
        place, cluster = payloads.click_place(body), Pressed.load(body["actions"][0]["value"]).cluster
        refused = await self._intake.refusal(place, cluster, body)
        if refused is None:
            task = Task(payloads.click_id(body), Do.WATCH, place, text=f"{commands.WATCH} {cluster}")
            refused = await self._taken(task)
        if refused:
            await respond(**private(refused), replace_original=False)

    def _pressed(self, do: Do) -> Any:
        async def pressed(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(do.value).inc()
            await ack()
            action, place = body["actions"][0], payloads.click_place(body)
            value = Pressed.load(action["value"])
            refused = self._intake.stranger_refusal(place, body)
            if refused is None and do is not Do.ALLOW:
                refused = await self._intake.refusal(place, value.cluster, body)
            if refused is None:
                task = Task(
                    payloads.click_id(body),
                    do,
                    place,
                    cluster=value.cluster,
                    incident=value.request,
                    code=value.code or "",
                    text=str(body.get("message", {}).get("ts") or ""),
                    number=int(action["action_id"] == incidents_view.ALLOW),
                )
                refused = await self._taken(task)
            if refused:
                await respond(**private(refused), replace_original=False)

        return pressed

    async def _taken(self, task: Task) -> Message | None:
        try:
            await self._queue.submit(task)
        except StoreAway as away:
            return replies.only(sentences.away(away))
        return None

    # -- muting and watching ----------------------------------------------------------------------------------

    async def word(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels("command").inc()
        place, text = payloads.command_place(body), str(body.get("text") or "")
        do = WORDS[commands.read_command(text).word]
        refused = await self._taken(Task(payloads.command_id(body), do, place, text=text))
        await ack(**private(refused or replies.only(sentences.ONE_MOMENT)))

    async def word_mentioned(self, body: Body) -> BoltResponse | None:
        if not payloads.has_an_author(body):
            return None
        return await self._word_said(body, payloads.mention_place(body))

    async def word_told(self, body: Body) -> BoltResponse | None:
        return await self._word_said(body, payloads.direct_place(body))

    async def _word_said(self, body: Body, place: Address) -> BoltResponse | None:
        if refused := self._intake.stranger_refusal(place, body):
            unsaid = await self._intake.whisper(payloads.mention_id(body), place, refused)
            return BoltResponse(status=503) if unsaid else None
        asked = commands.read_mention(str(body["event"].get("text") or ""))
        text = f"{asked.word} {asked.rest}"
        return await self._submitted(Task(payloads.mention_id(body), WORDS[asked.word], place, text=text))


async def _is_in_a_channel(body: Body) -> bool:
    return body["event"].get("channel_type") in ("channel", "group")


async def _asks_for_silence(body: Body) -> bool:
    event = body["event"]
    return bool(event.get("thread_ts")) and message_reader.asks_for_silence(str(event.get("text") or ""))


async def _is_a_word(body: Body) -> bool:
    return commands.read_command(str(body.get("text") or "")).word in WORDS


async def _tells_us_a_word(body: Body) -> bool:
    return payloads.is_said_to_us(body) and await _mentions_a_word(body)


async def _mentions_a_word(body: Body) -> bool:
    return commands.read_mention(str(body["event"].get("text") or "")).word in WORDS

"""The message shortcut *Triage this*, and the buttons of its answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.checks.request import CheckRequest
from bot.metrics import Metrics
from bot.slack.inbound import payloads, replies, triage_text
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.intake import Intake, private
from bot.slack.kit.message import Pressed
from bot.slack.triage import view as triage_view
from bot.triage.message_text import LONGEST
from bot.triage.reading import read_message
from handlers.clients.redact import redact_text
from handlers.fleet.cluster_text import ClusterRef

Body = dict[str, Any]


class TriageListeners:
    """Answers only the person who asks: a shortcut also works in channels where the bot is not a member."""

    def __init__(self, intake: Intake, metrics: Metrics) -> None:
        self._intake, self._metrics = intake, metrics

    def listen(self, app: AsyncApp) -> None:
        app.message_shortcut(triage_view.CALLBACK)(self.triage_this)
        app.action(re.compile(rf"^{triage_view.CHECK}_\d+$"))(self.check)

    async def triage_this(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        self._metrics.heard.labels(triage_view.CALLBACK).inc()
        await ack()
        place, message = payloads.shortcut_place(body), body["message"]
        refused = self._intake.stranger_refusal(place, body)
        if refused is None:
            thread_ts = message.get("thread_ts") or message["ts"]
            text = redact_text(read_message(message)[:LONGEST])
            ask = Ask(payloads.shortcut_id(body), What.TRIAGE, place, text=text, pressed=thread_ts)
            refused = await self._intake.ask(ask)
        if refused:
            await respond(**private(refused), replace_original=False)

    async def check(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """The answer goes into the thread of the selected message."""
        self._metrics.heard.labels(triage_view.CHECK).inc()
        await ack()
        action = body["actions"][0]
        cluster = ClusterRef.of(Pressed.load(action["value"]).cluster)
        place = replace(payloads.click_place(body), thread_ts=triage_view.thread_of(action["block_id"]))
        message = await self._intake.refusal(place, cluster, body)
        if message is None:
            await self._intake.check(CheckRequest(payloads.click_id(body), cluster, place))
            message = replies.only(triage_text.looking_at(cluster.name))
        await respond(**private(message), replace_original=False)

"""App Home and its buttons. There is no response URL there: replies appear in the page itself."""

from __future__ import annotations

import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.metrics import Metrics
from bot.queue.priority import Priority
from bot.slack.api.calls import CallFailed
from bot.slack.api.messages import SlackMessages
from bot.slack.home import text as home_text
from bot.slack.home import view as home_view
from bot.slack.inbound import payloads
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.intake import Intake
from bot.slack.kit.message import Message, Pressed
from handlers.fleet.cluster_text import ClusterRef

log = logging.getLogger(__name__)

Body = dict[str, Any]


class HomeListeners:
    """A worker fills the page; until then it shows that it is loading."""

    def __init__(self, intake: Intake, slack_messages: SlackMessages, metrics: Metrics) -> None:
        self._intake, self._slack_messages, self._metrics = intake, slack_messages, metrics

    def listen(self, app: AsyncApp) -> None:
        app.event("app_home_opened")(self.opened)
        app.action(home_view.REFRESH)(self.refresh)
        app.action(re.compile(rf"^{home_view.CHECK}_\d+$"))(self.check)
        app.action(home_view.PICK)(self.pick)

    async def opened(self, body: Body) -> None:
        event = body["event"]
        if event.get("tab", "home") != "home":
            return
        self._metrics.heard.labels("home").inc()
        place = payloads.home_place(body)
        if not event.get("view"):
            await self._show(place, home_view.loading(place.channel))
        await self._fill(payloads.home_id(body), place)

    async def refresh(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels(home_view.REFRESH).inc()
        await ack()
        await self._fill(payloads.click_id(body), payloads.home_click_place(body))

    async def check(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels(home_view.CHECK).inc()
        await ack()
        await self._check(body, Pressed.load(body["actions"][0]["value"]).cluster)

    async def pick(self, ack: AsyncAck, body: Body) -> None:
        self._metrics.heard.labels(home_view.PICK).inc()
        await ack()
        await self._check(body, body["actions"][0]["selected_option"]["value"])

    async def _check(self, body: Body, cluster: str) -> None:
        """The answer comes in the conversation with the bot, which is the other tab."""
        name, place, meant = payloads.click_id(body), payloads.home_click_place(body), ClusterRef.of(cluster)
        refused = await self._intake.refusal(place, meant, body)
        if refused:
            await self._show(place, home_view.refused(refused, place.channel))
            return
        await self._intake.check(CheckRequest(name, meant, place), Priority.CLICK)
        await self._fill(f"{name}-home", place, home_text.checking(cluster))

    async def _fill(self, name: str, place: Address, note: str = "") -> None:
        said: Message | None = await self._intake.ask(Ask(name, What.HOME, place, text=note))
        if said:
            await self._show(place, home_view.refused(said, place.channel))

    async def _show(self, place: Address, view: Body) -> None:
        try:
            await self._slack_messages.show_home(place.user, view)
        except CallFailed as failed:
            log.warning("App Home of %s could not be shown: %s", place.user, failed)

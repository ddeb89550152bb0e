"""What people press under fixes, and what they send. A worker decides; here it is only read and handed over."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.address import Address
from bot.metrics import Metrics
from bot.slack.api import outgoing
from bot.slack.api.messages import SlackMessages
from bot.slack.fixes import plan_text, plan_view
from bot.slack.fixes.buttons import (
    APPROVE,
    ASK_VIEW,
    AUDIT_OLDER,
    DECLINE,
    DECLINE_VIEW,
    FIX_PATTERN,
    GLASS,
    GLASS_VIEW,
    REASON,
    REASON_BLOCK,
    SHOW,
    STOP,
    PressedFix,
)
from bot.slack.inbound import payloads
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.intake import Intake, private
from bot.slack.kit import sentences
from bot.slack.kit.message import Message, section
from bot.slack.kit.modal import modal

Body = dict[str, Any]


class FixListeners:
    """Buttons and windows of fixes."""

    def __init__(self, intake: Intake, slack_messages: SlackMessages, metrics: Metrics) -> None:
        self._intake, self._slack_messages, self._metrics = intake, slack_messages, metrics

    def listen(self, app: AsyncApp) -> None:
        app.action(FIX_PATTERN)(self._window(What.FIX_PLAN))
        app.action(SHOW)(self._window(What.FIX_SHOW))
        app.action(GLASS)(self._reason_window(GLASS, plan_view.breaking_glass))
        app.action(DECLINE)(self._reason_window(DECLINE, plan_view.declining))
        for action, what in ((APPROVE, What.FIX_APPROVE), (STOP, What.FIX_STOP)):
            app.action(action)(self._pressed(what))
        app.action(AUDIT_OLDER)(self._pressed(What.AUDIT))
        app.view(ASK_VIEW)(self._sent(What.FIX_ASK))
        app.view(GLASS_VIEW)(self._sent(What.FIX_GLASS))
        app.view(DECLINE_VIEW)(self._sent(What.FIX_DECLINE))

    def _window(self, what: What) -> Any:
        """A trigger lives 3 s: the window opens now, and a worker fills it."""

        async def pressed(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(what.value).inc()
            await ack()
            if await self._refused(body, respond):
                return
            loading = modal([section(sentences.ONE_MOMENT)], title=plan_text.PLAN_TITLE)
            window = await self._slack_messages.open_view(body["trigger_id"], loading)
            said = await self._intake.ask(_ask(what, body, view=window))
            if said:
                await self._slack_messages.fill_view(window, plan_view.told(said.text))

        return pressed

    def _reason_window(self, action: str, window: Callable[[PressedFix], Body]) -> Any:
        """Who may is decided when it is sent: the window itself tells nothing."""

        async def pressed(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(action).inc()
            await ack()
            if await self._refused(body, respond):
                return
            place = payloads.click_place(body)
            value = PressedFix.load(body["actions"][0]["value"])
            there = PressedFix(value.proposal, value.digest, value.cluster, place.channel, place.thread_ts)
            await self._slack_messages.open_view(body["trigger_id"], window(there))

        return pressed

    def _pressed(self, what: What) -> Any:
        async def pressed(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
            self._metrics.heard.labels(what.value).inc()
            await ack()
            if await self._refused(body, respond):
                return
            said = await self._intake.ask(_ask(what, body))
            if said:
                await respond(**private(said), replace_original=False)

        return pressed

    def _sent(self, what: What) -> Any:
        async def sent(ack: AsyncAck, body: Body) -> None:
            self._metrics.heard.labels(what.value).inc()
            view, user, team = body["view"], body["user"]["id"], body["team"]["id"]
            pressed = PressedFix.load(view.get("private_metadata", ""))
            place = Address(team, pressed.channel, user, thread_ts=pressed.thread_ts)
            refused = self._intake.stranger_refusal(place, body)
            if refused is None:
                name = f"view-{sha256(' '.join([team, user, view['id']]).encode()).hexdigest()[:24]}"
                text = payloads.typed_into(view, REASON_BLOCK, REASON)
                refused = await self._intake.ask(Ask(name, what, place, text=text, pressed=pressed.dump()))
            if refused:
                await ack(response_action="update", view=outgoing.view(plan_view.told(refused.text)))
            else:
                await ack()

        return sent

    async def _refused(self, body: Body, respond: AsyncRespond) -> bool:
        refused: Message | None = self._intake.stranger_refusal(payloads.click_place(body), body)
        if refused:
            await respond(**private(refused), replace_original=False)
        return refused is not None


def _ask(what: What, body: Body, *, view: str = "") -> Ask:
    return Ask(
        payloads.click_id(body), what, payloads.click_place(body), pressed=body["actions"][0]["value"], view=view
    )

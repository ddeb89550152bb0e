"""Posts an alert that came in over HTTP where the policy wants it, and treats it as something that was said there."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from bot.address import Address
from bot.incidents.alerts import Alert
from bot.incidents.model import Sighting
from bot.policy.look import is_shown_in
from bot.policy.model import Policy
from bot.slack.api.poster import Poster, Reply
from bot.slack.inbound.message_reader import Utterance
from bot.slack.incidents import text as said
from bot.slack.incidents.handlers import IncidentHandlers
from bot.slack.incidents.service import IncidentService
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit.escaping import cut
from bot.slack.kit.message import Message, section
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import preformatted
from bot.store.codec import decode
from bot.triage.recognise import Recognition

log = logging.getLogger(__name__)

_SHOWN = 1200
_PART = "alert"
APP = "aksbot-alerts"
"""Who has said it; nobody needs to allow it, since it has shown the secret."""


class AlertHandlers:
    """Raises CallFailed and StoreAway, after which it is done again."""

    def __init__(
        self, *, desk: IncidentHandlers, incident_service: IncidentService, message_poster: Poster, policy: Policy
    ) -> None:
        self._desk, self._incident_service, self._message_poster, self._policy = (
            desk,
            incident_service,
            message_poster,
            policy,
        )

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {Do.ALERT: self._alert, Do.ALERTS_REFUSED: self._refused}

    async def _alert(self, task: Task) -> None:
        """`text` is the alert. One about an incident that is open already is counted there and not posted."""
        alert, team = decode(Alert, task.text), task.place.team
        seen = await self._desk.recognised(alert.text, alert.chosen)
        if alert.over:
            await self._look_whether_it_is_over(team, seen)
            return
        known = await self._incident_service.known(team, seen)
        if known and not await self._is_posted(team, alert):
            why = f"{alert.source}: {alert.title}"
            now_ms = int(datetime.now(UTC).timestamp() * 1000)
            sighting = Sighting(alert.id, known.cluster, seen.codes, why, known.home, known.message_ts, now_ms)
            await self._incident_service.report(team, sighting, task.me)
            return
        if await self._desk.is_muted(team, seen):
            log.info("an alert about %s was not posted: it is muted", seen.cluster)
            return
        channel = self._channel_for(seen)
        if channel is None:
            log.warning("an alert was dropped: the policy names no channel where %s is shown", seen.cluster or "it")
            return
        posted, _ = await self._message_poster.once(_where(team, channel, alert), _PART, _message(alert))
        utterance = Utterance(team, posted.channel, posted.message_ts, alert.text, app=APP, app_name=alert.source)
        await self._desk.act(utterance, seen, task.me)

    async def _refused(self, task: Task) -> None:
        """`text` is what to say. It names no cluster, so it may stand wherever alerts do."""
        channels = self._policy.channels
        named = (*channels.channels_for(None), *(rule.channel for rule in channels.alerts))
        if not named:
            log.warning("nobody is told, because the policy names no channel for alerts: %s", task.text)
            return
        where = Reply(task.id, Address(task.place.team, named[0]), datetime.now(UTC))
        await self._message_poster.once(where, "refused", Message(task.text, (section(task.text),)))

    def _channel_for(self, seen: Recognition) -> str | None:
        """The first that the policy names; but nothing is shown of a cluster where nobody may look at it."""
        named = (seen.cluster,) if seen.cluster else seen.choices
        for channel in self._policy.channels.channels_for(seen.cluster):
            if all(is_shown_in(self._policy.look, channel, item) for item in named):
                return channel
        return None

    async def _look_whether_it_is_over(self, team: str, seen: Recognition) -> None:
        """Who sends alerts knows that a condition is over; whether the cause is gone, a check says.

        What is over reads like nothing, so the cluster says which incident it was; one check looks at them all.
        """
        if seen.cluster and (known := await self._incident_service.open_of(team, seen.cluster)):
            await self._incident_service.look_soon(team, known)

    async def _is_posted(self, team: str, alert: Alert) -> bool:
        """Whether a try before this one has said it, and the incident that is known may be its own, half begun."""
        return await self._message_poster.standing(_where(team, "", alert), _PART) is not None


def _where(team: str, channel: str, alert: Alert) -> Reply:
    return Reply(f"alert-{alert.id}", Address(team, channel), datetime.now(UTC))


def _message(alert: Alert) -> Message:
    line = said.alert(alert.title, alert.source)
    return Message(line, (section(line), *rich_blocks([preformatted(cut(alert.text, _SHOWN))])))

"""The endpoints for alerts: `/alerts/azure-monitor` and `/alerts/alertmanager`. Callers must present a secret."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from pydantic import SecretStr

from bot.address import Address
from bot.http.body import closing, read_body
from bot.incidents.alerts import MOST, Alert, TooMany, alertmanager, azure_monitor
from bot.slack.api.sign_in import SignIn
from bot.slack.api.workspace import workspace
from bot.slack.incidents import text as words
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.tasks import Do, Task
from bot.store.away import StoreAway
from bot.store.codec import encode

log = logging.getLogger(__name__)

AZURE_MONITOR_PATH, ALERTMANAGER_PATH = "/alerts/azure-monitor", "/alerts/alertmanager"
LARGEST = 512 * 1024
"""Azure Monitor sends up to 256 kB."""
WITHIN_S = 10.0
TOGETHER = 32
"""Jobs that are put into the queue at once: the memory writes each to the disk before it answers."""

Read = Callable[[Any], list[Alert]]


class AlertEndpoints:
    """The secret is a Bearer token, or the password of Basic authentication: senders support one or the other."""

    def __init__(self, secret: SecretStr | None, queue: IncidentQueue, sign_in: SignIn) -> None:
        self._secret, self._queue, self._sign_in = secret, queue, sign_in

    @property
    def routes(self) -> list[web.RouteDef]:
        """No routes without a configured secret: the endpoints do not exist then."""
        if self._secret is None:
            return []
        return [
            web.post(AZURE_MONITOR_PATH, self._door(azure_monitor)),
            web.post(ALERTMANAGER_PATH, self._door(alertmanager)),
        ]

    def _door(self, read: Read) -> Callable[[web.Request], Any]:
        async def come_in(request: web.Request) -> web.Response:
            if not self._may_enter(request.headers.get("Authorization", "")):
                challenge = {"WWW-Authenticate": 'Basic realm="aksbot alerts", Bearer'}
                raise closing(web.HTTPUnauthorized(text="show the secret of AKSBOT_ALERTS_TOKEN\n", headers=challenge))
            try:
                alerts = await _alerts(await read_body(request, LARGEST, WITHIN_S), read)
            except web.HTTPRequestEntityTooLarge as large:
                await self._tell_refused(large)
                raise
            try:
                await self._hand_over(alerts)
            except StoreAway as away:
                # Both senders retry, and an alert that is already queued is not queued twice.
                log.warning("alerts were not all taken in: %s", away)
                return web.Response(status=503, text="Redis is out of reach or refuses writes: send it again\n")
            return web.Response(status=202, text="taken in\n")

        return come_in

    async def _hand_over(self, alerts: Sequence[Alert]) -> None:
        """Queue each alert as a job of its own."""
        who = await workspace(self._sign_in)
        place, me = Address(who.team_id or ""), who.bot_user_id or ""
        tasks = [Task(f"alert-{alert.id}", Do.ALERT, place, me=me, text=encode(alert)) for alert in alerts]
        for first in range(0, len(tasks), TOGETHER):
            await asyncio.gather(*map(self._queue.submit, tasks[first : first + TOGETHER]))

    async def _tell_refused(self, refusal: web.HTTPException) -> None:
        """Senders do not retry what was refused: tell the alerts channel, once a day."""
        many = refusal.__cause__
        text = words.alerts_refused(many.count if isinstance(many, TooMany) else 0, MOST, LARGEST)
        team = (await workspace(self._sign_in)).team_id or ""
        name = f"alerts-refused-{datetime.now(UTC):%Y-%m-%d}"
        try:
            await self._queue.submit(Task(name, Do.ALERTS_REFUSED, Address(team), text=text))
        except StoreAway as away:
            log.warning("alerts were refused, and no channel can be told (%s): %s", away, text)

    def _may_enter(self, header: str) -> bool:
        kind, _, shown = header.partition(" ")
        secret = self._secret.get_secret_value().encode() if self._secret else b""
        if kind.lower() == "basic":
            shown = _password(shown)
        elif kind.lower() != "bearer":
            return False
        return bool(secret) and hmac.compare_digest(shown.strip().encode(errors="replace"), secret)


async def _alerts(body: bytes, read: Read) -> list[Alert]:
    """Parse in a thread: half a megabyte takes a moment, and other requests wait."""
    try:
        return await asyncio.to_thread(lambda: read(json.loads(body)))
    except TooMany as many:
        raise web.HTTPRequestEntityTooLarge(LARGEST, len(body), text=f"{many}\n") from many
    except (ValueError, RecursionError) as wrong:
        raise web.HTTPBadRequest(text=f"this is no alert: {str(wrong)[:200]}\n") from wrong


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "replace").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""

"""The doors for alerts: `/alerts/azure-monitor` and `/alerts/alertmanager`. Who comes in shows a secret."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import web
from pydantic import SecretStr

from bot.incidents.alerts import Alert, BadAlert, alertmanager, azure_monitor
from bot.jobs.request import Place
from bot.slack.incident_queue import IncidentQueue
from bot.slack.incident_tasks import Do, Task
from bot.slack.sign_in import SignIn
from bot.slack.workspace import workspace
from bot.store.away import StoreAway

log = logging.getLogger(__name__)

AZURE_MONITOR_PATH, ALERTMANAGER_PATH = "/alerts/azure-monitor", "/alerts/alertmanager"
LARGEST = 512 * 1024
"""Azure Monitor sends up to 256 kB."""


class AlertDoors:
    """As Bearer token, or as the password of Basic authentication with any name: either is what senders can do."""

    def __init__(self, secret: SecretStr | None, queue: IncidentQueue, sign_in: SignIn) -> None:
        self._secret, self._queue, self._sign_in = secret, queue, sign_in

    @property
    def routes(self) -> list[web.RouteDef]:
        """None without a secret: who may not come in finds no door."""
        if self._secret is None:
            return []
        return [
            web.post(AZURE_MONITOR_PATH, self._door(azure_monitor)),
            web.post(ALERTMANAGER_PATH, self._door(alertmanager)),
        ]

    def _door(self, read: Callable[[Any], list[Alert]]) -> Callable[[web.Request], Any]:
        async def come_in(request: web.Request) -> web.Response:
            if not self._may_enter(request.headers.get("Authorization", "")):
                challenge = {"WWW-Authenticate": 'Basic realm="aksbot alerts", Bearer'}
                return web.Response(status=401, text="show the secret of AKSBOT_ALERTS_TOKEN\n", headers=challenge)
            if (request.content_length or 0) > LARGEST:
                return web.Response(status=413, text=f"an alert has at most {LARGEST} bytes\n")
            try:
                alerts = read(json.loads(await request.read()))
            except (BadAlert, ValueError, RecursionError) as wrong:
                return web.Response(status=400, text=f"this is no alert: {str(wrong)[:200]}\n")
            try:
                await self._hand_over(alerts)
            except StoreAway as away:
                # Both senders try again.
                log.warning("alerts were not taken in: %s", away)
                return web.Response(status=503, text="aksbot's memory is away: send it again\n")
            return web.Response(status=202, text="taken in\n")

        return come_in

    async def _hand_over(self, alerts: list[Alert]) -> None:
        who = await workspace(self._sign_in)
        place, me = Place(who.team_id or "", "", ""), who.bot_user_id or ""
        for one in alerts:
            await self._queue.submit(Task(f"alert-{one.id}", Do.ALERT, place, me=me, text=one.as_json()))

    def _may_enter(self, header: str) -> bool:
        kind, _, shown = header.partition(" ")
        secret = self._secret.get_secret_value().encode() if self._secret else b""
        if kind.lower() == "basic":
            shown = _password(shown)
        elif kind.lower() != "bearer":
            return False
        return bool(secret) and hmac.compare_digest(shown.strip().encode(errors="replace"), secret)


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "replace").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""

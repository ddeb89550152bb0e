"""Calls of Slack. What is refused for being too many is tried again when Slack says; nothing else is sent twice.

CallFailed
├── Refused      Slack has said no: it certainly did not happen
└── Uncertain    nobody has said whether it happened
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.metrics import Metrics

log = logging.getLogger(__name__)

Body = dict[str, Any]
Ask = Callable[[float], Awaitable[Any]]
"""Makes the call; is told for how long Slack has made it wait already."""

MOST_TRIES = 5
LONGEST_WAIT_S = 60
TIMEOUT_S = 10
LOST = (aiohttp.ClientError, TimeoutError, SlackClientError, OSError)
"""What a call ends with where nobody says how it ended."""
_NO_ANSWER = "no_json"
_UNCERTAIN = frozenset(
    {_NO_ANSWER, "fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"}
)
_LOCKED_OUT = frozenset({"account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"})
"""Nothing will work any more before somebody gives us another token."""


class CallFailed(Exception):
    """A call of Slack that did not succeed."""


class Refused(CallFailed):
    """Slack's own word for why."""

    def __init__(self, method: str, error: str, details: object = None, *, again_in_s: float = 0.0) -> None:
        super().__init__(f"{method}: {error}" + (f" ({details})" if details else ""))
        self.error, self.again_in_s = error, again_in_s


class Uncertain(CallFailed):
    """The connection broke, or Slack was in trouble."""


class Calls:
    """One way to Slack for a process."""

    def __init__(self, client: AsyncWebClient, session: aiohttp.ClientSession, metrics: Metrics) -> None:
        self.client, self._session, self._metrics = client, session, metrics
        self._locked_out = ""

    async def why_locked_out(self) -> str:
        """Slack's word for why it takes no call of ours any more; it is asked again, since nobody else may."""
        if self._locked_out:
            with suppress(CallFailed):
                await self.do("auth.test", lambda waited_s: self.client.auth_test())
        return self._locked_out

    async def do(self, method: str, ask: Ask, *, longest_wait_s: float = LONGEST_WAIT_S) -> Body:
        """The answer, or a CallFailed; refused at once where Slack asks for a longer wait."""
        waited_s = again_in_s = 0.0
        for attempt in range(1, MOST_TRIES + 1):
            wait_s = await self._try(method, ask, waited_s)
            if not isinstance(wait_s, float):
                return wait_s
            again_in_s = wait_s
            if wait_s > longest_wait_s:
                break
            if attempt < MOST_TRIES:
                log.warning("Slack asks to wait %g s before %s", wait_s, method)
                await asyncio.sleep(wait_s)
                waited_s += wait_s
        raise Refused(method, "ratelimited", again_in_s=again_in_s)

    async def read(self, method: str, ask: Ask, *, longest_wait_s: float = LONGEST_WAIT_S) -> Body:
        """The same for what changes nothing and can be asked again."""
        try:
            return await self.do(method, ask, longest_wait_s=longest_wait_s)
        except Uncertain:
            return await self.do(method, ask, longest_wait_s=longest_wait_s)

    async def respond(self, url: str, body: Callable[[float], Body]) -> None:
        """Say something over a response URL."""
        hook = AsyncWebhookClient(url, session=self._session, timeout=TIMEOUT_S, retry_handlers=[])

        async def ask(waited_s: float) -> Body:
            answer = await hook.send_dict(body(waited_s))
            if answer.status_code == 429:
                raise _Wait(_seconds(answer.headers))
            if answer.status_code >= 500:
                raise Uncertain(f"response_url: {answer.status_code}")
            if answer.status_code != 200:
                raise Refused("response_url", _word(answer.body))
            return {}

        await self.do("response_url", ask)

    async def _try(self, method: str, ask: Ask, waited_s: float) -> Body | float:
        """The answer, or how long to wait."""
        outcome = "ok"
        try:
            answer = await ask(waited_s)
            self._locked_out = "" if method != "response_url" else self._locked_out
            return answer if isinstance(answer, dict) else dict(answer.data)
        except _Wait as wait:
            outcome = "ratelimited"
            return wait.seconds
        except SlackApiError as error:
            outcome, status = _error(error), getattr(error.response, "status_code", 0)
            if status == 429 or outcome == "ratelimited":
                return _seconds(error.response.headers)
            if status >= 500 or outcome in _UNCERTAIN:
                raise Uncertain(f"{method}: {outcome}") from error
            self._note(outcome)
            raise Refused(method, outcome, _details(error)) from error
        except Refused as refused:
            outcome = refused.error
            raise
        except LOST as lost:
            outcome = "lost"
            raise Uncertain(f"{method}: {lost or type(lost).__name__}") from lost
        finally:
            self._metrics.slack_calls.labels(method, outcome).inc()

    def _note(self, outcome: str) -> None:
        if outcome in _LOCKED_OUT and outcome != self._locked_out:
            log.error("Slack takes no call any more: %s. Install the app again and set SLACK_BOT_TOKEN", outcome)
            self._locked_out = outcome


class _Wait(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _seconds(headers: Mapping[str, Any]) -> float:
    given = next((value for name, value in headers.items() if name.lower() == "retry-after"), 1)
    value = given[0] if isinstance(given, list) else given
    return float(min(int(value), LONGEST_WAIT_S)) if str(value).isdigit() else 1.0


def _error(error: SlackApiError) -> str:
    """Slack's word; what is not its JSON comes from something on the way, and says nothing about what happened."""
    data = getattr(error.response, "data", None)
    return str(data["error"]) if isinstance(data, dict) and data.get("error") else _NO_ANSWER


def _details(error: SlackApiError) -> object:
    data = error.response.data
    return (data.get("response_metadata") or {}).get("messages") if isinstance(data, dict) else None


def _word(body: str) -> str:
    """Response URLs answer with a bare word or an object, depending on who answers."""
    return body.partition('"error":')[2].strip(' "{}').partition('"')[0] or body.strip()[:80] or "refused"

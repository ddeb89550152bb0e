"""Who the bot is in its workspace: asked once.

Bolt would ask with the first request that comes in, and where Slack is busy just then, tell whoever sent it to install
the app. So it is asked at the start, and a request is taken in whether we know who we are or not.
"""

from __future__ import annotations

import asyncio
import logging

import aiohttp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from handlers.problem import Problem

log = logging.getLogger(__name__)

_PATIENCE_S = 1.0
"""A person waits, and Slack for 3 s."""


class SignIn(AsyncAuthorize):
    """Asks with the bot's token."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known: AuthorizeResult | None = None

    async def at_the_start(self) -> None:
        """Better known at the start than with the first command. A Slack that is away may come back."""
        try:
            answer = await self._ask()
        except SlackApiError as refused:
            if refused.response.status_code >= 429:
                return
            error = refused.response.get("error", "refused")
            do = "correct SLACK_BOT_TOKEN: install the app again and copy its bot token"
            raise Problem("cannot sign in to Slack", f"it answers {error}", do) from refused
        except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as lost:
            do = "check the network and SLACK_API_URL, then start again"
            raise Problem("cannot reach Slack", str(lost) or type(lost).__name__, do) from lost
        log.info("signed in to the workspace %s as %s", answer["team"], answer["user"])

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: str | None,
    ) -> AuthorizeResult:
        """For Bolt, with each request. Without our own id it only cannot tell our own words from others'."""
        if self._known is None:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._ask()
            except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as lost:
                log.warning("cannot ask Slack who we are: %s", lost or type(lost).__name__)
        token = self._client.token
        return self._known or AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    async def _ask(self) -> AsyncSlackResponse:
        answer = await self._client.auth_test()
        self._known = AuthorizeResult.from_auth_test_response(bot_token=self._client.token, auth_test_response=answer)
        return answer

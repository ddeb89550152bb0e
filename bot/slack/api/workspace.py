"""Whose workspace it is, for what does not come from Slack."""

from __future__ import annotations

from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext

from bot.slack.api.sign_in import SignIn


async def workspace(sign_in: SignIn) -> AuthorizeResult:
    """The one in which the bot is installed. Its ids are empty while Slack does not say."""
    return await sign_in(context=AsyncBoltContext(), enterprise_id=None, team_id=None, user_id=None)

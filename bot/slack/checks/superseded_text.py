"""What an answer says that is no longer the latest."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.slack.kit.escaping import code, span

BY, NEWER = " by ", "the newer answer"


def over(cluster: str) -> str:
    return f":white_check_mark: *Over:* what was found on {code(cluster)} is gone."


def gone(moment: datetime, later: timedelta) -> str:
    return f"Checked at {moment:%H:%M} UTC, {span(later)} after this answer"


def checked(moment: datetime, later: timedelta) -> str:
    return f"Checked again at {moment:%H:%M} UTC, {span(later)} later"


def was(verdict: str, cause: str) -> str:
    return f"Before: {verdict} · {cause}" if cause else f"Before: {verdict}"

"""Links to messages in Slack."""

from __future__ import annotations

from bot.checks.store.recent import RecentCheck


def thread_link(check: RecentCheck, address: str) -> str:
    """The message's permalink, as *Copy link* makes it; empty if it cannot be known."""
    if not check.ts or not address.startswith("https://"):
        return ""
    link = f"{address.rstrip('/')}/archives/{check.channel}/p{check.ts.replace('.', '')}"
    return f"{link}?thread_ts={check.thread_ts}&cid={check.channel}" if check.thread_ts else link

"""Links to messages in Slack."""

from __future__ import annotations

from bot.checks.store.recent import RecentCheck


def thread_link(one: RecentCheck, address: str) -> str:
    """The message's permalink, as *Copy link* makes it; empty if it cannot be known."""
    if not one.ts or not address.startswith("https://"):
        return ""
    link = f"{address.rstrip('/')}/archives/{one.channel}/p{one.ts.replace('.', '')}"
    return f"{link}?thread_ts={one.thread_ts}&cid={one.channel}" if one.thread_ts else link

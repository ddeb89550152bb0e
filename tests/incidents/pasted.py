"""Malicious pastes: large, deeply nested, and full of unclosed delimiters."""

from __future__ import annotations

from typing import Any

TS = "1799999990.000100"


def event(**more: Any) -> dict[str, Any]:
    """A message event as sent by Slack."""
    said = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": TS, "text": "it is down"}
    return {"team_id": "T1", "event_id": "Ev1", "event": said | more}


def deep(levels: int) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "rich_text_section", "elements": []}
    for _ in range(levels):
        block = {"type": "rich_text", "elements": [block]}
    return block


PASTED: dict[str, dict[str, Any]] = {
    "10 MB": event(text="OperationNotAllowed " * 500_000),
    "many attachments": event(text="x", attachments=[{"text": "a" * 100_000} for _ in range(100)]),
    "brackets": event(text="x", blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "<" * 1_000_000}}]),
    "beginnings of links": event(text="<https://" * 200_000),
    "beginnings of labels": event(text="<https://a|b" * 200_000),
    "beginnings of mentions": event(text="<@" * 500_000),
    "5,000 names": event(text=" ".join(f"dev-shared-{number}" for number in range(5000))),
    "deep blocks": event(text="x", blocks=[deep(900)]),
    "entities": event(text="&amp;amp;" * 100_000),
    "lines": event(text="\n" * 1_000_000),
}

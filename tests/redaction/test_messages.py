"""The messages that people wrote about clusters, and what errors and logs say, stay readable."""

from __future__ import annotations

import re
from pathlib import Path

from handlers.clients.redact import redact_each
from handlers.clients.redaction.span import MARK

MESSAGES = Path(__file__).parents[2] / "bot" / "triage" / "messages"
FEWEST = 80_000
PEOPLE = "[redacted:email]"
SECRETS = (
    "poller-resume-token",
    "postgresqlPassword=",
    "proxy.url http://svcuser:",
    "proxy.url http://user:",
    "--client-secret \u201cabcd",
    "guestFile?id=6&token=",
)
"""The messages with a real or possible secret: an example token is indistinguishable from a real one."""


def messages() -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in sorted(MESSAGES.glob("*.txt")))
    return [one for text in texts for one in re.split(r"(?m)^--- .*\n", text) if one.strip() and MARK not in one]


def test_only_messages_that_hold_a_secret_get_a_mark() -> None:
    every = messages()
    assert len(every) > FEWEST
    clean = redact_each(every)
    marked = [text for text, said in zip(every, clean, strict=True) if MARK in said.replace(PEOPLE, "")]
    assert [text for text in marked if not any(one in text for one in SECRETS)] == []
    assert len(marked) == len(SECRETS)

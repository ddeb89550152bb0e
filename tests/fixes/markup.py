"""Finds Slack markup: text that Slack would not show literally."""

from __future__ import annotations

import re

_MARKUP = {
    "a mention, a link or a date": r"<[@#!]|<https?:",
    "bold": r"\*[^\s*][^*\n]*\*",
    "italics or struck out": r"(?<!\w)[_~][^\s_~][^_~\n]*[_~](?!\w)",
    "code": "`",
    "an emoji": r":[a-z][a-z0-9_+-]*:",
    "an entity": r"&(?:amp|lt|gt);",
    "blocks": r'"type": ?"',
}


def markup_in(text: str) -> list[str]:
    return [name for name, pattern in _MARKUP.items() if re.search(pattern, text)]

"""Escapes and cuts text from elsewhere for mrkdwn. No other way is allowed.

`escape`, `code` and `plain` make such text harmless: it cannot mention anybody, forge a link, end a code span or
format what follows.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from bot.render.clean import clean, one_line
from bot.slack.kit.limits import MESSAGE_TEXT
from runbooks.linear import compile_linear

CUT = " … (cut)"
LONGEST_NAME = 100
"""A name on a line; ids are longer, but nobody reads them there."""

_ENTITY = compile_linear(r"&[a-z]*$")
_LOOKALIKES = str.maketrans({"*": "∗", "~": "∼", "`": "ˋ"})


def escape(text: str) -> str:
    """For mrkdwn: no mentions, links or invisible characters. Formatting marks stay (see `plain`)."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str, longest: int = MESSAGE_TEXT) -> str:
    """For mrkdwn: the text on one line, without any formatting."""
    return escape(_no_italics(cut(one_line(text), longest)).translate(_LOOKALIKES))


def _no_italics(text: str) -> str:
    """Underscores stay inside words only: at the edge of a word they would start italics."""
    parts = text.split("_")
    marks = ("_" if before[-1:].isalnum() and behind[:1].isalnum() else "＿" for before, behind in pairwise(parts))
    return parts[0] + "".join(mark + part for mark, part in zip(marks, parts[1:], strict=True))


def code(text: str, longest: int = LONGEST_NAME) -> str:
    """For mrkdwn: the text as code. A backtick would end it."""
    shown = cut(one_line(text), longest).replace("`", "ˋ")
    return f"`{escape(shown)}`" if shown else "`?`"


def cut(text: str, longest: int) -> str:
    """At most this many characters; a cut is marked."""
    if len(text) <= longest:
        return text
    return text[: max(longest - len(CUT), 0)] + CUT


def fits(text: str, longest: int) -> str:
    """Cut mrkdwn of our own: never inside an entity, and code spans stay closed."""
    if len(text) <= longest:
        return text
    short = text[: max(longest - len(CUT) - 1, 0)]
    opened = short.rfind("<")
    short = short[:opened] if opened > short.rfind(">") else _ENTITY.sub("", short)
    return short + ("`" if short.count("`") % 2 else "") + CUT


def sentence(text: str) -> str:
    """On one line, starting with a capital letter."""
    content = one_line(text)
    return content[:1].upper() + content[1:]


def span(time: timedelta) -> str:
    """`40 s`, `3 min`, `2 h`."""
    seconds = max(int(time.total_seconds()), 0)
    if seconds < 90:
        return f"{seconds} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


# What is said while a check runs.


def escape_name(word: str) -> str:
    """A name inside a code span of ours."""
    return escape(cut(one_line(word), LONGEST_NAME).replace("`", "ˋ"))

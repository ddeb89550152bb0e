"""Text from elsewhere, made safe for a terminal; and wrapping that never breaks what is to be copied."""

from __future__ import annotations

import re
import textwrap
from shutil import get_terminal_size

WIDEST = 100
"""Longer lines are hard to read, however wide the window is."""
NARROWEST = 40

_SEQUENCE = re.compile(
    r"""
    (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]            # CSI: colours, cursor
    | (?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])      # OSC, DCS, SOS, PM, APC: titles, links, clipboard…
      .*?(?:\x07|\x1b\\|\x9c|$)                 # …up to their end
    | \x1b[ -/]*[0-~]                           # other escapes
    """,
    re.VERBOSE | re.DOTALL,
)
# C0 and C1 controls but for tab and newline; what turns the direction of text round; what has no width;
# what ends a line without looking like it; halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """The text without anything that could steer a terminal or hide what it says."""
    return _UNSEEN.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n"))).expandtabs(4)


def one_line(text: str) -> str:
    """The same, on one line."""
    return " ".join(clean(text).split())


def width() -> int:
    """How many columns to fill: the terminal's, within reason; 80 where there is none."""
    return max(NARROWEST, min(get_terminal_size((80, 24)).columns, WIDEST))


def wrapped(text: str, *, indent: str = "", hang: str | None = None, columns: int | None = None) -> list[str]:
    """Lines of a paragraph. Words (ids, addresses) are never broken, so they can be copied."""
    return textwrap.wrap(
        one_line(text),
        columns or width(),
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_long_words=False,
        break_on_hyphens=False,
    )

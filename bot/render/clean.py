"""Makes untrusted text safe for a terminal, and wraps lines without breaking what people copy."""

from __future__ import annotations

import textwrap
from shutil import get_terminal_size

from runbooks.linear import compile_linear

WIDEST = 100
"""Longer lines are hard to read, however wide the window is."""
NARROWEST = 40

_SEQUENCE = compile_linear(
    r"(?s)(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard…
    r".*?(?:\x07|\x1b\\|\x{9c}|$)"  # …and their terminator
    r"|\x1b[ -/]*[0-~]"  # other escapes
)
_BEGINS = frozenset("\x1b\x90\x98\x9b\x9d\x9e\x9f")
# C0 and C1 controls except tab and newline; bidirectional overrides; zero-width characters;
# invisible line ends; lone surrogates.
_UNSEEN = dict.fromkeys(
    (
        *(*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x061C, 0x200B, 0x200E, 0x200F),
        *(*range(0x2028, 0x202F), *range(0x2060, 0x206A), 0xFEFF, *range(0xD800, 0xE000)),
    )
)


def clean(text: str) -> str:
    """The text without control sequences, or characters that hide what it says."""
    plain = text.replace("\r\n", "\n")
    if not _BEGINS.isdisjoint(plain):
        plain = _SEQUENCE.sub("", plain)
    return plain.translate(_UNSEEN).expandtabs(4)


def one_line(text: str) -> str:
    """The same, on one line."""
    return " ".join(clean(text).split())


def width() -> int:
    """How many columns to fill: the terminal's, within limits; 80 without a terminal."""
    return max(NARROWEST, min(get_terminal_size((80, 24)).columns, WIDEST))


def wrapped(text: str, *, indent: str = "", hang: str | None = None, columns: int | None = None) -> list[str]:
    """The lines of a paragraph. Words (ids, addresses) are never broken, so they can be copied."""
    return textwrap.wrap(
        one_line(text),
        columns or width(),
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_long_words=False,
        break_on_hyphens=False,
    )

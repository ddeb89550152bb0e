"""Normalizes a message: removes disguise, escapes and bulk. Everything after this works on bounded text."""

from __future__ import annotations

import unicodedata

from bot.triage.cards import still_open
from runbooks.escapes import unescaped
from runbooks.linear import compile_linear

LONGEST = 7_000
"""Characters that are judged: what an error says stands in its first and last lines, or on lines that say so."""
_HEAD, _TAIL = 3_500, 1_500
_LONGEST_LINE = 800
_SKIMMED = 60_000
"""Characters of a long text in which telling lines are looked for; 10 MB may be pasted."""

_UNSEEN = compile_linear(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһԍΑΒΕΖΗΙΚΜΝΟΡΤΥΧοАВЕКМНОРСТУХ’‘‛“”„′″‐‑‒–—−",
    "aeopcyxijsdqwhgABEZHIKMNOPTYXoABEKMHOPCTYX'''\"\"\"'\"------",
)
"""Letters of other scripts that read as Latin ones, and typographic quotes and dashes."""
_EMPTY_LINES = compile_linear(r"\n[\n\r]{2,}")
_BLANKS = compile_linear(r" {60,}")
_WIDE = " " * 40
"""As wide as a gap between columns needs to be."""
_TELLING = compile_linear(
    r"(?im)^.*(?:error|fail|denied|forbidden|exceed|exit (?:status|code)|timed? ?out|refused|not found|NotReady|OOM"
    r"|\"code\"|SubCode).*$"
)
"""Whole lines: a text of a hundred thousand short ones is searched once."""
_REDACTED = compile_linear(r"\[redacted:[a-z0-9-]+\]")
"""What stands in a secret's place says nothing about a cluster."""


def plain(text: str) -> str:
    """The text in plain letters, escaped JSON unwrapped, at most LONGEST; of several alerts, only the open ones."""
    cut = _cut(text)
    if "[redacted:" in cut:
        cut = _REDACTED.sub("", cut)
    if not cut.isascii():
        cut = unicodedata.normalize("NFKC", _UNSEEN.sub("", cut)).translate(_LOOKALIKES)[: LONGEST * 2]
    return _cut(still_open(without_empty_lines(_BLANKS.sub(_WIDE, unescaped(cut)))))


def without_empty_lines(text: str) -> str:
    """Half a million empty lines would cost an expression that looks for line ends seconds."""
    return _EMPTY_LINES.sub("\n\n", text)


def _cut(text: str) -> str:
    """Head, tail, and the lines in between that mention an error, each once."""
    if len(text) <= LONGEST:
        return text
    middle = text[_HEAD : min(len(text) - _TAIL, _SKIMMED)]
    told: dict[str, None] = {}
    room = LONGEST - _HEAD - _TAIL - 2
    for found in _TELLING.finditer(middle):
        line = found[0][:_LONGEST_LINE]
        if line not in told:
            room -= len(line) + 1
            if room < 0:
                break
            told[line] = None
    return "\n".join((text[:_HEAD], *told, text[-_TAIL:]))

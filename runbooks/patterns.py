"""Is this regular expression safe to run over whatever somebody pastes?

Python's matcher goes back and tries again. Over a long text made for it, one `\\S+` too many takes hours. So each
repeat has an upper end, a long repeat never holds another that may vary, and few of them are wide.
"""

from __future__ import annotations

import re

LONGEST_REPEAT = 400
"""Characters: more than any name, path or sentence that a pattern has to step over."""
_WIDE = 40
_MOST_WIDE = 3
"""What a pattern may cost at one place of the text grows with the product of its wide repeats."""

_MOST_NESTED = 4
"""Parts of an address, labels of a name."""

_TOKEN = re.compile(
    r"""(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[aiLmsux]{1,7}\)|\(\?P=\w{1,40}\))
      | (?P<open>\((?:\?(?:[:=!>]|<[=!]|P<\w{1,40}>|[aiLmsux-]{1,7}:))?)
      | (?P<close>\))
      | (?P<repeat>[*+?]|\{\d*,?\d*\})[?+]?
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def danger(pattern: str) -> str | None:
    """Why this pattern could take for ever, or None."""
    varies = [False]  # for each group that is open: does it hold a repeat that may vary?
    closed = False  # whether the piece before is a group that varies inside
    wide = 0
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            varies.append(False)
            closed = False
        elif token["close"] and len(varies) > 1:
            closed = varies.pop()
            varies[-1] = varies[-1] or closed
        elif token["repeat"]:
            least, most = _ends(token["repeat"])
            if most is None or most > LONGEST_REPEAT:
                return f"`{token[0]}` has no upper end below {LONGEST_REPEAT}: write {{{least},80}}"
            if closed and most > _MOST_NESTED:
                return f"`{token[0]}` repeats a group that itself repeats"
            varies[-1] = varies[-1] or most > max(least, 1)
            wide += most - least > _WIDE
            if wide > _MOST_WIDE:
                return f"more than {_MOST_WIDE} repeats in a row are wider than {_WIDE}"
            closed = False
        elif token[0] == "|" and len(varies) == 1:
            wide, closed = 0, False
        else:
            closed = False
    return None


def _ends(repeat: str) -> tuple[int, int | None]:
    if not repeat.startswith("{"):
        return (1 if repeat == "+" else 0), (1 if repeat == "?" else None)
    least, comma, most = repeat[1:-1].partition(",")
    if not comma:
        return int(least or 0), int(least or 0)
    return int(least or 0), int(most) if most else None

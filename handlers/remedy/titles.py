"""The title of a plan, which is a button's label: of a name that is too long the middle is left out, never the verb."""

from __future__ import annotations

LONGEST_TITLE = 60
LEFT_OUT = "…"


def titled(words: str, name: str) -> str:
    """`words` has `{}` where the name goes: "Relax budget {}, then go on"."""
    return words.format(shortened(name, LONGEST_TITLE - len(words.format(""))))


def shortened(name: str, longest: int) -> str:
    """At most this long. Both ends stay: names that begin alike differ at their end."""
    if len(name) <= longest:
        return name
    kept = max(longest - len(LEFT_OUT), 2)
    return name[: kept - kept // 2] + LEFT_OUT + name[-(kept // 2) :]

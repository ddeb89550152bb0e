"""What must still be true before a plan begins, as people read it: no JSON, no Python. For the plan's window, the
terminal, and what is said where the world has moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NOTHING = "none"


def in_words(value: Any) -> str:
    """`Failed`, `1.35.6, 1.36.1`, `minAvailable=2, selector.matchLabels.app=web`."""
    return ", ".join(f"{path}={text}" if path else text for path, text in _leaves(value, "")) or NOTHING


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for number, item in enumerate(value, 1):
            yield from _leaves(item, f"{path}[{number}]")
    else:
        yield path, _leaf(value)


def _leaf(value: Any) -> str:
    match value:
        case True | False:
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_leaf, value)) or NOTHING
        case None | "" | {}:
            return NOTHING
    return str(value)

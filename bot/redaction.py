"""Secrets out of what people type: at the door, and once more in each sink (Slack, Redis, the audit, the log).

Redacting twice is redacting once, so a sink never needs to know who was there before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from handlers.clients.redact import redact

LARGE = 64 * 1024
"""Characters from which on it is done in a thread: the event loop must go on."""
DEEPEST = 100
"""Deeper than anything that Slack or the bot itself makes; what lies below is dropped rather than trusted."""
NOTHING: frozenset[str] = frozenset()


def redacted(value: Any, *, but: Collection[str] = NOTHING) -> Any:
    """A tree of JSON, or a text, without secrets. `but`: the keys under which ids and addresses stay as they are.

    What holds no secret is returned as it is.
    """
    replaced = replacements(texts_in(value, but))
    return replace_texts(value, replaced, but) if replaced else value


def texts_in(value: Any, but: Collection[str]) -> set[str]:
    """Every distinct text that may hold a secret."""
    return set(_texts(value, but))


def replacements(texts: Collection[str]) -> dict[str, str]:
    """The texts that hold secrets, each with what stands in its place."""
    before = list(texts)
    return {text: clean for text, clean in zip(before, redact(before), strict=True) if clean != text}


def replace_texts(value: Any, replaced: dict[str, str], but: Collection[str]) -> Any:
    return _replaced(value, replaced, but, 0)


def _texts(value: Any, but: Collection[str]) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            stack.extend(inner for key, inner in node.items() if key not in but)
        elif isinstance(node, (list, tuple)):
            stack.extend(node)


def _replaced(node: Any, replaced: dict[str, str], but: Collection[str], depth: int) -> Any:
    if isinstance(node, str):
        return replaced.get(node, node)
    if depth > DEEPEST:
        return type(node)() if isinstance(node, (dict, list, tuple)) else node
    if isinstance(node, dict):
        return {key: inner if key in but else _replaced(inner, replaced, but, depth + 1) for key, inner in node.items()}
    if isinstance(node, (list, tuple)):
        return type(node)(_replaced(inner, replaced, but, depth + 1) for inner in node)
    return node

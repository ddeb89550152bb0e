"""Removes secrets from what was kept of a cluster: everything that a reader returns passes here.

`keep` functions see raw objects, because redacting 150,000 whole pods would take longer than fetching them. What they
keep is small; its texts are redacted page by page, by the same rules as Azure's answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeGuard, TypeVar, cast

from handlers.clients.redact import SHORTEST, has_flags, redact, redact_each, without_arguments
from handlers.clients.secret_keys import PLAIN, kind_of_key

T = TypeVar("T")

_PLAIN_TYPES = (int, float, bool, type(None), date, timedelta, Decimal)


def without_secrets(kept: list[T]) -> list[T]:
    """The kept values, rebuilt only where they hold a secret."""
    texts: set[str] = set()
    telling = _survey(kept, texts)
    before = list(texts)
    after = redact_each(before)
    if after is before and not telling:
        return kept
    changed = {old: new for old, new in zip(before, after, strict=True) if new is not old}
    return [cast("T", _rebuilt(one, changed)) for one in kept]


def _survey(values: Iterable[Any], texts: set[str]) -> bool:
    """Collect every text long enough to hold a secret; return whether a key names one."""
    telling = False
    stack = list(values)
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            if len(one) >= SHORTEST:
                texts.add(one)
        elif isinstance(one, _PLAIN_TYPES):
            continue
        elif isinstance(one, (tuple, list, set, frozenset)):
            telling = telling or _are_arguments(one)
            stack.extend(one)
        elif isinstance(one, dict):
            telling = telling or _tells(one)
            stack.extend(one)
            stack.extend(one.values())
        else:
            stack.extend(getattr(one, name) for name in _names(one.__class__))
    return telling


def _are_arguments(parts: Any) -> TypeGuard[tuple[str, ...] | list[str]]:
    """Whether these may be a container's arguments: `("--db-password", "X")`."""
    return isinstance(parts, (tuple, list)) and all(isinstance(part, str) for part in parts) and has_flags(parts)


def _tells(mapping: dict[Any, Any]) -> bool:
    """Whether a value is a secret because of its key, or of the name beside it (`name`, `value`)."""
    if "value" in mapping:
        return True
    return any(isinstance(key, str) and kind_of_key(key) not in ("", PLAIN) for key in mapping)


def _rebuilt(one: Any, changed: dict[str, str]) -> Any:
    if isinstance(one, str):
        return changed.get(one, one)
    if isinstance(one, _PLAIN_TYPES):
        return one
    if isinstance(one, dict):
        clean = redact(one) if _tells(one) else one
        rebuilt = copy(one)
        rebuilt.clear()
        rebuilt.update({_rebuilt(key, changed): _rebuilt(value, changed) for key, value in clean.items()})
        return rebuilt
    if isinstance(one, tuple) and hasattr(one, "_make"):
        return type(one)._make(_rebuilt(part, changed) for part in one)
    if isinstance(one, (tuple, list, set, frozenset)):
        parts = without_arguments(one) if _are_arguments(one) else one
        return type(one)(_rebuilt(part, changed) for part in parts)
    rebuilt = copy(one)
    for name in _names(one.__class__):
        # The way dataclasses set fields themselves: frozen ones refuse plain assignment.
        object.__setattr__(rebuilt, name, _rebuilt(getattr(one, name), changed))
    return rebuilt


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a kept value. A type that cannot be inspected cannot be proven clean."""
    if not is_dataclass(kind):
        known = "texts, numbers, times, tuples, lists, sets, dicts and dataclasses"
        raise TypeError(f"a reader keeps {known}, not {kind.__name__}")
    return tuple(field.name for field in fields(kind))

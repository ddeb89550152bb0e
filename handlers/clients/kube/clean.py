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
    return [cast("T", _rebuilt(value, changed)) for value in kept]


def _survey(values: Iterable[Any], texts: set[str]) -> bool:
    """Collect every text long enough to hold a secret; return whether a key names one."""
    telling = False
    stack = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if len(value) >= SHORTEST:
                texts.add(value)
        elif isinstance(value, _PLAIN_TYPES):
            continue
        elif isinstance(value, (tuple, list, set, frozenset)):
            telling = telling or _are_arguments(value)
            stack.extend(value)
        elif isinstance(value, dict):
            telling = telling or _tells(value)
            stack.extend(value)
            stack.extend(value.values())
        else:
            stack.extend(getattr(value, name) for name in _names(value.__class__))
    return telling


def _are_arguments(parts: Any) -> TypeGuard[tuple[str, ...] | list[str]]:
    """Whether these may be a container's arguments: `("--db-password", "X")`."""
    return isinstance(parts, (tuple, list)) and all(isinstance(part, str) for part in parts) and has_flags(parts)


def _tells(mapping: dict[Any, Any]) -> bool:
    """Whether a value is a secret because of its key, or of the name beside it (`name`, `value`)."""
    if "value" in mapping:
        return True
    return any(isinstance(key, str) and kind_of_key(key) not in ("", PLAIN) for key in mapping)


def _rebuilt(item: Any, changed: dict[str, str]) -> Any:
    if isinstance(item, str):
        return changed.get(item, item)
    if isinstance(item, _PLAIN_TYPES):
        return item
    if isinstance(item, dict):
        clean = redact(item) if _tells(item) else item
        rebuilt = copy(item)
        rebuilt.clear()
        rebuilt.update({_rebuilt(key, changed): _rebuilt(value, changed) for key, value in clean.items()})
        return rebuilt
    if isinstance(item, tuple) and hasattr(item, "_make"):
        return type(item)._make(_rebuilt(part, changed) for part in item)
    if isinstance(item, (tuple, list, set, frozenset)):
        parts = without_arguments(item) if _are_arguments(item) else item
        return type(item)(_rebuilt(part, changed) for part in parts)
    rebuilt = copy(item)
    for name in _names(item.__class__):
        # The way dataclasses set fields themselves: frozen ones refuse plain assignment.
        object.__setattr__(rebuilt, name, _rebuilt(getattr(item, name), changed))
    return rebuilt


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a kept value. A type that cannot be inspected cannot be proven clean."""
    if not is_dataclass(kind):
        known = "texts, numbers, times, tuples, lists, sets, dicts and dataclasses"
        raise TypeError(f"a reader keeps {known}, not {kind.__name__}")
    return tuple(field.name for field in fields(kind))

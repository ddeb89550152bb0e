"""What is kept beside typed fields (a finding's facts, a plan's `before`) is plain JSON: it comes back as it was.

A tuple, a set or a time would come back from the store as a list or a text, and no longer compare equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def must_be_plain(what: str, values: Mapping[str, Any]) -> None:
    """Raises TypeError, with the key, at the first value that JSON has no word for. For `__post_init__`."""
    for key, value in values.items():
        _check(what, str(key), value)
        if not isinstance(key, str):
            raise TypeError(f"{what}: the key {key!r} is a {type(key).__name__}; a key of plain JSON is text")


def _check(what: str, at: str, value: Any) -> None:
    if isinstance(value, dict):
        must_be_plain(f"{what}, {at}", value)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check(what, f"{at}[{number}]", item)
    elif value is not None and not isinstance(value, str | int | float):
        raise TypeError(f"{what}: {at} is a {type(value).__name__}; plain JSON is text, numbers, lists and objects")

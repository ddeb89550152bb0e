"""The building blocks of the rules: checks of a value at a path that record every violation.

The messages are Slack's own, as quoted in public bug reports; where none was found, they imitate Slack's
style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Notes:
    """The violations found so far, and the ids seen."""

    features: frozenset[str] = frozenset()
    surface: str = "message"
    messages: list[str] = field(default_factory=list)

    def add(self, what: str, place: str) -> None:
        self.messages.append(f"{what} [json-pointer:{place}]")

    @contextmanager
    def inside(self, place: str) -> Iterator[None]:
        """Slack's message names the failed schema before the reason."""
        before = len(self.messages)
        yield
        if len(self.messages) > before:
            self.messages.insert(before, f"failed to match all allowed schemas [json-pointer:{place}]")


Check = Callable[[Any, str, Notes], None]


def string(longest: int | None = None, shortest: int = 1) -> Check:
    def check(value: Any, place: str, notes: Notes) -> None:
        if not isinstance(value, str):
            notes.add("must provide a string", place)
        elif len(value) < shortest:
            notes.add(f"must be more than {shortest - 1} characters", place)
        elif longest is not None and len(value) > longest:
            notes.add(f"must be less than {longest + 1} characters", place)

    return check


def url(longest: int = 3000) -> Check:
    fits = string(longest)

    def check(value: Any, place: str, notes: Notes) -> None:
        fits(value, place, notes)
        if isinstance(value, str) and value and not _is_url(value):
            notes.add("invalid url", place)

    return check


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    if parts.scheme in ("http", "https"):
        return bool(parts.hostname) and not any(letter.isspace() for letter in value)
    return parts.scheme in ("mailto", "slack", "tel")


def boolean(value: Any, place: str, notes: Notes) -> None:
    if not isinstance(value, bool):
        notes.add("must provide a boolean", place)


def integer(least: int | None = None, most: int | None = None) -> Check:
    def check(value: Any, place: str, notes: Notes) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            notes.add("must provide an integer", place)
        elif least is not None and value < least:
            notes.add(f"must be greater than or equal to {least}", place)
        elif most is not None and value > most:
            notes.add(f"must be less than or equal to {most}", place)

    return check


def choice(*allowed: Any) -> Check:
    def check(value: Any, place: str, notes: Notes) -> None:
        if value not in allowed:
            notes.add("must be a valid enum value", place)

    return check


def array(item: Check, most: int | None = None, least: int = 1) -> Check:
    def check(value: Any, place: str, notes: Notes) -> None:
        if not isinstance(value, list):
            notes.add("must provide an array", place)
            return
        if len(value) < least:
            notes.add(f"no less than {least} items allowed", place)
        if most is not None and len(value) > most:
            notes.add(f"no more than {most} items allowed", place)
        for number, entry in enumerate(value):
            item(entry, f"{place}/{number}", notes)

    return check


def record(needed: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """An object with exactly these fields. Optional fields may be null."""
    known = {**needed, **(optional or {})}

    def check(value: Any, place: str, notes: Notes) -> None:
        if not isinstance(value, dict):
            notes.add("must provide an object", place)
            return
        for name in needed:
            if value.get(name) is None:
                notes.add(f"missing required field: {name}", place)
        for name, item in value.items():
            if name not in known:
                notes.add(f"invalid additional property: {name}", place)
            elif item is not None:
                known[name](item, f"{place}/{name}", notes)

    return check


def by_type(kinds: dict[str, Check]) -> Check:
    """An object whose rules depend on its `type`."""

    def check(value: Any, place: str, notes: Notes) -> None:
        if not isinstance(value, dict):
            notes.add("must provide an object", place)
            return
        kind = value.get("type")
        if kind is None:
            notes.add("missing required field: type", place)
        elif not isinstance(kind, str) or kind not in kinds:
            notes.add(f"unsupported type: {kind}", f"{place}/type")
        else:
            kinds[kind](value, place, notes)

    return check


def framed(check: Check) -> Check:
    """A check for which Slack reports a general failure before the reason."""

    def framing(value: Any, place: str, notes: Notes) -> None:
        with notes.inside(place):
            check(value, place, notes)

    return framing


def anything(value: Any, place: str, notes: Notes) -> None:
    """Accepts anything."""


def every(*checks: Check) -> Check:
    def check(value: Any, place: str, notes: Notes) -> None:
        for rule in checks:
            rule(value, place, notes)

    return check

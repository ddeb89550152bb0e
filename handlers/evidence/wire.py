"""Reading wire bodies: tolerant of what is unknown or missing, strict about what a verdict hangs on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from handlers.model import CannotSee, Unavailable, Why


def dig(body: Any, *path: str) -> Any:
    """The value at a path, or None where any part of it is missing."""
    for key in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(key)
    return body


def text(body: Any, *path: str) -> str:
    value = dig(body, *path)
    return value if isinstance(value, str) else ""


def number(body: Any, *path: str) -> int:
    value = dig(body, *path)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def rows(body: Any, *path: str) -> list[Mapping[str, Any]]:
    value = dig(body, *path)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def texts(body: Any, *path: str) -> tuple[str, ...]:
    value = dig(body, *path)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def need_text(body: Any, *path: str) -> str:
    """A text without which there is no verdict. Its absence means that the answer was not what it should be."""
    value = text(body, *path)
    if not value:
        raise _unreadable(body, path)
    return value


def need_number(body: Any, *path: str) -> int:
    value = dig(body, *path)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unreadable(body, path)
    return int(value)


def need_rows(body: Any, *path: str) -> list[Any]:
    value = dig(body, *path)
    if not isinstance(value, list):
        raise _unreadable(body, path)
    return value


def moment(value: str) -> datetime | None:
    """A timestamp in any of ARM's forms: `Z` or an offset, 0 to 7 fractional digits."""
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def whole(items: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The rows of a list; a row that is no object means that the list cannot be trusted."""
    checked = []
    for item in items:
        if not isinstance(item, Mapping):
            raise _unreadable(item, ("value[]",))
        checked.append(item)
    return checked


def _unreadable(body: Any, path: tuple[str, ...]) -> CannotSee:
    about = text(body, "id") or "the answer"
    return CannotSee(Unavailable("an answer", Why.FAILED, f"{about} has no readable {'.'.join(path)}"))

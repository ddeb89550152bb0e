"""What a read returned, redacted, with what was asked and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One resource, or the result of one query. Treat the body as read-only: it may be shared through the cache."""

    body: Any
    source: str
    taken_at: datetime
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """All pages of a list, and whether it was cut."""

    items: tuple[Any, ...]
    source: str
    taken_at: datetime
    truncated: bool

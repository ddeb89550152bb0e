"""What a read brought back, redacted, with what was asked and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One resource (or one query's result). Others may hold the same body: read it, never change it."""

    body: Any
    source: str
    taken_at: datetime
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """All pages of one list, and whether it was cut."""

    items: tuple[Any, ...]
    source: str
    taken_at: datetime
    truncated: bool

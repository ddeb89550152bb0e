"""One measured value and its limit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    unit: str
    bar: float
    detail: str

    @property
    def ok(self) -> bool:
        return self.value <= self.bar

    def as_mapping(self) -> dict[str, Any]:
        return {**asdict(self), "value": round(self.value, 3), "ok": self.ok}

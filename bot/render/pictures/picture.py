"""What a picture shows, as plain values: made here, drawn in a process of its own (`draw.py`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart. Where nothing was measured there is a gap."""

    label: str
    values: tuple[float | None, ...]
    background: bool = False
    """Drawn thin and grey: what the others are compared with."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over time in per cent, with the line that they should stay below."""

    title: str
    begins: float
    """Seconds since the epoch; UTC."""
    seconds: tuple[int, ...]
    """Of each value, how long after that."""
    curves: tuple[Curve, ...]
    limit: float
    limit_label: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Chart:
        curves = tuple(Curve(curve["label"], tuple(curve["values"]), curve["background"]) for curve in raw["curves"])
        return cls(**{**raw, "seconds": tuple(raw["seconds"]), "curves": curves})


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart and what goes with it where it is shown."""

    name: str
    """Of the file."""
    alt: str
    """What it shows, in words: for who cannot see it, and where it cannot be shown."""
    chart: Chart

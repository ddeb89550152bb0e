"""What a picture shows, as plain values: made here, drawn in a process of its own (`draw.py`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
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


class Tone(StrEnum):
    """What became of something: each has its colour and its shape, as not everybody tells colours apart."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a moment, or from one moment to another."""

    at: float
    """Seconds since the epoch; UTC."""
    label: str
    """What happened, in a few words."""
    tone: Tone = Tone.PLAIN
    until: float | None = None
    root: bool = False
    """What caused the rest."""
    number: int = 0
    """Under which it is listed below the picture; 0: it is drawn without words."""

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Mark:
        return cls(**{**raw, "tone": Tone(raw["tone"])})


@dataclass(frozen=True, slots=True)
class Lane:
    """What one source tells: the activity log, the events of Kubernetes, the alerts, the bot's fixes."""

    name: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes above one axis of time. Made by `timeline.py`, which numbers the marks."""

    title: str
    begins: float
    """Seconds since the epoch; UTC."""
    ends: float
    lanes: tuple[Lane, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Timeline:
        lanes = (Lane(lane["name"], tuple(Mark.from_json(mark) for mark in lane["marks"])) for lane in raw["lanes"])
        return cls(raw["title"], raw["begins"], raw["ends"], tuple(lanes))


Drawn = Chart | Timeline
"""All that `draw.py` can draw."""


def read_drawn(raw: dict[str, Any]) -> Drawn:
    """What `as_json` of one of them wrote."""
    return Timeline.from_json(raw) if "lanes" in raw else Chart.from_json(raw)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and what goes with it where it is shown."""

    name: str
    """Of the file."""
    alt: str
    """What it shows, in words: for who cannot see it, and where it cannot be shown."""
    chart: Drawn

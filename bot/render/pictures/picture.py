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
    UNSURE = "unsure"


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


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar."""

    label: str
    count: int
    wanted: bool = False
    """Not held yet: drawn hatched, behind what is in use."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit and what it is used for."""

    label: str
    parts: tuple[Part, ...]
    limit: int
    arithmetic: str
    """The line under it that proves it: `196 + 8 = 204 of 200 cores: 4 short`."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Limits that were reached, one bar each."""

    title: str
    bars: tuple[Bar, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Bars:
        return cls(raw["title"], tuple(_bar(bar) for bar in raw["bars"]))


def _bar(raw: dict[str, Any]) -> Bar:
    return Bar(**{**raw, "parts": tuple(Part(**part) for part in raw["parts"])})


@dataclass(frozen=True, slots=True)
class Branch:
    """One finding in a tree of causes."""

    depth: int
    """0 is a root cause; others belong to the nearest one above that is less deep."""
    title: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """Root causes with what follows from them, in the order in which it is read."""

    title: str
    branches: tuple[Branch, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Tree:
        return cls(raw["title"], tuple(Branch(**branch) for branch in raw["branches"]))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cluster of a fleet."""

    name: str
    tone: Tone
    says: str
    """The state in words, so that nobody needs the colour."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A fleet, worst first."""

    title: str
    cells: tuple[Cell, ...]
    left_out: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Grid:
        return cls(**{**raw, "cells": tuple(map(_cell, raw["cells"]))})


def _cell(raw: dict[str, Any]) -> Cell:
    return Cell(**{**raw, "tone": Tone(raw["tone"])})


Drawn = Chart | Timeline | Bars | Tree | Grid
"""All that `draw.py` can draw."""
_BY_FIELD: dict[str, type[Timeline] | type[Bars] | type[Tree] | type[Grid]] = {
    "lanes": Timeline,
    "bars": Bars,
    "branches": Tree,
    "cells": Grid,
}


def read_drawn(raw: dict[str, Any]) -> Drawn:
    """What `as_json` of one of them wrote."""
    return next((made for field, made in _BY_FIELD.items() if field in raw), Chart).from_json(raw)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and what goes with it where it is shown."""

    name: str
    """Of the file."""
    alt: str
    """What it shows, in words: for who cannot see it, and where it cannot be shown."""
    chart: Drawn

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
    """The line under it that proves it: `196 in use + 8 wanted = 204 > 200: 4 vCPUs short`."""


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
    tone: str
    """Of `drawing.style.TONES`: its colour and its sign."""
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
        return cls(**{**raw, "cells": tuple(Cell(**cell) for cell in raw["cells"])})


Drawn = Chart | Bars | Tree | Grid
"""What `draw.py` can draw."""
KINDS: dict[str, type[Chart] | type[Bars] | type[Tree] | type[Grid]] = {
    "chart": Chart,
    "bars": Bars,
    "tree": Tree,
    "grid": Grid,
}
"""By the name under which each goes to the process that draws."""


def packed(drawn: Drawn) -> dict[str, Any]:
    """For the process that draws, and for redaction."""
    kind = next(name for name, made in KINDS.items() if isinstance(drawn, made))
    return {"kind": kind, "drawn": drawn.as_json()}


def unpacked(raw: dict[str, Any]) -> Drawn:
    return KINDS[raw["kind"]].from_json(raw["drawn"])


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and what goes with it where it is shown."""

    name: str
    """Of the file."""
    alt: str
    """What it shows, in words: for who cannot see it, and where it cannot be shown."""
    chart: Drawn

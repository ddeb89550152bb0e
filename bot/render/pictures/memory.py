"""Memory by node over the last hours, from what the findings keep of it. Called where an answer is put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.render.pictures.picture import Chart, Curve, Picture
from bot.render.pictures.plain_name import plain_name
from handlers.model import Diagnosis

MOST_CURVES = 4
"""More than that nobody tells apart on a phone."""
FEWEST_VALUES = 3
_WHEN = "%H:%M"


def memory_by_node(diagnosis: Diagnosis) -> Picture | None:
    """The picture of a diagnosis in which nodes are short of memory; None where Azure Monitor had nothing of them."""
    kept = [
        (str(ranked.finding.facts["node"]), over_time)
        for ranked in diagnosis.findings
        if (over_time := _kept(ranked.finding.facts))
    ]
    if not kept:
        return None
    _, first = kept[0]
    shown = [(node, item) for node, item in kept if item["moments"] == first["moments"]][:MOST_CURVES]
    curves = [Curve(node, tuple(item["percent"])) for node, item in shown]
    if first["others"] and any(value is not None for value in first["others_percent"]):
        label = f"Average of the other {first['others']} nodes" if first["others"] > 1 else "The other node"
        curves.append(Curve(label, tuple(first["others_percent"]), background=True))
    chart = Chart(
        title=f"{diagnosis.target.name}: memory by node, % of what its pods may have",
        begins=datetime.fromisoformat(first["from"]).timestamp(),
        seconds=tuple(first["moments"]),
        curves=tuple(curves),
        limit=100.0,
        limit_label="all that pods may have",
    )
    return Picture(f"memory-{plain_name(diagnosis.target.name)}.png", described(chart), chart)


def described(chart: Chart) -> str:
    """The same in words."""
    begins, ends = _clock(chart, 0), _clock(chart, len(chart.seconds) - 1)
    return f"{chart.title}, {begins} UTC to {ends} UTC. {'. '.join(_told(chart))}."


def _told(chart: Chart) -> Iterator[str]:
    for curve in chart.curves:
        known = [(number, value) for number, value in enumerate(curve.values) if value is not None]
        if not known:
            continue
        (_, first), (_, last) = known[0], known[-1]
        at, highest = max(known, key=lambda pair: pair[1])
        peak = f", highest {highest:.0f} % at {_clock(chart, at)} UTC" if highest > max(first, last) + 1 else ""
        yield f"{curve.label}: from {first:.0f} % to {last:.0f} %{peak}"


def _clock(chart: Chart, number: int) -> str:
    return f"{datetime.fromtimestamp(chart.begins + chart.seconds[number], UTC):{_WHEN}}"


def _kept(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a finding keeps of the history; nothing where there are too few values for a line."""
    over_time: Mapping[str, Any] = facts.get("memory_over_time") or {}
    values = [item for item in over_time.get("percent", ()) if item is not None]
    return over_time if len(values) >= FEWEST_VALUES else {}

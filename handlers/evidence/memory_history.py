"""Memory by node over the last hours, from Azure Monitor. Only asked where a node is short of memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.short_of_memory import ShortOfMemory
from handlers.evidence.wire import dig, moment, need_rows, rows, text
from handlers.model import Evidence, NotApplicable, Target

METRICS_API = "2024-02-01"
METRIC = "node_memory_working_set_percentage"
"""Per cent of what pods may have (allocatable), one series for each node; free, and on for every AKS cluster."""
WINDOW = timedelta(hours=3)
STEP = timedelta(minutes=5)
MOST_SERIES = 1000
"""Azure Monitor brings ten series unless it is told how many."""


@dataclass(frozen=True, kw_only=True)
class MemoryHistory(Evidence):
    """Per cent of its allocatable memory that each node used, every five minutes; None where nothing came."""

    moments: tuple[datetime, ...]
    by_node: Mapping[str, tuple[float | None, ...]]


@collector(reads=("Microsoft.Insights/metrics/read",))
async def memory_history(
    target: Target, cluster: ManagedCluster, short: ShortOfMemory, arm: ArmReader
) -> MemoryHistory | NotApplicable:
    """memory by node over time"""
    if not short.nodes:
        return NotApplicable("no node is short of memory")
    until = target.asked_at.replace(second=0, microsecond=0)
    asked = {
        "metricnames": METRIC,
        "timespan": f"{until - WINDOW:%Y-%m-%dT%H:%M:%SZ}/{until:%Y-%m-%dT%H:%M:%SZ}",
        "interval": "PT5M",
        "aggregation": "Average",
        "top": str(MOST_SERIES),
        "$filter": "node eq '*'",
    }
    answer = await arm.get(f"{cluster.id}/providers/Microsoft.Insights/metrics", METRICS_API, asked)
    series = {node: points for row in _series(answer.body) if (node := _node(row)) and (points := _points(row))}
    moments = tuple(sorted({at for points in series.values() for at in points}))
    return MemoryHistory(
        source=answer.source,
        taken_at=answer.taken_at,
        moments=moments,
        by_node={node: tuple(points.get(at) for at in moments) for node, points in series.items()},
    )


def _series(body: Any) -> list[Mapping[str, Any]]:
    return [row for metric in need_rows(body, "value") for row in rows(metric, "timeseries")]


def _node(row: Mapping[str, Any]) -> str:
    """Names of dimensions come in any case."""
    named = (item for item in rows(row, "metadatavalues") if text(item, "name", "value").lower() == "node")
    return text(next(named, None), "value")


def _points(row: Mapping[str, Any]) -> dict[datetime, float]:
    """A moment at which nothing was measured has no value."""
    found: dict[datetime, float] = {}
    for point in rows(row, "data"):
        at, value = moment(text(point, "timeStamp")), dig(point, "average")
        if at and isinstance(value, int | float):
            found[at] = round(float(value), 1)
    return found

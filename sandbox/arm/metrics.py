"""Azure Monitor's platform metrics of a managed cluster: memory and CPU by node, for any requested time range."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer, Refusal
from sandbox.arm.lists import check_parent_exists
from sandbox.arm.site import Call, Site
from sandbox.kube.world import KubeWorld
from sandbox.world import Points

Body = dict[str, Any]

CLUSTERS = "Microsoft.ContainerService/managedClusters"
KEPT = timedelta(days=93)
USUAL_TOP = 10
"""The default for `top`: how many series a filter returns."""
_METRICS = {
    "node_cpu_usage_percentage": ("CPU Usage Percentage", "cpu", 1.0),
    "node_memory_rss_percentage": ("Memory RSS Percentage", "memory", 0.7),
    "node_memory_working_set_percentage": ("Memory Working Set Percentage", "memory", 1.0),
}
"""By metric name: display name, measured resource, and its share of the working set."""
_GRAINS = {"PT1M": 1, "PT5M": 5, "PT15M": 15, "PT30M": 30, "PT1H": 60, "PT6H": 360, "PT12H": 720, "P1D": 1440}
_AGGREGATIONS = ("average", "maximum")
_DIMENSIONS = ("node", "nodepool")
_TERM = re.compile(r"(\w+) eq '([^']*)'", re.IGNORECASE)
_UNITS = {"m": 0.001, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}


def metrics(site: Site, call: Call) -> Answer:
    """The time series of one cluster: the average, or with a filter one per node or pool."""
    check_parent_exists(site.world, call.place, "read")
    resource = site.world.resources[call.place.scope.lower()]
    if str(resource["type"]).lower() != CLUSTERS.lower():
        raise _bad(f"Metrics are not supported for resource type {resource['type']}.")
    names = [part.strip() for part in call.query.get("metricnames", "").split(",") if part.strip()]
    if not names:
        raise _bad("Metric name is required.")
    asked = _Asked.of(site, call)
    kube = site.world.kubes.get(resource["id"].lower()) or KubeWorld()
    given = site.world.metrics.get(resource["id"].lower(), {})
    value = [_metric(resource["id"], _known(name), asked, kube, given) for name in names]
    return Answer(
        200,
        {
            "cost": max(int((asked.until - asked.since).total_seconds() // 60) - 1, 0),
            "timespan": f"{asked.since:%Y-%m-%dT%H:%M:%SZ}/{asked.until:%Y-%m-%dT%H:%M:%SZ}",
            "interval": asked.interval,
            "value": value,
            "namespace": CLUSTERS,
            "resourceregion": resource["location"],
        },
    )


@dataclass(frozen=True)
class _Asked:
    since: datetime
    until: datetime
    interval: str
    aggregations: tuple[str, ...]
    wanted: dict[str, set[str]]
    """The requested values by dimension; `*` means all."""
    top: int

    @classmethod
    def of(cls, site: Site, call: Call) -> _Asked:
        now = site.clock()
        since, until = _timespan(call.query.get("timespan", ""), now)
        if since < now - KEPT:
            raise _bad(f"The start time cannot be more than {KEPT.days} days in the past.")
        interval = call.query.get("interval", "PT1M")
        if interval not in _GRAINS:
            raise _bad(f"Detected invalid time grain input: {interval}, supported ones are: {','.join(_GRAINS)}")
        aggregations = tuple(part.strip().lower() for part in call.query.get("aggregation", "Average").split(","))
        if not set(aggregations) <= set(_AGGREGATIONS):
            raise _bad(f"Invalid aggregation type: {','.join(aggregations)}, supported ones are: Average,Maximum")
        return cls(since, until, interval, aggregations, _wanted(call.filter), _top(call))

    def moments(self) -> list[datetime]:
        grain = timedelta(minutes=_GRAINS[self.interval])
        count = math.ceil((self.until - self.since) / grain)
        return [self.since + number * grain for number in range(count)]


def _timespan(said: str, now: datetime) -> tuple[datetime, datetime]:
    if not said:
        return now - timedelta(hours=1), now
    try:
        since, until = (datetime.fromisoformat(part).astimezone(UTC) for part in said.split("/"))
    except ValueError:
        raise _bad(f"Invalid timespan: {said}") from None
    if since >= until:
        raise _bad("The start time must be before the end time.")
    return since, until


def _top(call: Call) -> int:
    said = call.query.get("top", "")
    if said and not said.isdigit():
        raise _bad(f"Invalid value for top: {said}")
    return int(said) if said else USUAL_TOP


def _wanted(text: str) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for part in re.split(r"\s+(?:and|or)\s+", text, flags=re.IGNORECASE) if text else ():
        term = _TERM.fullmatch(part.strip())
        if term is None:
            raise _bad(f"Invalid filter: {text}")
        if term[1].lower() not in _DIMENSIONS:
            raise _bad(
                f"Metric does not support requested dimension combination: {term[1]}, "
                f"supported ones are: {','.join(_DIMENSIONS)}"
            )
        wanted.setdefault(term[1].lower(), set()).add(term[2].lower())
    return wanted


def _known(name: str) -> str:
    found = next((known for known in _METRICS if known == name.lower()), None)
    if found is None:
        provider, kind = CLUSTERS.split("/")
        raise _bad(
            f"Failed to find metric configuration for provider: {provider}, resource Type: {kind}, metric: {name}, "
            f"Valid metrics: {','.join(_METRICS)}"
        )
    return found


def _metric(cluster: str, name: str, asked: _Asked, kube: KubeWorld, given: dict[str, dict[str, Points]]) -> Body:
    nodes = {node["metadata"]["name"]: node for node in kube.every("nodes") if _is_machine(node)}
    lines = {node: _line(name, body, asked, kube, given) for node, body in nodes.items()}
    pools = {node: body["metadata"].get("labels", {}).get("agentpool", "") for node, body in nodes.items()}
    return {
        "id": f"{cluster}/providers/Microsoft.Insights/metrics/{name}",
        "type": "Microsoft.Insights/metrics",
        "name": {"value": name, "localizedValue": _METRICS[name][0]},
        "displayDescription": _METRICS[name][0],
        "unit": "Percent",
        "timeseries": list(_series(lines, pools, asked)),
        "errorCode": "Success",
    }


def _is_machine(node: Body) -> bool:
    return str(node["metadata"].get("labels", {}).get("type", "")) != "virtual-kubelet"


def _series(lines: dict[str, list[float]], pools: dict[str, str], asked: _Asked) -> Iterable[Body]:
    """One overall series, or one for each value of each dimension in the filter, highest first."""
    groups: dict[tuple[str, ...], list[list[float]]] = {}
    for node, line in lines.items():
        said = {"node": node, "nodepool": pools[node]}
        fits = all("*" in values or said[name].lower() in values for name, values in asked.wanted.items())
        if fits:
            groups.setdefault(tuple(said[name] for name in asked.wanted), []).append(line)
    averaged = {key: [sum(column) / len(column) for column in zip(*rows, strict=True)] for key, rows in groups.items()}
    ranked = sorted(averaged.items(), key=lambda pair: -sum(pair[1]))
    for key, values in ranked[: asked.top] if asked.wanted else ranked:
        named = zip(asked.wanted, key, strict=True)
        yield {
            "metadatavalues": [
                {"name": {"value": item, "localizedValue": item}, "value": value} for item, value in named
            ],
            "data": [_point(at, value, asked) for at, value in zip(asked.moments(), values, strict=True)],
        }


def _point(at: datetime, value: float, asked: _Asked) -> Body:
    """A data point. If there is no number (the node did not report), the value is omitted, not 0."""
    point: Body = {"timeStamp": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
    return point if math.isnan(value) else point | dict.fromkeys(asked.aggregations, round(value, 6))


def _line(name: str, node: Body, asked: _Asked, kube: KubeWorld, given: dict[str, dict[str, Points]]) -> list[float]:
    """The node's values from the scenario, or its current usage from the metrics server."""
    told = given.get(name, {}).get(node["metadata"]["name"])
    if told:
        return [_between(told, at) for at in asked.moments()]
    _, what, share = _METRICS[name]
    return [100 * share * _used(node, kube, what)] * len(asked.moments())


def _between(points: Points, at: datetime) -> float:
    """Interpolate linearly between two points; there is no value before the first or after the last."""
    for (earlier, low), (later, high) in pairwise(points):
        if earlier <= at <= later:
            return low + (high - low) * ((at - earlier) / (later - earlier))
    return math.nan


def _used(node: Body, kube: KubeWorld, what: str) -> float:
    measured = kube.usage.nodes.get(node["metadata"]["name"]) if kube.usage else None
    room = _number(node["status"].get("allocatable", {}).get(what, ""))
    return _number(measured[what]) / room if measured and room else 0.4


def _number(quantity: str) -> float:
    digits = quantity.rstrip("KMGim")
    return float(digits or 0) * _UNITS.get(quantity[len(digits) :], 1)


def _bad(message: str) -> Refusal:
    return errors.bare(400, "BadRequest", message)

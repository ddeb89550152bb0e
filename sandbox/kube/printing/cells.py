"""Helpers shared by many columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Body = dict[str, Any]

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"


@dataclass(frozen=True, slots=True)
class Printed:
    """One column: `wide` ones are shown with `-o wide` only."""

    name: str
    cell: Callable[[Body, datetime], Any]
    wide: bool = False
    type: str = "string"

    def definition(self) -> Body:
        return {
            "name": self.name,
            "type": self.type,
            "format": "name" if self.name == "Name" else "",
            "description": "",
            "priority": 1 if self.wide else 0,
        }


def at(*path: str, default: Any = "") -> Callable[[Body, datetime], Any]:
    """A cell that shows a field unchanged."""
    return lambda body, _: dig(body, *path, default=default)


def dig(body: Any, *path: str, default: Any = None) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
        if body is None:
            return default
    return body


def name(body: Body, _: datetime) -> str:
    return str(body["metadata"]["name"])


def age(body: Body, now: datetime) -> str:
    return since(dig(body, "metadata", "creationTimestamp"), now)


def since(text: str | None, now: datetime) -> str:
    moment = moment_of(text)
    return UNKNOWN if moment is None else human_duration((now - moment).total_seconds())


def moment_of(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def human_duration(seconds_passed: float) -> str:
    """A duration in kubectl's short format: 90s, 5m10s, 3h, 4d2h, 2y50d."""
    seconds = int(seconds_passed)
    if seconds < -1:
        return "<invalid>"
    seconds = max(0, seconds)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(days // 365, "y", days % 365, "d") if days < 2920 else f"{days // 365}y"


def _two(large: int, name: str, small: int, other: str) -> str:
    return f"{large}{name}{small}{other}" if small else f"{large}{name}"


def pairs(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def selector_text(selector: Body | None) -> str:
    """A spec's label selector as one line of text."""
    if not selector:
        return NONE
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        values = ",".join(expression.get("values") or ())
        match expression["operator"]:
            case "In" | "NotIn" as operator:
                terms.append(f"{expression['key']} {operator.lower()} ({values})")
            case "Exists":
                terms.append(expression["key"])
            case _:
                terms.append(f"!{expression['key']}")
    return ",".join(terms) or NONE


def containers(spec: Body | None) -> tuple[str, str]:
    """Names and images of a pod template's containers."""
    found = (spec or {}).get("containers") or ()
    return ",".join(item["name"] for item in found), ",".join(item.get("image", "") for item in found)

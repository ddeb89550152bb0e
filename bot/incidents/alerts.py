"""Alerts that come in over HTTP: Azure Monitor's common schema and Alertmanager's webhook, read. Values, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from bot.triage.reading import read_alert

AZURE_MONITOR, ALERTMANAGER = "Azure Monitor", "Alertmanager"
MOST = 200
"""Alerts in one request; Alertmanager groups by far fewer."""
_LONGEST = 12_000


class BadAlert(ValueError):
    """What came in is no alert, in words."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One of them."""

    source: str
    id: str
    """The same when it is sent again; another when it fires again."""
    title: str
    text: str
    """All that it says, as lines."""
    over: bool = False

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Alert:
        return cls(**json.loads(text))


def azure_monitor(body: Any) -> list[Alert]:
    """`azureMonitorCommonAlertSchema`: metric, log, activity log, Resource Health and Service Health alerts."""
    data = _mapping(_mapping(body, "the body").get("data"), "data")
    essentials = _mapping(data.get("essentials"), "data.essentials")
    name = str(essentials.get("alertRule") or essentials.get("alertId") or "an alert")
    over = str(essentials.get("monitorCondition") or "").lower() == "resolved"
    moment = essentials.get("resolvedDateTime") if over else essentials.get("firedDateTime")
    identity = _id(AZURE_MONITOR, essentials.get("alertId") or name, moment, over)
    description = str(essentials.get("description") or "")
    text = "\n".join(filter(None, (description, read_alert(data))))[:_LONGEST]
    return [Alert(AZURE_MONITOR, identity, name[:200], text, over)]


def alertmanager(body: Any) -> list[Alert]:
    """Alertmanager's webhook, version 4: each alert of the group by itself."""
    alerts = _mapping(body, "the body").get("alerts")
    if not isinstance(alerts, list):
        raise BadAlert("`alerts` is no list")
    common = {name: body.get(name) for name in ("commonLabels", "commonAnnotations")}
    return list(_alerts(alerts[:MOST], common))


def _alerts(alerts: list[Any], common: Mapping[str, Any]) -> Iterator[Alert]:
    for one in alerts:
        alert = _mapping(one, "an alert")
        labels = _mapping(alert.get("labels") or {}, "labels")
        notes = _mapping(alert.get("annotations") or {}, "annotations")
        over = str(alert.get("status") or "").lower() == "resolved"
        name = str(labels.get("alertname") or "an alert")
        print_ = alert.get("fingerprint") or json.dumps(labels, sort_keys=True)
        identity = _id(ALERTMANAGER, print_, alert.get("startsAt"), over)
        text = read_alert({"annotations": notes, "labels": labels, **common, "status": alert.get("status")})
        yield Alert(ALERTMANAGER, identity, str(notes.get("summary") or name)[:200], text[:_LONGEST], over)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadAlert(f"{what} is no object")
    return value


def _id(*parts: object) -> str:
    return sha256("\0".join(str(one) for one in parts).encode(errors="replace")).hexdigest()[:24]

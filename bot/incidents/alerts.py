"""Alerts that come in over HTTP: Azure Monitor's common schema and Alertmanager's webhook, read. Values, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bot.triage.reading import read_alert
from handlers.clients.redact import redact_text

AZURE_MONITOR, ALERTMANAGER = "Azure Monitor", "Alertmanager"
MOST = 2_000
"""Alerts in one request. Alertmanager sends a group in one piece, however large it is."""
_LONGEST = 12_000
_COMMON_IN_ALL = 1_200_000
"""Characters: what all alerts of a group share is written into each of them, so that each can be read by itself."""
_TITLE = 200
_MARGIN = 4_000
"""Longer than any secret: what is cut off before redaction begins behind what is kept."""


class BadAlert(ValueError):
    """What came in is no alert, in words."""


class TooMany(ValueError):
    """More alerts in one request than are taken in, in words."""

    def __init__(self, count: int) -> None:
        do = f"set `max_alerts: {MOST}` in the webhook of Alertmanager, or group_by more labels"
        super().__init__(f"{count} alerts in one request, and at most {MOST} are taken in: {do}")
        self.count = count


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
    chosen: str = ""
    """The words that somebody wrote for people to read; in an alert's envelope they drown."""


def azure_monitor(body: Any) -> list[Alert]:
    """`azureMonitorCommonAlertSchema`: metric, log, activity log, Resource Health and Service Health alerts."""
    data = _mapping(_mapping(body, "the body").get("data"), "data")
    essentials = _mapping(data.get("essentials"), "data.essentials")
    name = str(essentials.get("alertRule") or essentials.get("alertId") or "an alert")
    over = str(essentials.get("monitorCondition") or "").lower() == "resolved"
    moment = essentials.get("resolvedDateTime") if over else essentials.get("firedDateTime")
    identity = _id(AZURE_MONITOR, essentials.get("alertId") or name, moment, over)
    description = str(essentials.get("description") or "")
    text = "\n".join(filter(None, (description, read_alert(data))))
    return [_alert(AZURE_MONITOR, identity, name, text, over=over, description=description)]


def alertmanager(body: Any) -> list[Alert]:
    """Alertmanager's webhook, version 4: each alert of the group by itself."""
    alerts = _mapping(body, "the body").get("alerts")
    if not isinstance(alerts, list):
        raise BadAlert("`alerts` is no list")
    if len(alerts) > MOST:
        raise TooMany(len(alerts))
    # Read once: two hundred times half a megabyte would hold everything up for seconds.
    common = read_alert({name: body.get(name) for name in ("commonLabels", "commonAnnotations")})
    return list(_alerts(alerts, common[: min(_LONGEST, _COMMON_IN_ALL // max(len(alerts), 1))]))


def _alerts(alerts: list[Any], common: str) -> Iterator[Alert]:
    for item in alerts:
        alert = _mapping(item, "an alert")
        labels = _mapping(alert.get("labels") or {}, "labels")
        notes = _mapping(alert.get("annotations") or {}, "annotations")
        over = str(alert.get("status") or "").lower() == "resolved"
        name = str(labels.get("alertname") or "an alert")
        print_ = alert.get("fingerprint") or json.dumps(labels, sort_keys=True)
        identity = _id(ALERTMANAGER, print_, alert.get("startsAt"), over)
        own = read_alert({"annotations": notes, "labels": labels, "status": alert.get("status")})
        text = "\n".join(dict.fromkeys((*own[:_LONGEST].splitlines(), *common.splitlines())))
        title, description = str(notes.get("summary") or name), str(notes.get("description") or "")
        yield _alert(ALERTMANAGER, identity, title, text, over=over, description=description)


def _alert(source: str, identity: str, title: str, text: str, *, over: bool, description: str) -> Alert:
    """Without secrets, which people write into descriptions, and within bounds."""
    title = _redacted(title, _TITLE)
    chosen = "\n".join((title, _redacted(description, _LONGEST)))
    return Alert(source, identity, title, _redacted(text, _LONGEST), over, chosen)


def _redacted(text: str, longest: int) -> str:
    """Cut last: half a secret would no longer look like one."""
    return redact_text(text[: longest + _MARGIN])[:longest]


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadAlert(f"{what} is no object")
    return value


def _id(*parts: object) -> str:
    return sha256("\0".join(str(part) for part in parts).encode(errors="replace")).hexdigest()[:24]

"""The activity log: few filters, 90 days of history, newest first, 200 events per page."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer, Refusal
from sandbox.arm.site import Call, Site

Body = dict[str, Any]

KEPT = timedelta(days=90)
_TERM = re.compile(r"(\w+)\s+(eq|ge|le|gt|lt)\s+(?:'([^']*)'|(\S+))", re.IGNORECASE)


def list_events(site: Site, call: Call) -> Answer:
    """One page of events. A query may filter by only one of resource, group or provider."""
    since, until, keep = _parse(call.filter)
    if since < site.clock() - KEPT - timedelta(minutes=5):
        raise errors.bare(400, "BadRequest", "The start time cannot be more than 90 days in the past.")
    subscription = (call.place.subscription or "").lower()
    found = [
        event
        for event in site.world.events
        if _subscription(event) == subscription and since <= _time(event) <= until and keep(event)
    ]
    found.sort(key=_time, reverse=True)
    answer = site.page(call, [_selected(event, call.query.get("$select", "")) for event in found])
    link = answer.body.pop("nextLink", None)
    if link:
        answer.body = {"nextLink": link, "value": answer.body["value"]}
    return answer


def _subscription(event: Body) -> str:
    known = event.get("subscriptionId") or event.get("resourceId", "//").split("/")[2]
    return str(known).lower()


def _time(event: Body) -> datetime:
    return moment(event["eventTimestamp"])


def moment(text: str) -> datetime:
    """Azure writes up to seven fractional digits; Python reads six."""
    clean = re.sub(r"(\.\d{6})\d+", r"\1", text.strip().replace(" ", "+"))
    at = datetime.fromisoformat(clean)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _parse(text: str) -> tuple[datetime, datetime, Callable[[Body], bool]]:
    since: datetime | None = None
    until = datetime.max.replace(tzinfo=UTC)
    tests: list[Callable[[Body], bool]] = []
    filtered: set[str] = set()
    for part in re.split(r"\s+and\s+", text) if text else ():
        term = _TERM.fullmatch(part.strip())
        if not term:
            raise _refused(text)
        name, operator, value = term[1].lower(), term[2].lower(), term[3] if term[3] is not None else term[4]
        if name == "eventtimestamp":
            moment = _readable(value, text)
            if operator in ("ge", "gt"):
                since = moment
            elif operator in ("le", "lt"):
                until = moment
            else:
                raise _refused(text)
        elif name in filtered or operator != "eq" or (name in _NARROWED and filtered & _NARROWED.keys()):
            raise _refused(text)
        elif name in _NARROWED:
            tests.append(_narrowing(name, value.lower()))
        elif name in _PICKED:
            tests.append(_picking(name, value.lower()))
        elif name != "eventchannels":
            raise _refused(text)
        filtered.add(name)
    if since is None:
        raise errors.bare(400, "BadRequest", "The query must specify the start time in the eventTimestamp filter.")
    return since, until, lambda event: all(test(event) for test in tests)


def _readable(value: str, text: str) -> datetime:
    try:
        return moment(value)
    except ValueError as error:
        raise _refused(text) from error


def _refused(text: str) -> Refusal:
    return errors.bare(
        400,
        "BadRequest",
        f"The filter '{text}' is not supported. Supported are eventTimestamp with one of resourceGroupName, "
        "resourceUri, resourceProvider or correlationId, and beside it status, caller, levels and eventChannels.",
    )


_NARROWED: dict[str, Callable[[Body], str]] = {
    "resourcegroupname": lambda event: str(event.get("resourceGroupName", "")),
    "resourceuri": lambda event: str(event.get("resourceId", "")),
    # The Azure CLI sends resourceId.
    "resourceid": lambda event: str(event.get("resourceId", "")),
    "resourceprovider": lambda event: str((event.get("resourceProviderName") or {}).get("value", "")),
    "correlationid": lambda event: str(event.get("correlationId", "")),
}


_PICKED: dict[str, Callable[[Body], str]] = {
    "status": lambda event: str((event.get("status") or {}).get("value", "")),
    "caller": lambda event: str(event.get("caller", "")),
    "levels": lambda event: str(event.get("level", "")),
}
"""Additional filters: undocumented, but sent by the Azure CLI, PowerShell and the portal."""


def _picking(name: str, value: str) -> Callable[[Body], bool]:
    """Matches any of several comma-separated values, as the portal sends them."""
    read, wanted = _PICKED[name], {part.strip() for part in value.split(",")}
    return lambda event: read(event).lower() in wanted


def _narrowing(name: str, value: str) -> Callable[[Body], bool]:
    read = _NARROWED[name]
    return lambda event: read(event).lower() == value


def _selected(event: Body, select: str) -> Body:
    if not select:
        return event
    names = {name.strip() for name in select.split(",")} | {"id"}
    return {name: value for name, value in event.items() if name in names}

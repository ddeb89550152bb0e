"""What happened, as the recorded answers tell it: entries of Azure's activity log, and events of Kubernetes.

Read from the recording and not from evidence, which keeps only what checks ask about: support wants all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bot.render.clean import one_line
from bot.render.packet.material import Happened
from handlers.evidence.wire import dig, moment, number, rows, text

if TYPE_CHECKING:
    from handlers.clients.recording.case import Recording

ACTIVITY, EVENTS = "Activity log", "Kubernetes"
KUBE = "/kube:"
"""How the recorded paths of a cluster's API server begin."""
_ACTIVITY_PATH = "/eventtypes/management/values"
_LONGEST_SAID = 2000

Body = Mapping[str, Any]


def happened(recording: Recording) -> list[Happened]:
    """Everything in order of time, each once."""
    every = [*map(_of_azure, activity(recording)), *map(_of_kubernetes, kubernetes(recording))]
    return sorted((known for known in every if known), key=lambda known: (known.at, known.source, known.what))


def activity(recording: Recording) -> Iterator[Body]:
    """The entries of the activity logs that were read; two of them may hold the same."""
    yield from _each_once(_items(recording, "value", lambda path: path.endswith(_ACTIVITY_PATH)), "eventDataId")


def kubernetes(recording: Recording) -> Iterator[Body]:
    """The events that were read in the cluster."""
    events = _items(recording, "items", lambda path: path.startswith(KUBE) and path.endswith("/events"))
    yield from _each_once(events, "metadata", "uid")


def _items(recording: Recording, key: str, wanted: Any) -> Iterator[Body]:
    for call in recording.calls:
        if wanted(call.question.path):
            yield from rows(call.answer, key)


def _each_once(bodies: Iterator[Body], *path: str) -> Iterator[Body]:
    known: set[str] = set()
    for body in bodies:
        name = text(body, *path)
        if not name or name not in known:
            known.add(name)
            yield body


def _of_azure(body: Body) -> Happened | None:
    at = moment(text(body, "eventTimestamp"))
    if at is None:
        return None
    status = text(body, "status", "value")
    failed = status.lower() == "failed"
    says = text(body, "properties", "statusMessage") if failed else text(body, "caller")
    return Happened(
        at=at,
        source=ACTIVITY,
        what=one_line(f"{text(body, 'operationName', 'value')} {status}"),
        about=text(body, "resourceId"),
        says=one_line(says)[:_LONGEST_SAID],
        correlation=text(body, "correlationId"),
        failed=failed,
    )


def _of_kubernetes(body: Body) -> Happened | None:
    """The newer form keeps its times under `eventTime` and `series`."""
    first = moment(text(body, "firstTimestamp") or text(body, "eventTime"))
    last = moment(text(body, "lastTimestamp") or text(body, "series", "lastObservedTime"))
    at = first or last or moment(text(body, "metadata", "creationTimestamp"))
    if at is None:
        return None
    about = dig(body, "involvedObject") or dig(body, "regarding")
    parts = (text(about, "namespace"), text(about, "kind"), text(about, "name"))
    return Happened(
        at=at,
        source=EVENTS,
        what=one_line(f"{text(body, 'type')} {text(body, 'reason')}"),
        about="/".join(filter(None, parts)),
        says=one_line(text(body, "message") or text(body, "note"))[:_LONGEST_SAID],
        failed=text(body, "type") != "Normal",
        until=last if last and last > at else None,
        times=max(1, number(body, "count") or number(body, "series", "count")),
    )

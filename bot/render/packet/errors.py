"""The complete error texts of a support packet, each with its exact times and the ids by which Azure finds its logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.render.clean import clean, one_line
from bot.render.packet.fenced import fenced
from bot.render.packet.recorded import KUBE, activity
from bot.render.packet.timeline import utc
from handlers.evidence.azure import ended_badly
from handlers.evidence.wire import dig, moment, rows, text
from handlers.resource_id import within

if TYPE_CHECKING:
    from handlers.clients.recording.case import RecordedCall, Recording

MOST_ERRORS = 200
MOST_TIMES = 20
"""Of one error that came again and again."""
_MESSAGES = (("properties", "detailedStatusMessage"), ("properties", "status", "errorMessage"))
"""Where Nexus and Arc say in a sentence what is wrong."""
_ERRORS = (("properties", "status", "provisioningError"), ("properties", "error"), ("status", "provisioningError"))
_REQUEST_ID, _CORRELATION_ID = "x-ms-request-id", "x-ms-correlation-request-id"

Body = Mapping[str, Any]


@dataclass
class ErrorText:
    """One error, however often it came."""

    what: str
    about: str
    says: str
    times: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    read_at: str = ""
    """When a resource said it of itself: since when, only a log tells."""

    def note(self, at: str, *ids: str) -> None:
        self.times += [at] if at and at not in self.times else []
        self.ids += [name for name in dict.fromkeys(ids) if name and name not in self.ids]


def errors(recording: Recording) -> list[ErrorText]:
    """What failed in Azure: by the activity log, and by what the resources say of themselves."""
    known: dict[tuple[str, str, str], ErrorText] = {}
    for found in (*_logged(recording), *_told(recording)):
        first = known.setdefault((found.what, found.about.lower(), found.says), found)
        if first is not found:
            for at in found.times:
                first.note(at, *found.ids)
    return sorted(known.values(), key=lambda error: max(error.times, default=""), reverse=True)


def latest(failed: list[ErrorText], cluster: str) -> ErrorText | None:
    """The latest of the cluster or something of it; of its surroundings where it has none."""
    return next((error for error in failed if within(cluster, error.about)), next(iter(failed), None))


def refusals(recording: Recording) -> list[ErrorText]:
    """What Azure or the cluster did not show to aksbot, with their answers."""
    return [_refusal(call) for call in recording.calls if call.failed or (call.status or 200) >= 400]


def as_markdown(cluster: str, failed: list[ErrorText], refused: list[ErrorText]) -> str:
    """Nothing is cut but the number: of very many errors the latest are shown."""
    lines = [f"# Errors of {cluster}, complete", "", "All times are UTC.", ""]
    lines += _section(failed) or ["Azure reports no error of this cluster in the time that was read.", ""]
    if refused:
        lines += ["# What could not be read", "", *_section(refused)]
    return "\n".join(lines)


def _section(known: list[ErrorText]) -> list[str]:
    shown = known[:MOST_ERRORS]
    left = len(known) - len(shown)
    rest = [f"{left} more {'is' if left == 1 else 'are'} in `recording.json`.", ""] if left else []
    return [line for error in shown for line in _lines(error)] + rest


def _lines(error: ErrorText) -> Iterator[str]:
    yield f"## {one_line(error.what)}"
    yield ""
    yield f"- resource id: `{one_line(error.about)}`"
    if error.times:
        left = len(error.times) - MOST_TIMES
        more = f", and {'once' if left == 1 else f'{left} times'} more" if left > 0 else ""
        yield f"- at: {', '.join(error.times[:MOST_TIMES])}{more}"
    elif error.read_at:
        yield f"- as it was read at {error.read_at}"
    for name in error.ids[:MOST_TIMES]:
        yield f"- {name}"
    yield from ("", *fenced(error.says), "")


def _logged(recording: Recording) -> Iterator[ErrorText]:
    for body in activity(recording):
        says = readable(dig(body, "properties", "statusMessage"))
        if text(body, "status", "value").lower() != "failed" or not says:
            continue
        at = moment(text(body, "eventTimestamp"))
        error = ErrorText(text(body, "operationName", "value"), text(body, "resourceId"), says)
        ids = [f"{label}: `{text(body, key)}`" for label, key in _IDS if text(body, key)]
        error.note(utc(at) if at else "", *ids)
        yield error


_IDS = (("correlation id", "correlationId"), ("operation id", "operationId"), ("event id", "eventDataId"))


def _told(recording: Recording) -> Iterator[ErrorText]:
    for call in recording.calls:
        if call.question.path.startswith(KUBE) or call.failed or (call.status or 200) >= 400:
            continue
        for body in (call.answer, *rows(call.answer, "value")):
            if isinstance(body, Mapping) and text(body, "id"):
                yield from _of_resource(body, call)


def _of_resource(body: Body, call: RecordedCall) -> Iterator[ErrorText]:
    about, state = text(body, "id"), text(body, "properties", "provisioningState")
    found = [(".".join(path[-2:]), readable(dig(body, *path))) for path in _ERRORS]
    if ended_badly(state):
        found += [(path[-1], text(body, *path)) for path in _MESSAGES]
    found += [("instanceView", said) for said in _extensions(body)]
    for name, says in found:
        if says:
            error = ErrorText(f"{text(body, 'type') or 'resource'} {text(body, 'name')}: {name}", about, says)
            error.read_at = utc(call.taken_at) if call.taken_at else ""
            yield error


def _extensions(body: Body) -> Iterator[str]:
    """What failed on a machine: its extensions say it in their statuses."""
    for extension in rows(body, "properties", "instanceView", "extensions"):
        for status in (*rows(extension, "statuses"), *rows(extension, "substatuses")):
            if text(status, "level").lower() == "error" and text(status, "message"):
                yield text(status, "message")


def _refusal(call: RecordedCall) -> ErrorText:
    says = call.detail if call.failed else readable(call.answer)
    end = call.failed or str(call.status)
    error = ErrorText(f"{call.method} answered {end}", call.url, says or "no text")
    headers = ((name, call.headers.get(name)) for name in (_REQUEST_ID, _CORRELATION_ID))
    ids = [f"{name}: `{value}`" for name, value in headers if value]
    error.note(utc(call.taken_at) if call.taken_at else "", *ids)
    return error


def readable(value: Any) -> str:
    """An error as people read it: JSON, also JSON inside a text, over several lines."""
    if isinstance(value, str):
        inner = _parsed(value)
        return json.dumps(inner, indent=2, ensure_ascii=False) if inner is not None else clean(value)
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def _parsed(said: str) -> Any:
    if not said.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(said)
    except ValueError:
        return None  # cut in the middle, as Azure does with long ones


def correlations(failed: Iterable[ErrorText]) -> list[str]:
    """The correlation ids, the latest error's first."""
    named = (name for error in failed for name in error.ids if name.startswith("correlation id"))
    return list(dict.fromkeys(name.partition("`")[2].rstrip("`") for name in named))

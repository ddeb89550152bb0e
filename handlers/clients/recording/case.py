"""A recorded case: every question that was asked of Azure, with its redacted answer or its failure.

A recording is one mapping, as JSON in a zip, or as YAML or JSON in a file or a folder:

    {"target", "recorded_at", "version", "about"?: "path shop/web …", "questions"?: [the checks that were made],
     "late"?: [the facts there was no time left for], "calls": [
        {"method", "path", "params"?, "url"?, "body"?, "status", "headers", "answer", "taken_at"?},
        {"method", "path", "params"?, "url"?, "body"?, "failed": "timeout|unreachable|…", "detail"}]}

A replay makes the checks that were made then, so that a check or a fact that is new since changes no old case.
`url` stands for path and params where a parameter comes twice. No address holds a host: a case replays anywhere.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson

from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Garbled,
    ServerFault,
    Throttled,
    TimedOut,
    Unreachable,
)
from handlers.clients.recording.file import INSIDE, read_recording
from handlers.engine.current import Lateness
from handlers.problem import Exit, Problem

if TYPE_CHECKING:
    from handlers.clients.recording.replay import ReplayTransport

VERSION = 1
FAILURES: dict[str, type[ArmError]] = {
    "timeout": TimedOut,
    "unreachable": Unreachable,
    "garbled": Garbled,
    "throttled": Throttled,
    "denied": CredentialRefused,
    "failed": ServerFault,
}


@dataclass(frozen=True, slots=True)
class Question:
    """What makes two requests equal: ids compare in any case, parameters in any order."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    body: str = ""

    @classmethod
    def of(cls, method: str, url: str, body: Any = None) -> Question:
        parts = urlsplit(url)
        pairs = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True)))
        return cls(method.upper(), parts.path.lower().rstrip("/"), pairs, _canonical(body))


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One request with its answer (`status`, `headers`, `answer`) or its failure (`failed`, `detail`)."""

    method: str
    url: str
    body: Any = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: Any = None
    taken_at: datetime | None = None
    failed: str | None = None
    detail: str = ""

    @property
    def question(self) -> Question:
        return Question.of(self.method, self.url, self.body)

    def refuse_nonsense(self) -> None:
        """Refuse invalid values on loading, not at the first use."""
        if not self.question.method or not isinstance(self.status, int | None):
            raise ValueError(f"a call without an address or with an odd status: {self.method} {self.url}"[:200])

    def as_mapping(self) -> dict[str, Any]:
        parts = urlsplit(self.url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        entry: dict[str, Any] = {"method": self.method, "path": parts.path}
        if len(dict(pairs)) < len(pairs):
            entry["url"] = self.url
        elif pairs:
            entry["params"] = dict(pairs)
        if self.body is not None:
            entry["body"] = self.body
        if self.failed is not None:
            return {**entry, "failed": self.failed, "detail": self.detail}
        taken = {"taken_at": self.taken_at.isoformat()} if self.taken_at else {}
        return {**entry, "status": self.status, "headers": dict(self.headers), "answer": self.answer, **taken}

    @classmethod
    def from_mapping(cls, entry: Mapping[str, Any]) -> RecordedCall:
        url = entry.get("url") or _url(entry["path"], entry.get("params") or {})
        return cls(
            method=str(entry.get("method", "GET")).upper(),
            url=url,
            body=entry.get("body"),
            status=entry.get("status", None if "failed" in entry else 200),
            headers={str(name).lower(): str(value) for name, value in (entry.get("headers") or {}).items()},
            answer=entry.get("answer"),
            taken_at=_moment(entry.get("taken_at")),
            failed=entry.get("failed"),
            detail=str(entry.get("detail", "")),
        )


class Recorder:
    """Collects calls while a check runs. Its input is already redacted."""

    def __init__(self, target: str = "", questions: tuple[str, ...] = ()) -> None:
        self.target = target
        self.questions = questions
        self.about = ""
        self.lateness = Lateness()
        self._calls: dict[Question, RecordedCall] = {}
        self._recorded_at = datetime.now(UTC)

    def answered(
        self,
        method: str,
        url: str,
        body: Any,
        status: int,
        headers: Mapping[str, str],
        answer: Any,
        taken_at: datetime,
    ) -> None:
        call = RecordedCall(method, _local(url), _json(body), status, dict(headers), _local_links(answer), taken_at)
        self._calls[call.question] = call

    def failed(self, method: str, url: str, body: Any, error: ArmError) -> None:
        at_home = _local(url)
        if error.status is not None and error.status >= 300:
            call = RecordedCall(
                method, at_home, _json(body), error.status, dict(error.headers), error.answer, datetime.now(UTC)
            )
        else:
            name = next((name for name, kind in FAILURES.items() if type(error) is kind), "failed")
            call = RecordedCall(method, at_home, _json(body), failed=name, detail=error.detail)
        self._calls.setdefault(call.question, call)

    def cut_off(self, method: str, url: str, body: Any) -> None:
        """The caller stopped waiting: its deadline passed."""
        call = RecordedCall(method, _local(url), _json(body), failed="timeout", detail="no answer before the deadline")
        self._calls.setdefault(call.question, call)

    @property
    def recording(self) -> Recording:
        ordered = sorted(self._calls.values(), key=lambda call: (call.url.lower(), _canonical(call.body)))
        return Recording(
            self.target,
            self._recorded_at,
            tuple(ordered),
            questions=self.questions,
            late=tuple(sorted(self.lateness.names)),
            about=self.about,
        )

    def save(self, path: Path) -> None:
        """Write the zip."""
        self.recording.save(path)


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded case, which can be diagnosed again anywhere."""

    target: str
    recorded_at: datetime
    calls: tuple[RecordedCall, ...]
    version: int = VERSION
    questions: tuple[str, ...] = ()
    """The checks that were made, by name; empty in recordings from before these were kept: then all of them."""
    late: tuple[str, ...] = ()
    about: str = ""
    """What in particular was asked about, as it was typed."""

    @property
    def lateness(self) -> Lateness:
        return Lateness(set(self.late), replayed=True)

    def as_mapping(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "recorded_at": self.recorded_at.isoformat(),
            "version": self.version,
            **({"questions": list(self.questions)} if self.questions else {}),
            **({"late": list(self.late)} if self.late else {}),
            **({"about": self.about} if self.about else {}),
            "calls": [call.as_mapping() for call in self.calls],
        }

    def save(self, path: Path) -> None:
        """Write the zip, readable for its owner alone: it holds no secrets, but all other details of a cluster."""
        content = orjson.dumps(self.as_mapping(), option=orjson.OPT_INDENT_2)
        with _private(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(INSIDE, content)

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a zip, a folder, or a YAML or JSON file."""
        try:
            return cls.from_mapping(read_recording(Path(path)))
        except (OSError, ArithmeticError, KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
            text = next(iter(str(error).splitlines()), type(error).__name__)
            why = f"no {error} in it" if isinstance(error, KeyError) else text
            raise Problem(
                f"cannot replay {Path(path).name}",
                why,
                "give the zip that --record wrote, or a folder with recording.yaml",
                code=Exit.USAGE,
            ) from error

    @classmethod
    def from_mapping(cls, whole: Mapping[str, Any]) -> Recording:
        version = int(whole.get("version", VERSION))
        if version > VERSION:
            raise ValueError(f"it was written by a newer version (format {version}, known: {VERSION})")
        moment = _moment(whole["recorded_at"])
        if moment is None:
            raise ValueError("recorded_at is empty")
        calls = tuple(RecordedCall.from_mapping(entry) for entry in whole["calls"])
        for call in calls:
            call.refuse_nonsense()
        questions = tuple(str(name) for name in whole.get("questions") or ())
        late = tuple(str(name) for name in whole.get("late") or ())
        about = str(whole.get("about", ""))
        return cls(str(whole.get("target", "")), moment, calls, version, questions, late, about)

    def transport(self) -> ReplayTransport:
        """What an ArmReader needs to answer from this recording alone."""
        from handlers.clients.recording.replay import ReplayTransport

        return ReplayTransport(self)


def _private(path: Path) -> IO[bytes]:
    """Open a file that nobody else can read, whatever the umask and the mode of an existing file."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b")
    with contextlib.suppress(OSError):
        # An existing file keeps its mode otherwise; a device has no mode of ours.
        os.fchmod(file.fileno(), 0o600)
    return file


def _url(path: str, params: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode({name: str(value) for name, value in params.items()})}" if params else path


def _local(url: str) -> str:
    """The address without its host."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _local_links(answer: Any) -> Any:
    if not isinstance(answer, dict):
        return answer
    links = {name: _local(answer[name]) for name in ("nextLink", "@odata.nextLink") if answer.get(name)}
    return {**answer, **links}


def _json(body: Any) -> Any:
    return orjson.loads(body) if isinstance(body, (str, bytes)) and body else None


def _canonical(body: Any) -> str:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode() if body is not None else ""


def _moment(text: Any) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

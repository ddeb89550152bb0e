"""`aksbot audit verify | show | export | set-aside`: which fixes ran, who approved them, and whether the record is
intact.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path
from socket import gethostname
from typing import Any, TypeVar

from bot import settings
from bot.audit.aside import HOW_ON, account_of
from bot.audit.aside_store import AuditAside
from bot.audit.files import ExportedAudit, verify_export
from bot.audit.record import Record
from bot.audit.store import Audit
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.render.verdict import count
from bot.store.connect import Connection, beside
from handlers.problem import Exit, Problem
from handlers.resource_id import last_name

T = TypeVar("T")


def verify(file: Path | None, tip: str, *, as_json: bool) -> int:
    """Verify the hash chain. 0 if it is intact and contains `tip`."""
    looked = verify_export(file, tip) if file else _with(lambda connection: _look(connection, tip))
    if as_json:
        sys.stdout.write(json.dumps(_as_dict(looked)) + "\n")
    else:
        show_lines(list(_told(looked, file)))
    return Exit.CLEAR if looked.good else Exit.FOUND


def show(number: int) -> int:
    """The latest records, newest first."""
    latest = _with_audit(lambda audit: audit.latest(number))
    show_lines([line for record in latest for line in _lines(record)] or [Line.of(("nothing was recorded yet", ""))])
    return Exit.CLEAR


def export(since: str | None) -> int:
    """Each line is complete in itself, and `audit verify FILE` checks it. An audit that was set aside comes first."""
    since_ms = _moment_ms(since) if since else 0

    async def write(connection: Connection) -> None:
        aside = AuditAside(connection.redis)
        for number, each_aside in enumerate(await aside.all(), 1):
            if each_aside.at_ms < since_ms:
                continue
            # Print all of it or nothing: the digest covers the whole.
            async for place, fields in aside.rows(each_aside):
                _line({"set_aside": number, "id": place, "fields": fields})
        async for record in Audit(connection.redis).records(since_ms):
            _line(record.as_dict())

    _with(write)
    return Exit.CLEAR


def set_aside(reason: str, by: str) -> int:
    """Move a broken audit to another key, and begin a new one that refers to it."""
    if not reason.strip():
        what, why = "cannot set the audit aside", "no reason is given"
        raise Problem(what, why, "say in --reason what happened to it, and who has looked", code=Exit.USAGE)
    account = f"{_account()}@{gethostname()}"
    who = f"{by.strip()} ({account})" if by.strip() else account
    made = _with(lambda connection: AuditAside(connection.redis).set_aside(who, reason.strip()))
    text = f": {count(made.records, 'record')}, broken at {made.broken_at}: {made.why}"
    show_lines(
        [
            Line.of(("set aside", "title"), (text, "")),
            Line.of((f"kept under {made.key}; digest {made.digest}", "")),
            Line.of((f"a new audit has begun, and its first record says so, by {who}. Fixes are possible again.", "")),
            Line.of(("`aksbot audit export` prints both; keep that somewhere else.", "dim")),
        ]
    )
    return Exit.CLEAR


def _account() -> str:
    try:
        return getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"  # A container's user may have no name.


def _line(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values, separators=(",", ":")) + "\n")


async def _look(connection: Connection, tip: str) -> ExportedAudit:
    aside = AuditAside(connection.redis)
    standing = await aside.standing()
    return ExportedAudit(standing, await _place_of(aside, Audit(connection.redis), tip) if tip else None)


async def _place_of(aside: AuditAside, audit: Audit, tip: str) -> str:
    """The position of the record with this hash; empty if there is none."""
    async for record in audit.records():
        if record.hash == tip:
            return f"record {record.number}"
    for number, each_aside in enumerate(await aside.all(), 1):
        async for _, fields in aside.rows(each_aside):
            if fields.get("hash") == tip:
                return f"record {fields.get('number')} of what was set aside ({number})"
    return ""


def _told(looked: ExportedAudit, file: Path | None) -> Iterator[Line]:
    verdict = looked.standing.verdict
    if verdict.whole:
        note = "; whether anything was cut off at its end a file cannot tell" if file and looked.tip is None else ""
        yield Line.of(("whole", "clear"), (f": {count(verdict.records, 'record')}{note}", ""))
    else:
        yield Line.of(("BROKEN", "found"), (f" at record {verdict.broken_at}: {verdict.why}", ""))
        if file is None:
            yield Line.of((HOW_ON, ""))
    if looked.tip is not None:
        found = f"the last line of the log is {looked.tip}" if looked.tip else "no record has the hash of that line"
        yield Line.of(("in it", "clear") if looked.tip else ("BROKEN", "found"), (f": {found}", ""))
    for aside in looked.standing.aside:
        yield Line.of(("set aside", "title"), (f" {account_of(aside)}", ""))
    for aside in looked.standing.changed:
        yield Line.of(("BROKEN", "found"), (f": what was set aside is not as it was: digest {aside.digest} wanted", ""))


def _as_dict(looked: ExportedAudit) -> dict[str, Any]:
    verdict, changed = looked.standing.verdict, looked.standing.changed
    aside = [asdict(aside) | {"as_it_was": aside not in changed} for aside in looked.standing.aside]
    told = {"records": verdict.records, "whole": verdict.whole, "broken_at": verdict.broken_at, "why": verdict.why}
    return told | {"set_aside": aside} | ({"tip": looked.tip} if looked.tip is not None else {})


def _with_audit(use: Callable[[Audit], Awaitable[T]]) -> T:
    return _with(lambda connection: use(Audit(connection.redis)))


def _with(use: Callable[[Connection], Awaitable[T]]) -> T:
    async def run() -> T:
        chosen = settings.load()
        url = chosen.redis_url.get_secret_value() if chosen.redis_url else None
        async with beside(url, chosen.data_dir) as connection:
            return await use(connection)

    return asyncio.run(run())


def _moment_ms(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as wrong:
        what, why = "cannot export the audit", f"{text[:40]!r} is no day"
        raise Problem(what, why, "give a day or a moment: 2026-11-18, or 2026-11-18T03:00", code=Exit.USAGE) from wrong
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _lines(record: Record) -> list[Line]:
    at = f"{datetime.fromtimestamp(record.at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"
    try:
        entry = record.entry
    except ValueError:
        return [Line.of((f"{record.number:5} {at} ", "dim"), ("this record cannot be read", "found"))]
    who, details = entry.get("who") or {}, entry.get("details") or {}
    result = [str(details[key]) for key in ("end", "method", "path", "result", "request_id") if details.get(key)]
    cluster, target = (last_name(str(entry.get(name, ""))) for name in ("cluster", "target"))
    about = " ".join(filter(None, [cluster, str(entry.get("remedy", "")), target]))
    sentence = " · ".join(filter(None, [about, str(who.get("name", "")), *result, str(entry.get("reason", ""))]))
    head = Line.of((f"{record.number:5} {at} ", "dim"), (str(entry.get("what", "")), "title"))
    return [head, *(Line.of((text, "")) for text in wrapped(one_line(sentence), indent="      ", columns=width()))]

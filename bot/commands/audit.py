"""`aksbot audit verify | show | export`: what was repaired, by whom, on whose word; and whether the record is whole."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot import settings
from bot.audit.chain import Tip, Verdict, verify_from
from bot.audit.record import Record
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.render.verdict import count
from bot.settings import Settings
from bot.store.audit import Audit
from bot.store.connect import connected
from handlers.problem import Exit, Problem
from handlers.resource_id import last_name

T = TypeVar("T")

_FIELDS = ("number", "at_ms", "previous", "body", "hash")


def verify(file: Path | None, *, as_json: bool) -> int:
    """Walk the chain; 0 where it holds together."""
    verdict = _verify_file(file) if file else _with_audit(lambda audit: audit.verify())
    if as_json:
        whole = {"records": verdict.records, "whole": verdict.whole, "broken_at": verdict.broken_at, "why": verdict.why}
        sys.stdout.write(json.dumps(whole) + "\n")
    elif verdict.whole:
        note = "; whether anything was cut off at its end a file cannot tell" if file else ""
        show_lines([Line.of(("whole", "clear"), (f": {count(verdict.records, 'record')}{note}", ""))])
    else:
        show_lines([Line.of(("BROKEN", "found"), (f" at record {verdict.broken_at}: {verdict.why}", ""))])
    return Exit.CLEAR if verdict.whole else Exit.FOUND


def show(number: int) -> int:
    """The latest first."""
    latest = _with_audit(lambda audit: audit.latest(number))
    show_lines([line for record in latest for line in _lines(record)] or [Line.of(("nothing was recorded yet", ""))])
    return Exit.CLEAR


def export(since: str | None) -> int:
    """Each line stands by itself, and can be checked with `audit verify FILE`."""
    since_ms = _moment_ms(since) if since else 0

    async def write(audit: Audit) -> None:
        async for record in audit.records(since_ms):
            sys.stdout.write(json.dumps(record.as_dict(), separators=(",", ":")) + "\n")

    _with_audit(write)
    return Exit.CLEAR


def _with_audit(use: Callable[[Audit], Awaitable[T]]) -> T:
    async def run() -> T:
        async with _redis(settings.load()) as redis:
            return await use(Audit(redis))

    return asyncio.run(run())


@asynccontextmanager
async def _redis(chosen: Settings) -> AsyncIterator[Redis]:
    """The bot's own server while it runs; else the same files, opened for this."""
    url = chosen.redis_url.get_secret_value() if chosen.redis_url else None
    socket = chosen.data_dir.expanduser() / "valkey" / "valkey.sock"
    if url is None and socket.exists():
        async with Redis(unix_socket_path=str(socket), decode_responses=True) as redis:
            with suppress(RedisError, OSError):
                await redis.ping()
                yield redis
                return
    async with connected(url, chosen.data_dir) as connection:
        yield connection.redis


def _verify_file(file: Path) -> Verdict:
    records = list(_read(file))
    if not records:
        return Verdict(0)
    first = records[0]

    async def all_of_them() -> AsyncIterator[Record]:
        for one in records:
            yield one

    return asyncio.run(verify_from(all_of_them(), Tip(first.number - 1, first.previous)))


def _read(file: Path) -> list[Record]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as unreadable:
        why = getattr(unreadable, "strerror", None) or str(unreadable)
        raise Problem(
            f"cannot read {file}", why, "name a file that `aksbot audit export` wrote", code=Exit.USAGE
        ) from (unreadable)
    return [_record(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _record(file: Path, number: int, line: str) -> Record:
    try:
        values: dict[str, Any] = json.loads(line)
        found = [values[name] for name in _FIELDS]
        return Record(int(found[0]), int(found[1]), str(found[2]), str(found[3]), str(found[4]))
    except (ValueError, KeyError, TypeError) as wrong:
        why, do = f"line {number} is no record of the audit", "name a file that `aksbot audit export` wrote"
        raise Problem(f"cannot verify {file}", why, do, code=Exit.USAGE) from wrong


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
    said = " · ".join(filter(None, [about, str(who.get("name", "")), *result, str(entry.get("reason", ""))]))
    head = Line.of((f"{record.number:5} {at} ", "dim"), (str(entry.get("what", "")), "title"))
    return [head, *(Line.of((text, "")) for text in wrapped(one_line(said), indent="      ", columns=width()))]

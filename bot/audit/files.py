"""Verifies what `aksbot audit export` wrote, without the bot: the chain, and what was set aside before it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.audit.aside import Digest, SetAside
from bot.audit.aside_store import Standing
from bot.audit.chain import Tip, Verdict, verify_from
from bot.audit.record import Record, What
from handlers.problem import Exit, Problem

_FIELDS = ("number", "at_ms", "previous", "body", "hash")


@dataclass(frozen=True, slots=True)
class ExportedAudit:
    """`tip`: the position of the record with the given hash; empty if there is none, None if no hash was given."""

    standing: Standing
    tip: str | None = None

    @property
    def good(self) -> bool:
        return self.standing.verdict.whole and not self.standing.changed and self.tip != ""


@dataclass(slots=True)
class _Read:
    records: list[Record] = field(default_factory=list)
    digests: dict[int, Digest] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    """Of every record, and where it is."""


def verify_export(file: Path, tip: str) -> ExportedAudit:
    read = _read(file)
    aside = _set_aside(read.records)
    found = [digest.value for digest in read.digests.values()]
    # An export of the last days need not contain it; one that does must contain all of it.
    changed = [each_aside for each_aside in aside if found and each_aside.digest not in found]
    standing = Standing(_chain(read.records), tuple(aside), tuple(changed))
    return ExportedAudit(standing, read.hashes.get(tip, "") if tip else None)


def _chain(records: list[Record]) -> Verdict:
    if not records:
        return Verdict(0)
    first = records[0]

    async def all_of_them() -> AsyncIterator[Record]:
        for record in records:
            yield record

    return asyncio.run(verify_from(all_of_them(), Tip(first.number - 1, first.previous)))


def _set_aside(records: list[Record]) -> list[SetAside]:
    try:
        entry = records[0].entry if records else {}
        return [SetAside.from_dict(entry["details"])] if entry.get("what") == What.SET_ASIDE else []
    except (ValueError, KeyError, TypeError):
        return []


def _read(file: Path) -> _Read:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as unreadable:
        why = getattr(unreadable, "strerror", None) or str(unreadable)
        raise Problem(
            f"cannot read {file}", why, "name a file that `aksbot audit export` wrote", code=Exit.USAGE
        ) from (unreadable)
    read = _Read()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                _take(read, json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as wrong:
                why, do = f"line {number} is no record of the audit", "name a file that `aksbot audit export` wrote"
                raise Problem(f"cannot verify {file}", why, do, code=Exit.USAGE) from wrong
    return read


def _take(read: _Read, values: dict[str, Any]) -> None:
    if "set_aside" in values:
        group, fields = int(values["set_aside"]), values["fields"]
        read.digests.setdefault(group, Digest()).add(str(values["id"]), fields)
        read.hashes[str(fields.get("hash"))] = f"record {fields.get('number')} of what was set aside ({group})"
        return
    number, at_ms, previous, body, digest = (values[name] for name in _FIELDS)
    record = Record(int(number), int(at_ms), str(previous), str(body), str(digest))
    read.records.append(record)
    read.hashes[record.hash] = f"record {record.number}"

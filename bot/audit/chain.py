"""Whether the audit is whole: no record changed, taken out, put in, moved or cut off at the end."""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass

from bot.audit.record import GENESIS, Record, link


@dataclass(frozen=True, slots=True)
class Tip:
    """The last record, kept apart from the records: it shows when the end was cut off."""

    number: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many records hold together, and where it breaks."""

    records: int
    broken_at: int | None = None
    why: str = ""

    @property
    def whole(self) -> bool:
        return self.broken_at is None


async def verify(records: AsyncIterable[Record], tip: Tip) -> Verdict:
    """Walk from the first record to the last."""
    last, verdict = await _walk(records, Tip())
    if not verdict.whole:
        return verdict
    if last != tip:
        why = f"the last record is {last.number}, and {tip.number} were written: the end was cut off or exchanged"
        return Verdict(last.number, last.number + 1, why)
    return Verdict(last.number)


async def verify_from(records: AsyncIterable[Record], before: Tip) -> Verdict:
    """Whether a part of it holds together that follows this record. Where it should end nobody says."""
    last, verdict = await _walk(records, before)
    return Verdict(last.number - before.number, verdict.broken_at, verdict.why)


async def _walk(records: AsyncIterable[Record], last: Tip) -> tuple[Tip, Verdict]:
    async for record in records:
        if why := _break(record, last):
            return last, Verdict(last.number, last.number + 1, why)
        last = Tip(record.number, record.hash)
    return last, Verdict(last.number)


def _break(record: Record, last: Tip) -> str:
    expected = last.number + 1
    if record.number != expected:
        return f"record {expected} should come here, and {record.number} does: one was taken out, put in or moved"
    if record.previous != last.hash:
        return f"record {expected} does not follow from the one before it: one of the two was changed"
    if record.hash != link(record.number, record.at_ms, record.previous, record.body):
        return f"record {expected} was changed after it was written"
    return ""

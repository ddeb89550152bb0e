"""Whether the audit is intact: no record changed, removed, inserted, moved or cut off at the end."""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass

from bot.audit.record import GENESIS, Record, link


@dataclass(frozen=True, slots=True)
class Tip:
    """The last record, stored apart from the others: it shows when the end was cut off."""

    number: int = 0
    hash: str = GENESIS


NOTHING = Tip()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many records are intact, and where the chain breaks."""

    records: int
    broken_at: int | None = None
    why: str = ""

    @property
    def whole(self) -> bool:
        return self.broken_at is None


async def verify(records: AsyncIterable[Record], tip: Tip, witness: Tip = NOTHING) -> Verdict:
    """Verify from the first record to the last. `witness`: a record that is known from elsewhere to have existed."""
    last, verdict = await _walk(records, NOTHING, witness)
    if not verdict.whole:
        return verdict
    if last.number < witness.number:
        why = f"{witness.number} records were written, by another place's word, and {last.number} are there"
        return Verdict(last.number, last.number + 1, why)
    if last != tip:
        why = f"the last record is {last.number}, and {tip.number} were written: the end was cut off or exchanged"
        return Verdict(last.number, last.number + 1, why)
    return Verdict(last.number)


async def verify_from(records: AsyncIterable[Record], before: Tip) -> Verdict:
    """Verify the records after this one. Where they should end is not known."""
    last, verdict = await _walk(records, before)
    return Verdict(last.number - before.number, verdict.broken_at, verdict.why)


async def _walk(records: AsyncIterable[Record], last: Tip, witness: Tip = NOTHING) -> tuple[Tip, Verdict]:
    async for record in records:
        if why := _break(record, last) or _another(record, witness):
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


def _another(record: Record, witness: Tip) -> str:
    if record.number == witness.number and record.hash != witness.hash:
        return f"record {record.number} is another one than was written: all of it was made anew"
    return ""

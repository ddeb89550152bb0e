"""People who are told on paper what a fix does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.checks.offered_fix import Fix
from bot.fixes.may import Called
from bot.fixes.proposal import Proposal
from bot.queue.retry import CannotTell


@dataclass
class Paper:
    """A reporter that records its messages; if `torn`, it accepts none."""

    torn: bool = False
    lines: list[str] = field(default_factory=list)

    async def show(self, name: str) -> None:
        self._write(f"show {name}")

    async def try_to_show(self, name: str) -> None:
        if not self.torn:
            await self.show(name)

    async def escalate(self, one: Proposal, called: Called, level: int) -> None:
        self._write(f"{one.id} level {level} calls {', '.join(called.approvers)}")

    async def report_outcome(self, one: Proposal, fixes: Sequence[Fix] = ()) -> None:
        self._write(f"{one.id} {one.end}: {one.why}" + "".join(f"; offered: {fix.offer.remedy}" for fix in fixes))

    async def has_reported_outcome(self, one: Proposal) -> bool:
        return any(line.startswith(f"{one.id} ") for line in self.lines)

    def _write(self, line: str) -> None:
        if self.torn:
            raise CannotTell("the paper is torn")
        self.lines.append(line)

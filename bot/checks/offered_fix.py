"""What stands under a cause in an answer: a button for one plan, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.remedy.plan import Forbidden, Offer


@dataclass(frozen=True, slots=True)
class Fix:
    """An offer, and the proposal that its button carries. Where there is no button, `reasons` say why."""

    offer: Offer
    proposal: str = ""
    reasons: tuple[Forbidden, ...] = ()

    @property
    def has_button(self) -> bool:
        return bool(self.proposal and self.offer.plan)

    def is_about(self, code: str, subject: str) -> bool:
        return (self.offer.code, self.offer.subject.lower()) == (code, subject.lower())

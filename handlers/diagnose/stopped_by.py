"""What Azure named as the reason of a failure, and whether it still stands in the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handlers.evidence.complaints import Failure
from handlers.model import Causes, Outcome


def without_error(state: str) -> str:
    """What is said of a failure for which Azure has no error."""
    if state.lower() == "canceled":
        return "it was canceled: someone aborted the operation, or another one took its place"
    return "Azure keeps no error text for it"


@dataclass(frozen=True, slots=True)
class StoppedBy:
    """The cause that Azure named, if it named one."""

    code: str = ""
    """Its finding code; empty where nobody here knows what Azure named."""
    said: str = ""
    gone: str = ""
    """Why it does not stand in the way any more, as its own check says."""

    @classmethod
    def of(cls, failure: Failure | None, causes: Causes) -> StoppedBy:
        if failure is None or failure.error is None or not failure.named:
            return cls()
        verdict = causes.of(failure.names)
        # A check that does not apply has not looked: what Azure named may still be there.
        gone = verdict.why if verdict.outcome is Outcome.CLEAR else ""
        return cls(failure.names, str(failure.error), gone)

    @property
    def stands(self) -> bool:
        """Whether a repair would meet it again, as far as anybody knows."""
        return bool(self.said) and not self.gone

    @property
    def line(self) -> tuple[str, ...]:
        if self.gone:
            return (f"what Azure names, {self.code}, is gone: {self.gone}",)
        if self.code:
            return (f"Azure names {self.code} as the cause: no repair helps before that is out of the way",)
        return ()

    def facts(self) -> dict[str, Any]:
        said = self.said.rstrip(". ") if self.stands else ""  # the page ends the sentence
        return {"named": self.code, "stopped_by": said, "gone": bool(self.gone)}

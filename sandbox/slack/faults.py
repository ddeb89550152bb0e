"""Injected faults: what goes wrong, for which calls, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["429", "500", "503", "html", "timeout", "reset", "error"]


@dataclass
class Fault:
    """One injected fault. Without `method` and `team` it applies to every call.

    Methods are those of the Web API, and `response_url`, `upload` and `files-pri` (a download). `times` is how often
    (default: always), `skip` how many matching calls pass first. `executed` performs the call even though its response
    is lost or an error. `html` is the page of a proxy in between. An `error` is a 200 with Slack's error code
    in `error` and the details in `messages`.
    """

    kind: Kind
    method: str | None = None
    team: str | None = None
    times: int | None = None
    skip: int = 0
    retry_after_s: int = 1
    executed: bool = False
    error: str = "internal_error"
    messages: tuple[str, ...] = ()

    def takes(self, method: str, team: str) -> bool:
        """Whether the fault applies to this call; counts the match."""
        if self.method not in (None, method) or self.team not in (None, team) or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


def first(faults: list[Fault], method: str, team: str) -> Fault | None:
    return next((fault for fault in faults if fault.takes(method, team)), None)

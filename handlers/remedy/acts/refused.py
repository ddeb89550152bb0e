"""What a refused write, or a failed read, means for the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handlers.clients.errors import ArmError, CredentialRefused, Denied, NotFound, Throttled, Unreachable
from handlers.evidence.errors import innermost
from handlers.remedy.acts.act import LONGEST_PAUSE_S, Again, Stopped, Wait, backoff, failed, stale, unknown
from handlers.remedy.execution import Phase
from handlers.remedy.plan import Step
from handlers.resource_id import last_name

MOST_BAD_LOOKS = 20
"""Gateways fail now and then while all goes on; not twenty times in a row."""
_MOVED = frozenset({"etagmismatch", "preconditionfailed", "conflict"})
_BUSY = frozenset({"operationnotallowed", "anotheroperationinprogress", "operationpreempted"})


def refused(error: ArmError, step: Step, data: Mapping[str, Any]) -> Stopped | Again:
    """A write that was refused. Clean-up steps are tried again: they read before they write."""
    if step.always and not isinstance(error, Denied | CredentialRefused):
        tries = int(data.get("tries", 0)) + 1
        return Again({"tries": tries}, f"{error.detail}; it is tried again" if tries == 1 else "", backoff(tries))
    name, code = last_name(step.target), error.code.lower()
    if error.status == 412 or (error.status == 409 and code in _MOVED):
        return stale(f"{name} was changed in the moment of writing, and nothing was written: {error.detail}")
    if error.status == 409 and code in _BUSY:
        return stale(f"another operation runs on {name}, and nothing was written: {error.detail}")
    if isinstance(error, Denied):
        grant = f"; grant {error.unavailable.grant} on {step.target}" if error.unavailable.grant else ""
        by_hand = f"; do it by hand: {step.command}" if step.always else ""
        return failed(f"the writer was refused: {error.detail}{grant}{by_hand}")
    if isinstance(error, Unreachable):
        return failed(f"nothing was sent, there is no way to {name}: {error.detail}")
    if isinstance(error, Throttled):
        return failed(f"nothing was written, too much is asked of Azure right now: {error.detail}")
    return failed(f"refused, and nothing was written: {_innermost(error)}")


def read_failed(error: ArmError, phase: Phase, step: Step, data: Mapping[str, Any], *, patient: bool) -> Wait | Stopped:
    """A read that failed. `patient`: keep trying until the time limit."""
    name = last_name(step.target)
    if phase is Phase.READY and not patient:
        if isinstance(error, NotFound):
            return stale(f"{name} is not there any more: {error.detail}")
        if isinstance(error, Denied | CredentialRefused):
            return failed(f"the writer may not look at {name}: {error.detail}")
    bad = int(data.get("bad_looks", 0)) + 1
    if bad < MOST_BAD_LOOKS or patient:
        wait = backoff(bad) if error.retry_after_s is None else min(error.retry_after_s, LONGEST_PAUSE_S)
        return Wait(wait, f"could not look at {name}, looking again: {error.detail}" if bad == 1 else "", bad)
    why = f"{name} could not be looked at {bad} times in a row: {error.detail}"
    if phase is Phase.READY:
        return failed(f"{why}; nothing was sent")
    return unknown(
        f"{why}; what was sent goes on by itself",
        f"Look at {name} by hand. If it is well, nothing is left to do; if not, check again.",
    )


def _innermost(error: ArmError) -> str:
    found = innermost(error.answer)
    head = f"{error.status} " if error.status else ""
    return f"{head}{found}" if found else error.detail

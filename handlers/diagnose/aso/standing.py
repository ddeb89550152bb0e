"""What Azure Service Operator (ASO) makes of one resource now: its Ready condition, and the failures among its events.

A condition has no history, and every try begins with writing `Reconciling` over what the last one said: of a resource
that fails again and again, only the events of the last hour tell at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from handlers.evidence.aso.cluster_states import BLOCKED
from handlers.evidence.aso.resources import AsoResource, Ready
from handlers.evidence.errors import ErrorDetail, innermost
from handlers.evidence.signs import named_cause
from handlers.evidence.workloads.warnings import Warned
from runbooks.linear import compile_linear

PATIENCE = timedelta(minutes=5)
"""What is applied together comes in any order: a warning that is over within minutes is how ASO works."""
BETWEEN_TRIES = timedelta(minutes=10)
"""ASO tries again after 3 minutes at most, but for a locked scope."""
UNSAID = timedelta(minutes=15)
"""ASO writes a condition within seconds of seeing a resource."""
LAST_HOUR = timedelta(hours=1)
AGAIN_AND_AGAIN = 3
SPREAD = timedelta(minutes=20)
"""Failures of a resource that was Ready before, over so long: not one hiccup of Azure's that was tried again."""
LOOKED_AT = ("CreateOrUpdateActionError", "DeleteActionError", "DetermineCreateOrUpdateActionError")
"""The reasons of ASO's events about a try that failed."""
WAITS = frozenset({"WaitingForOwner", "SecretNotFound", "ConfigMapNotFound", "ReferenceNotFound"})

NO_ERROR = ErrorDetail("", "")

_ABOUT_IDENTITY = frozenset(
    {
        *("authorizationfailed", "linkedauthorizationfailed", "linkedaccesscheckfailed", "authenticationfailed"),
        *("invalidauthenticationtoken", "invalidauthenticationtokentenant", "expiredauthenticationtoken"),
        *("forbidden", "unauthorized", "subscriptionmismatch"),
    }
)
_NO_SIGN_IN = compile_linear(
    r"AADSTS\d{5,7}|RESPONSE 401|credential secret|failed to get credential|global credential not configured"
    r"|Credential authentication failed|does not have authorization to perform action",
    ignore_case=True,
)
_EVENT = compile_linear(
    r"^Reason: (?P<reason>\w+), Severity: (?P<severity>\w+),(?: RetryClassification: \w+,)? Cause: (?P<cause>.*)",
    dot_all=True,
)


class Stage(StrEnum):
    """What a resource needs, if it needs anything."""

    READY = "ready"
    WORKED_ON = "worked-on"
    UNSAID = "unsaid"
    WAITING = "waiting"
    BLOCKED = "blocked"
    IDENTITY = "identity"
    REFUSED = "refused"
    FLAPPING = "flapping"


@dataclass(frozen=True, slots=True)
class Standing:
    """One resource, and what ASO says of it."""

    resource: AsoResource
    stage: Stage
    severity: str = ""
    error: ErrorDetail = NO_ERROR
    """Of what Azure or ASO gave as the reason, the innermost."""
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    failures: int = 0
    """How often it failed in the last hour, by its events."""
    last: datetime | None = None

    @property
    def subject(self) -> str:
        return self.resource.subject

    @property
    def given_up(self) -> bool:
        """ASO does not try again before the resource is changed."""
        return self.severity == "Error"


def standing(resource: AsoResource, events: Sequence[Warned], now: datetime) -> Standing:
    """What ASO says of a resource now. `events`: the warnings about it."""
    failed = [one for one in events if one.reason in LOOKED_AT and now - one.last <= LAST_HOUR]
    ready = resource.ready
    if ready is None or ready.status == "Unknown":
        return _unsaid(resource, failed, now)
    if ready.status == "True":
        return _ready(resource, ready, failed, now)
    if ready.severity == "Info" or ready.generation < resource.generation:
        return _between_tries(resource, failed, now)
    return _said(resource, ready, failed, now)


def _unsaid(resource: AsoResource, failed: list[Warned], now: datetime) -> Standing:
    if failed:
        return _between_tries(resource, failed, now)
    old = resource.created is None or now - resource.created >= UNSAID
    return Standing(resource, Stage.UNSAID if old else Stage.WORKED_ON, since=resource.created)


def _ready(resource: AsoResource, ready: Ready, failed: list[Warned], now: datetime) -> Standing:
    """Failures before it was Ready for the first time are how it got there; later ones come and go."""
    young = resource.created is None or now - resource.created < LAST_HOUR
    changed = ready.generation < resource.generation
    told = _of(failed)
    first, last = min((one.first for one in failed), default=now), max((one.last for one in failed), default=now)
    flaps = _count(failed) >= AGAIN_AND_AGAIN and last - first >= SPREAD and now - last <= BETWEEN_TRIES
    stage = Stage.FLAPPING if flaps and not young and not changed else Stage.READY
    return Standing(resource, stage, *told, ready.since, _count(failed), _last(failed))


def _between_tries(resource: AsoResource, failed: list[Warned], now: datetime) -> Standing:
    """It says that it works on it, or what it said is about an older spec. Do its last tries fail all the same?"""
    lately = [one for one in failed if now - one.last <= BETWEEN_TRIES]
    if _count(lately) < AGAIN_AND_AGAIN:
        return Standing(resource, Stage.WORKED_ON, since=resource.ready.since if resource.ready else resource.created)
    severity, error, reason, message = _of(lately)
    since = min(one.first for one in lately)
    stage = _stage(reason, error) if now - since >= PATIENCE else Stage.WORKED_ON
    return Standing(resource, stage, severity, error, reason, message, since, _count(failed), _last(failed))


def _said(resource: AsoResource, ready: Ready, failed: list[Warned], now: datetime) -> Standing:
    error = _error(ready.reason, ready.message)
    since = min((one for one in (ready.since, *(one.first for one in failed)) if one), default=None)
    young = since is not None and now - since < PATIENCE and ready.severity != "Error"
    stage = Stage.WORKED_ON if young else _stage(ready.reason, error)
    told = (ready.severity, error, ready.reason, ready.message)
    return Standing(resource, stage, *told, since, _count(failed), _last(failed))


def _stage(reason: str, error: ErrorDetail) -> Stage:
    """ASO's own reasons first, then what Azure named: a policy answers 403, too, and no role changes that."""
    if reason == BLOCKED:
        return Stage.BLOCKED
    no_sign_in = _NO_SIGN_IN.search(error.message) is not None
    if reason in WAITS:
        return Stage.IDENTITY if no_sign_in else Stage.WAITING
    about_identity = error.code.lower() in _ABOUT_IDENTITY
    if not about_identity and named_cause(error.code, error.message):
        return Stage.REFUSED
    return Stage.IDENTITY if about_identity or no_sign_in else Stage.REFUSED


def _error(reason: str, message: str) -> ErrorDetail:
    return innermost({"code": reason, "message": message}) or ErrorDetail(reason, message)


def _of(failed: list[Warned]) -> tuple[str, ErrorDetail, str, str]:
    """Severity, error, reason and message of the latest failure, as the event gives them in one line."""
    latest = max(failed, key=lambda one: one.last, default=None)
    if latest is None:
        return "", NO_ERROR, "", ""
    found = _EVENT.search(latest.message)
    reason, message = (found["reason"], found["cause"]) if found else ("", latest.message)
    return found["severity"] if found else "Warning", _error(reason, message), reason, message


def _count(failed: list[Warned]) -> int:
    return sum(one.count for one in failed)


def _last(failed: list[Warned]) -> datetime | None:
    return max((one.last for one in failed), default=None)

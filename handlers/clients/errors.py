"""Everything that can go wrong between the bot and Azure, as errors that a person can read.

CannotSee                  (handlers.model)
└─ ArmError                a call that failed; `.unavailable` is its value
   ├─ Denied               403; `grant` names the missing action
   ├─ CredentialRefused    401, or no token was issued
   ├─ NotFound             404, 410
   ├─ Throttled            429; `retry_after_s` says how long to wait
   ├─ TimedOut             no answer in time
   ├─ Unreachable          no connection: network, DNS, TLS
   ├─ Garbled              an invalid answer: half a body, an HTML page, broken JSON, a redirect
   ├─ Refused              any other 4xx
   │  ├─ NotFollowed       a link of Azure's that is malformed, or leaves Azure
   │  └─ VersionNotOffered the cloud offers no api-version that we can read
   ├─ ServerFault          5xx
   ├─ NotRecorded          a replay asks something that its recording does not hold
   └─ WriteFateUnknown     a write was sent, and its answer was lost
NotARead                   a reader was asked to write: a bug in this program
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from handlers.model import CannotSee, Unavailable, Why


class NotARead(RuntimeError):
    """A reader was asked to send something that may change Azure. It was not sent."""


class ArmError(CannotSee):
    """A call that failed. `again`: the same read may succeed a moment later.

    `answer` and `headers` are what Azure returned, redacted, if it answered at all.
    """

    why: ClassVar[Why] = Why.FAILED

    def __init__(
        self,
        wanted: str,
        detail: str,
        *,
        status: int | None = None,
        code: str = "",
        grant: str | None = None,
        retry_after_s: float | None = None,
        again: bool = False,
    ) -> None:
        super().__init__(Unavailable(wanted, self.why, detail, grant))
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s
        self.again = again
        self.answer: Any = None
        self.headers: Mapping[str, str] = {}

    @property
    def detail(self) -> str:
        return self.unavailable.detail


class Denied(ArmError):
    """403."""

    why = Why.DENIED


class CredentialRefused(ArmError):
    """401, or Entra issued no token. `claims`: what the next token must carry; `stale`: a new token may help."""

    why = Why.DENIED
    claims: str | None = None
    stale: bool = False


class NotFound(ArmError):
    """404 and 410."""

    why = Why.ABSENT


class Throttled(ArmError):
    """429, or a call held back because Retry-After has not passed yet.

    `by_front_door`: Resource Manager itself throttled, so the limit covers the subscription, not one provider.
    """

    why = Why.THROTTLED
    by_front_door: bool = False


class TimedOut(ArmError):
    """No answer in time."""

    why = Why.TIMEOUT


class Unreachable(ArmError):
    """No connection: the request was never sent."""


class Garbled(ArmError):
    """An invalid answer."""


class Refused(ArmError):
    """Any other 4xx."""


class NotFollowed(Refused):
    """A link of Azure's that is malformed, or leaves Azure: nothing was sent there, and no token."""


class VersionNotOffered(Refused):
    """The cloud offers no api-version that we can read: nothing was seen, so nothing is absent."""


class ServerFault(ArmError):
    """5xx."""


class NotRecorded(ArmError):
    """A replay asks something that its recording does not hold: the check is newer than the recording."""

    why = Why.NOT_ASKED


class WriteFateUnknown(ArmError):
    """A write was sent and its answer was lost. Never sent again: read the resource and its operations instead."""

    def __init__(self, wanted: str, detail: str, *, request_id: str, status: int | None = None) -> None:
        super().__init__(wanted, detail, status=status)
        self.request_id = request_id

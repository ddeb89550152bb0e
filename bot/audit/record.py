"""What was done to a cluster, by whom, and who approved it. Each record holds the hash of the one before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from bot.redaction import IDS, redacted

GENESIS = "0" * 64
"""What the first record holds in place of a hash."""
_EXACT = IDS | {"what", "earlier", "key", "proposal", "tip"}
"""What other places are looked up or compared by."""


class What(StrEnum):
    """The events of a fix, and of the audit itself. Offers are not recorded: every check makes some."""

    REQUESTED = "requested"
    APPROVED = "approved"
    DECLINED = "declined"
    ESCALATED = "escalated"
    """Nobody had approved it for as long as the policy waits: more people were called."""
    REFUSED = "refused"
    """Somebody tried what they may not."""
    BROKE_GLASS = "broke-glass"
    STARTED = "started"
    CALLED = "called"
    CANCELLED = "cancelled"
    ENDED = "ended"
    RESTORED = "restored"
    """What a lost fix had relaxed was put back."""
    RAN_COMMAND = "ran-command"
    """A question went into a cluster through Azure's run-command."""
    SET_ASIDE = "set-aside"
    """The audit before this one was broken, and somebody has begun a new one."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it. The bot itself has no user."""

    team: str = ""
    user: str = ""
    name: str = "aksbot"


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of a record."""

    what: What
    who: Actor
    cluster: str
    proposal: str = ""
    remedy: str = ""
    target: str = ""
    digest: str = ""
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Calls with their request ids, the result: plain JSON, nothing secret."""

    def as_json(self) -> str:
        """The JSON that is sealed, redacted: people type reasons, and the audit is never changed afterwards."""
        return json.dumps(redacted(asdict(self), but=_EXACT), sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Record:
    """An entry with its position. `body` is kept as written: the hash covers exactly these characters."""

    number: int
    at_ms: int
    previous: str
    body: str
    hash: str

    @property
    def entry(self) -> dict[str, Any]:
        """Raises ValueError if the body is not a valid entry."""
        read = json.loads(self.body)
        if isinstance(read, dict):
            return read
        raise ValueError(f"record {self.number} is no entry")

    def as_dict(self) -> dict[str, Any]:
        """For the log and for export: sufficient to check the chain."""
        return {
            "number": self.number,
            "at_ms": self.at_ms,
            "previous": self.previous,
            "hash": self.hash,
            "body": self.body,
        }


def link(number: int, at_ms: int, previous: str, body: str) -> str:
    """The hash of a record."""
    return sha256(f"{number}\n{at_ms}\n{previous}\n{body}".encode()).hexdigest()


def seal(number: int, at_ms: int, previous: str, body: str) -> Record:
    return Record(number, at_ms, previous, body, link(number, at_ms, previous, body))

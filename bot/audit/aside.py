"""A broken audit that was set aside so that a new one could begin: kept unchanged, named by its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from bot.render.verdict import count

HOW_ON = (
    "fixes are refused until someone has looked. Keep it (`aksbot audit export`), find out who changed it, compare it "
    'with aksbot\'s log; then `aksbot audit set-aside --reason "…"` begins a new one that says so'
)


@dataclass(frozen=True, slots=True)
class SetAside:
    """The record of it, repeated in the first record of the new audit."""

    key: str
    digest: str
    """Over every record as it was found: see `Digest`."""
    records: int
    broken_at: int
    why: str
    reason: str
    by: str
    at_ms: int
    tip: str = ""
    """The hash that its last record was said to have."""

    def as_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SetAside:
        """Ignores unknown keys."""
        return cls(**{field.name: data[field.name] for field in fields(cls)})


def account_of(aside: SetAside) -> str:
    """Who set it aside, and why: shown wherever the state of the audit is shown."""
    at = f"{datetime.fromtimestamp(aside.at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    return (
        f"on {at} by {aside.by}: {aside.reason} ({count(aside.records, 'record')}, {aside.why}; digest {aside.digest})"
    )


class Digest:
    """The digest of records that may be broken: every position and field counts, nothing is interpreted."""

    def __init__(self) -> None:
        self._hash, self.records = sha256(), 0

    def add(self, place: str, stored: Mapping[str, str]) -> None:
        line = json.dumps({"id": place, "fields": dict(stored)}, sort_keys=True, separators=(",", ":"))
        self._hash.update(f"{line}\n".encode(errors="surrogatepass"))
        self.records += 1

    @property
    def value(self) -> str:
        return self._hash.hexdigest()

"""The result of a drill. The keys are a contract (`aksbot drill --output json`): add to them, never change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One finding on one cluster, expected or found. Subjects compare in any case."""

    cluster: str
    code: str
    subject: str
    root: bool

    @property
    def key(self) -> tuple[str, str, str, bool]:
        return self.cluster, self.code, self.subject.lower(), self.root

    def as_dict(self) -> dict[str, Any]:
        return {"cluster": self.cluster, "code": self.code, "subject": self.subject, "root": self.root}

    def __str__(self) -> str:
        return f"{self.code} on {self.subject}{' as a root' if self.root else ''}"


@dataclass(frozen=True, slots=True)
class Played:
    """One scenario and how it went."""

    scenario: str
    expected: tuple[Item, ...]
    found: tuple[Item, ...]
    took_ms: float
    why: tuple[str, ...] = ()
    """What was not as expected; empty when all was well."""

    @property
    def ok(self) -> bool:
        return not self.why

    def as_dict(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "ok": self.ok,
            "expected": [item.as_dict() for item in sorted(self.expected)],
            "found": [item.as_dict() for item in sorted(self.found)],
            "took_ms": round(self.took_ms, 1),
            "why": "; ".join(self.why),
        }


def differences(expected: tuple[Item, ...], found: tuple[Item, ...]) -> list[str]:
    """What is missing and what was not expected, as sentences."""
    wanted, there = {item.key for item in expected}, {item.key for item in found}
    missing = [f"not found: {item}" for item in sorted(expected) if item.key not in there]
    return missing + [f"found, but not expected: {item}" for item in sorted(found) if item.key not in wanted]

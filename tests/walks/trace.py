"""What of our code runs between two moments: modules, functions, and how often something is parsed again."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
OURS = tuple(f"{ROOT}/{name}/" for name in ("bot", "handlers", "runbooks"))
WIDE = ("handlers.diagnose", "handlers.evidence", "handlers.remedy")
"""One file a question, a fact or a fix: a check passes all of them, however many there are."""
DRIVERS = ("bot.drill", "bot.playground")
"""They stand for the people; they are not on the way."""
ROOMS_BELOW = ("bot.slack", "handlers.clients")
"""Whose sub-packages are rooms of their own."""

PARSED: Mapping[str, tuple[str, str]] = {
    "cluster as typed": ("handlers.fleet.cluster_text", "read_cluster"),
    "resource id": ("handlers.resource_id", "ResourceId.parse"),
    "job": ("bot.queue.job", "Kind.read"),
    "proposal": ("bot.fixes.store.proposals", "_read"),
    "plan": ("handlers.remedy.plan", "_decoded"),
}


@dataclass
class Trace:
    """What was passed while it listened."""

    calls: Counter[CodeType] = field(default_factory=Counter)
    listening: bool = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Every thread that begins in here is heard, so a pool that is made before the walk is, too."""
        threading.setprofile(self._heard)
        sys.setprofile(self._heard)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def walk(self) -> Iterator[None]:
        self.listening = True
        try:
            yield
        finally:
            self.listening = False

    @property
    def functions(self) -> set[CodeType]:
        """Without comprehensions and lambdas, which belong to the function that they stand in."""
        return set(self.calls)

    @property
    def modules(self) -> set[str]:
        return {module_of(code) for code in self.functions}

    @property
    def narrow(self) -> set[str]:
        """Without the folders that have a file for each question."""
        return {name for name in self.modules if not name.startswith((*WIDE, *DRIVERS))}

    @property
    def rooms(self) -> set[str]:
        return {room_of(name) for name in self.modules}

    def parsed(self) -> dict[str, int]:
        """How often each thing was parsed."""
        return {
            what: sum(number for code, number in self.calls.items() if (module_of(code), code.co_qualname) == where)
            for what, where in PARSED.items()
        }

    def _heard(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            self.listening
            and event == "call"
            and code.co_filename.startswith(OURS)
            and not code.co_name.startswith("<")
        ):
            self.calls[code] += 1


def module_of(code: CodeType) -> str:
    return ".".join(Path(code.co_filename).relative_to(ROOT).with_suffix("").parts)


def room_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[: 3 if module.startswith(ROOMS_BELOW) and len(parts) > 3 else 2])

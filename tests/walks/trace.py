"""Records which of our modules and functions run, and how often things are parsed again."""

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
"""Folders with one file per diagnostic, fact or fix: a check runs through all of them."""
DRIVERS = ("bot.drill", "bot.playground")
"""Modules that simulate users, and are not part of the traced path."""
ROOMS_BELOW = ("bot.slack", "handlers.clients")
"""Packages whose sub-packages are counted separately."""

PARSED: Mapping[str, tuple[str, str]] = {
    "cluster as typed": ("handlers.fleet.cluster_text", "read_cluster"),
    "resource id": ("handlers.resource_id", "ResourceId.parse"),
    "job": ("bot.queue.job", "Kind.read"),
    "proposal": ("bot.fixes.store.proposals", "_read"),
    "plan": ("handlers.remedy.plan", "_decoded"),
}


@dataclass
class Trace:
    """The code that ran while tracing was on."""

    calls: Counter[CodeType] = field(default_factory=Counter)
    listening: bool = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Trace every thread started inside this context, including those of thread pools created before the walk."""
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
        """Functions, without comprehensions and lambdas, which count as part of the enclosing function."""
        return set(self.calls)

    @property
    def modules(self) -> set[str]:
        return {module_of(code) for code in self.functions}

    @property
    def narrow(self) -> set[str]:
        """Modules, without the folders that have one file per diagnostic, fact or fix."""
        return {name for name in self.modules if not name.startswith((*WIDE, *DRIVERS))}

    @property
    def rooms(self) -> set[str]:
        return {room_of(name) for name in self.modules}

    def parsed(self) -> dict[str, int]:
        """How often each input was parsed."""
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

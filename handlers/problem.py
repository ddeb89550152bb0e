"""A message to a person has three parts: what could not be done, why, and what to do."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line (sysexits where it has a word for it)."""

    CLEAR = 0
    FOUND = 1
    INCONCLUSIVE = 2
    USAGE = 64
    UNAVAILABLE = 69


class Problem(Exception):
    """Stops a command before it has an answer."""

    def __init__(self, what: str, why: str, do: str, *, code: Exit = Exit.UNAVAILABLE) -> None:
        super().__init__(f"{what}: {why}. {do}")
        self.what, self.why, self.do, self.code = what, why, do, code

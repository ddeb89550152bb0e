"""Azure's errors can fill a page: shortened where they prove something, quoted in full once."""

from __future__ import annotations

from runbooks.linear import compile_linear

SHORT = 240
"""About six lines on a phone."""
_TELLING = 40
"""Shorter lines are alike by chance."""
_INTRODUCED = compile_linear(r"(Azure said|error): ")
_SENTENCE = compile_linear(r"[.!?] [A-Z]")


def brief(line: str) -> str:
    """The first sentences, as many as fit; never part of a word or an id."""
    if len(line) <= SHORT:
        return line
    ends = [end.start() + 1 for end in _SENTENCE.finditer(line[:SHORT]) if end.start() >= _TELLING]
    if ends:
        return f"{line[: ends[-1]]} …"
    space = line.rfind(" ", 0, SHORT - 1)
    return f"{line[: space if space >= _TELLING else SHORT - 2]} …"


class QuotedErrors:
    """The errors that a thread contains already, so that each is quoted in full once only."""

    def __init__(self) -> None:
        self._errors: list[str] = []

    def note(self, line: str) -> None:
        error = _error(line)
        if len(error) >= _TELLING:
            self._errors.append(error)

    def knows(self, line: str) -> bool:
        error = _error(line)
        return len(error) >= _TELLING and any(error in earlier or earlier in error for earlier in self._errors)


def _error(line: str) -> str:
    introduced = _INTRODUCED.match(line)
    return line[introduced.end() :] if introduced else line

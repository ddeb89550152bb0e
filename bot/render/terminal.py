"""Prints lines in colour if the terminal wants it, and live progress; copyable text is never wrapped."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import NoReturn, TextIO

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from rich.theme import Theme

from bot.render.line import Line
from bot.report.events import Event, Report, Started
from handlers.engine.run import Collected, DiagnosticEnded
from handlers.model import Severity

_STYLES = {
    "title": "bold",
    "heading": "bold",
    "found": "bold red",
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold",
    "clear": "bold green",
    "part": "bold",
    "right": "green",
    "inconclusive": "bold yellow",
    "unsure": "yellow",
    "code": "bold",
    "command": "cyan",
    "dim": "dim",
}


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """rich would exit with 1, which means "found" here."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """A console for one stream, without markup, highlighting or emoji: the text is not ours."""
    return _Console(
        file=stream,
        theme=Theme(_STYLES),
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
        legacy_windows=False,
    )


def show_lines(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print lines unwrapped: the terminal wraps what is too wide, so it can be copied in one piece."""
    out = console(stream or sys.stdout)
    for line in lines:
        out.print(Text.assemble(*((text, style) for text, style in line.pieces)), soft_wrap=True)


class Progress:
    """One line on stderr with the progress of a running check. Prints nothing if stderr is not a terminal."""

    def __init__(self, cluster: str, stream: TextIO | None = None) -> None:
        self._console = console(stream or sys.stderr)
        self._cluster = Line.of((cluster, "")).text[:60]
        self._evidence = self._questions = (0, 0)
        self._found: list[str] = []
        self._spinner = Spinner("dots", text=self._text())
        self._stack = ExitStack()

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            live = Live(self._spinner, console=self._console, transient=True, refresh_per_second=8)
            self._stack.enter_context(live)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def show(self, event: Event) -> None:
        if isinstance(event, Started):
            self._evidence, self._questions = (0, event.evidence), (0, event.questions)
        elif isinstance(event, Collected):
            self._evidence = (self._evidence[0] + 1, self._evidence[1])
        elif isinstance(event, DiagnosticEnded):
            self._questions = (self._questions[0] + 1, self._questions[1])
            loud = [finding.code for finding in event.check.findings if finding.severity is not Severity.INFO]
            self._found += [code for code in loud if code not in self._found]
        elif isinstance(event, Report):
            return
        self._spinner.update(text=self._text())

    def _text(self) -> Text:
        if not self._questions[1]:
            return Text(f"{self._cluster}: looking for it", no_wrap=True, overflow="ellipsis")
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f"{self._cluster}: evidence {self._evidence[0]}/{self._evidence[1]}, ")
        text.append(f"checks {self._questions[0]}/{self._questions[1]}")
        if self._found:
            text.append(f" · found {', '.join(self._found)}", style="error")
        return text

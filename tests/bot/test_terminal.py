"""Color only in terminals that support it; progress on stderr, only in interactive use."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from contextlib import suppress

import pytest

from bot.render.clean import clean, width, wrapped
from bot.render.line import Line
from bot.render.markdown import paragraphs
from bot.render.terminal import Progress, show_lines
from bot.report.events import Report, Started
from handlers.engine.run import DiagnosticEnded
from tests.bot import diagnoses

COMMAND = "az resource update --ids " + "/a" * 100


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[io.TextIOWrapper, int]]:
    """A terminal of 60 columns: what is written to it, and where it can be read."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    theirs, ours = pty.openpty()
    with os.fdopen(ours, "w") as stream:
        yield stream, theirs
    os.close(theirs)


def seen(stream: io.TextIOWrapper, theirs: int) -> str:
    """All that was written; a terminal says with an error that nothing more will come."""
    stream.close()
    text = b""
    with suppress(OSError):
        while piece := os.read(theirs, 65536):
            text += piece
    return text.decode()


def test_a_terminal_gets_colour_and_whole_commands(terminal: tuple[io.TextIOWrapper, int]) -> None:
    show_lines([Line.of((COMMAND, "command"))], terminal[0])
    text = seen(*terminal)
    assert "\x1b[36m" in text
    assert COMMAND in text


def test_no_color_is_respected(terminal: tuple[io.TextIOWrapper, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    show_lines([Line.of(("FOUND", "found"), (" [red]x[/red] :smile:", ""))], terminal[0])
    text = seen(*terminal)
    assert "\x1b[31" not in text
    assert "FOUND" in text
    assert " [red]x[/red] :smile:" in text


def test_a_file_gets_plain_text() -> None:
    out = io.StringIO()
    show_lines([Line.of((COMMAND, "command"), (" [b]x[/b]", "found"))], out)
    assert out.getvalue() == f"{COMMAND} [b]x[/b]\n"


def test_progress_is_drawn_for_whoever_watches(terminal: tuple[io.TextIOWrapper, int]) -> None:
    diagnosis = diagnoses.found()
    with Progress("prod\x1b[2J-weu", terminal[0]) as progress:
        progress.show(Started(diagnosis.target, 7, len(diagnosis.checks)))
        for check in diagnosis.checks:
            progress.show(DiagnosticEnded(check))
        progress.show(Report(diagnosis, 1.0, 1))
    text = seen(*terminal)
    assert "prod-weu: evidence 0/7, checks 6/6" in text
    assert "found cluster-failed" in text
    assert "\x1b[2J" not in text


def test_progress_is_silent_where_nobody_watches() -> None:
    err = io.StringIO()
    with Progress("prod-weu", err) as progress:
        progress.show(Started(diagnoses.TARGET, 1, 1))
    assert err.getvalue() == ""


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x9b2Jb\x90x\x9cc", "abc"),
        ("a\x1bPunfinished", "a"),
        ("a\rb\x08c\x7f\x00", "abc"),
        ("ad\u202egnp.exe\u2066\u200b", "adgnp.exe"),
        ("one\r\ntwo\tthree", "one\ntwo three"),
        ("naïve × – 日本", "naïve × – 日本"),
    ],
)
def test_text_from_elsewhere_is_made_harmless(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_long_words_are_never_broken() -> None:
    assert wrapped("see " + "x" * 90, columns=60) == ["see", "x" * 90]


@pytest.mark.parametrize(("columns", "used"), [("30", 40), ("60", 60), ("300", 100)])
def test_the_width_stays_within_reason(monkeypatch: pytest.MonkeyPatch, columns: str, used: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == used


def test_markdown_becomes_lines_that_fit() -> None:
    text = """\
### Now
Some **bold** words, a [link](https://a.b) and `code`, which go on for long enough to be wrapped.
1. first
   goes on

   ```sh
   az x \\
     --y
   ```
- second


last
"""
    assert [line.text for line in paragraphs(text, 40)] == [
        "Now",
        "Some bold words, a link (https://a.b)",
        "and `code`, which go on for long enough",
        "to be wrapped.",
        "1. first goes on",
        "",
        "  az x \\",
        "    --y",
        "",
        "• second",
        "",
        "last",
    ]

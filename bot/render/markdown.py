"""Renders the Markdown of runbooks for a terminal: paragraphs and lists are wrapped, code never is."""

from __future__ import annotations

from collections.abc import Iterator

from bot.render.clean import clean, wrapped
from bot.render.commands import for_people
from bot.render.line import Line
from runbooks.linear import compile_linear

_FENCE = compile_linear(r"(\s*)(`{3,}|~{3,})")
_ITEM = compile_linear(r"(\s*)([-*]|\d+[.)])\s+(.*)")
_HEADING = compile_linear(r"#{1,6}\s+(.*)")
_LINK = compile_linear(r"\[([^\]]+)\]\(([^)\s]+)\)")
_STRONG = compile_linear(r"\*\*(.+?)\*\*")


def paragraphs(markdown: str, columns: int, *, indent: str = "") -> list[Line]:
    """Lines that fit the width; code blocks are indented and otherwise unchanged."""
    lines: list[Line] = []
    for line in _Blocks(columns, indent).lines(for_people(clean(markdown))):
        if line.pieces or (lines and lines[-1].pieces):
            lines.append(line)
    return lines if not lines or lines[-1].pieces else lines[:-1]


class _Blocks:
    """Walks through the text and collects the current paragraph."""

    def __init__(self, columns: int, indent: str) -> None:
        self.columns, self.indent = columns, indent
        self.words, self.lead, self.hang = "", "", ""

    def lines(self, text: str) -> Iterator[Line]:
        fence, margin = "", ""
        for line in text.strip("\n").split("\n"):
            mark = _FENCE.match(line)
            if mark and (not fence or mark[2].startswith(fence)):
                yield from self._flush()
                yield Line()
                fence, margin = ("", "") if fence else (mark[2], mark[1])
            elif fence:
                yield from self._code(line.removeprefix(margin))
            else:
                yield from self._prose(line)
        yield from self._flush()

    def _code(self, line: str) -> Iterator[Line]:
        """An empty line follows a command that the terminal will wrap, so that its end can be seen."""
        text = f"{self.indent}{self.hang}  {line}"
        yield Line.of((text, "command"))
        if len(text) > self.columns and not line.endswith("\\"):
            yield Line()

    def _prose(self, line: str) -> Iterator[Line]:
        item, heading = _ITEM.fullmatch(line), _HEADING.fullmatch(line)
        if not line.strip():
            yield from self._flush()
            self.hang = ""
            yield Line()
        elif item:
            yield from self._flush()
            mark = "•" if item[2] in "-*" else item[2]
            self.lead, self.words = f"{item[1]}{mark} ", item[3]
            self.hang = " " * len(self.lead)
        elif heading:
            yield from self._flush()
            yield Line.of((self.indent + heading[1], "heading"))
        else:
            if not self.words and not line.startswith(" "):
                self.hang = ""
            self.words += f" {line.strip()}"

    def _flush(self) -> Iterator[Line]:
        text = _STRONG.sub(r"\1", _LINK.sub(r"\1 (\2)", self.words.strip()))
        lead = self.lead or self.hang
        if text:
            for line in wrapped(text, indent=self.indent + lead, hang=self.indent + self.hang, columns=self.columns):
                yield Line.of((line, ""))
        self.words, self.lead = "", ""

"""Rich text blocks: Slack shows their text literally, so text from elsewhere can do nothing in them.

`markdown` converts a runbook's Markdown. Only links in the runbook's own source become links: a fact that was filled
in cannot add one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.render.clean import clean, one_line
from bot.render.commands import for_people
from bot.slack.kit.escaping import CUT, cut, escape
from bot.slack.kit.limits import RICH_TEXT, URL
from runbooks.linear import compile_linear

Element = dict[str, Any]

_FENCE = compile_linear(r"\s*(`{3,}|~{3,})")
_ITEM = compile_linear(r"(\s*)([-*]|\d+[.)])\s+(.*)")
_HEADING = compile_linear(r"#{1,6}\s+(.*)")
_LINK = compile_linear(r"\[([^\]]+)\]\((https://[^)\s]+)\)")
_INLINE = compile_linear(r"(`[^`]+`|\*\*.+?\*\*|\[[^\]]+\]\([^)\s]+\))")


def text(words: str, *, bold: bool = False, as_code: bool = False, dim: bool = False) -> Element:
    """A run of text. Slack refuses an empty one."""
    element: Element = {"type": "text", "text": words or " "}
    style = {name: True for name, on in (("bold", bold), ("code", as_code), ("italic", dim)) if on}
    return element | {"style": style} if style else element


def entity_of(element: Element) -> str | None:
    """A user, channel, date or link of mrkdwn as an element; None if it is none of these."""
    match element.get("type"):
        case "user":
            return f"<@{element['user_id']}>"
        case "usergroup":
            return f"<!subteam^{element['usergroup_id']}>"
        case "channel":
            return f"<#{element['channel_id']}>"
        case "date":
            return f"<!date^{element['timestamp']}^{element['format']}|{escape(str(element.get('fallback', '')))}>"
        case "link":
            label = escape(str(element.get("text") or "")).replace("|", "¦")
            return f"<{element['url']}|{label}>" if label else f"<{element['url']}>"
    return None


def section(*elements: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def bullets(items: list[list[Element]], *, first: int | None = None, indent: int = 0) -> Element:
    """A list; with `first`, a numbered one that starts there: commands may stand between its steps."""
    elements = [section(*runs) for runs in items]
    made: Element = {"type": "rich_text_list", "style": "bullet", "indent": min(indent, 8), "elements": elements}
    if first is None:
        return made
    return made | {"style": "ordered"} | ({"offset": first - 1} if first > 1 else {})


def preformatted(words: str) -> Element:
    return {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": words or " "}]}


def quote(words: str) -> Element:
    return {"type": "rich_text_quote", "elements": [text(words)]}


def blocks(elements: list[Element]) -> list[Element]:
    """As many rich text blocks as needed; each within the size limit."""
    made: list[list[Element]] = []
    room = 0
    for element in (piece for whole in elements for piece in _pieces(whole)):
        length = size(element)
        if not made or length > room:
            made.append([])
            room = RICH_TEXT
        made[-1].append(element)
        room -= length
    return [{"type": "rich_text", "elements": page} for page in made]


def size(element: Any) -> int:
    """The number of characters that a reader sees."""
    if isinstance(element, dict):
        own = element.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(
            size(value) for value in element.values() if isinstance(value, dict | list)
        )
    return sum(size(part) for part in element) if isinstance(element, list) else 0


def _pieces(element: Element) -> Iterator[Element]:
    """Split an element that is too large: a list by its items; anything else is cut and marked."""
    if size(element) <= RICH_TEXT:
        yield element
    elif element["type"] == "rich_text_list":
        for number, item in enumerate(element["elements"]):
            # A list continued in the next block continues its numbers.
            offset = element.get("offset", 0) + number
            counted = {"offset": offset} if element["style"] == "ordered" and offset else {}
            yield element | counted | {"elements": [_cut(item)]}
    else:
        yield _cut(element)


def _cut(element: Element) -> Element:
    room = RICH_TEXT
    kept = []
    for part in element["elements"]:
        words = part["text"] if len(part["text"]) <= room else cut(part["text"], max(room, len(CUT)))
        kept.append(part | {"text": words})
        room -= len(words)
        if room <= len(CUT):
            break
    return element | {"elements": kept}


def lines(texts: list[str], longest: int) -> list[list[Element]]:
    """Text from elsewhere, line by line."""
    return [[text(cut(one_line(line), longest))] for line in texts]


def markdown(filled: str, source: str) -> list[Element]:
    """The elements of a runbook's section. `source` is the section before the facts were filled in."""
    links = frozenset((link[1], link[2]) for link in _LINK.finditer(source))
    return list(_Markdown(links).elements(for_people(clean(filled))))


class _Markdown:
    """Walks through the lines and collects the current paragraph, list or code block."""

    def __init__(self, links: frozenset[tuple[str, str]]) -> None:
        self._links = links
        self._items: list[str] = []
        self._first: int | None = None
        self._indent = 0
        self._words: list[str] = []

    def elements(self, markdown: str) -> Iterator[Element]:
        fence = ""
        stored: list[str] = []
        for line in markdown.strip("\n").split("\n"):
            mark = _FENCE.match(line)
            if fence:
                if mark and mark[1].startswith(fence):
                    yield preformatted("\n".join(stored).strip("\n"))
                    fence, stored = "", []
                else:
                    stored.append(line.removeprefix("   "))
            elif mark:
                yield from self._flush()
                fence = mark[1]
            else:
                yield from self._prose(line)
        if stored:
            yield preformatted("\n".join(stored).strip("\n"))
        yield from self._flush()

    def _prose(self, line: str) -> Iterator[Element]:
        item, heading = _ITEM.fullmatch(line), _HEADING.fullmatch(line)
        if heading:
            yield from self._flush()
            yield section(text(heading[1], bold=True), text("\n"))
        elif item:
            number, indent = None if item[2] in "-*" else int(item[2][:-1]), len(item[1]) // 2
            if self._words or (number is None) != (self._first is None) or indent != self._indent:
                yield from self._flush()
            if not self._items:
                self._first, self._indent = number, indent
            self._items.append(item[3])
        elif not line.strip():
            yield from self._flush()
        elif self._items:
            self._items[-1] += f" {line.strip()}"
        else:
            self._words.append(line.strip())

    def _flush(self) -> Iterator[Element]:
        if self._items:
            yield bullets([self._inline(item) for item in self._items], first=self._first, indent=self._indent)
        if self._words:
            yield section(*self._inline(" ".join(self._words)), text("\n"))
        self._items, self._words = [], []

    def _inline(self, words: str) -> list[Element]:
        return [self._run(piece) for piece in _INLINE.split(words) if piece] or [text(" ")]

    def _run(self, piece: str) -> Element:
        if piece.startswith("`") and piece.endswith("`") and len(piece) > 2:
            return text(piece[1:-1], as_code=True)
        if piece.startswith("**") and piece.endswith("**") and len(piece) > 4:
            return text(piece[2:-2], bold=True)
        link = _LINK.fullmatch(piece)
        if link and (link[1], link[2]) in self._links and len(link[2]) <= URL:
            return {"type": "link", "url": link[2], "text": link[1]}
        return text(piece)

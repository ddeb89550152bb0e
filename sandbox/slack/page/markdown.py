"""Renders the Markdown of a markdown block as HTML: headings, lists, tables, quotes, code, inline formatting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from markupsafe import Markup, escape

from sandbox.slack.page.mrkdwn import emoji, link

_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\[(?P<label>[^\]\n]+)\]\((?P<url>[^()\s]+)\)"
    r"|\*\*(?P<bold>[^\s*](?:[^\n]*?[^\s*])?)\*\*"
    r"|(?<![\w*])\*(?P<italic>[^\s*](?:[^*\n]*[^\s*])?)\*(?!\w)"
    r"|(?<!\w)_(?P<slanted>[^\s_](?:[^\n]*?[^\s_])?)_(?!\w)"
    r"|~~(?P<strike>[^~\n]+)~~"
    r"|:(?P<emoji>[a-z0-9_+-]+):"
)
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d+)\.)\s+(.*)")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*$")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")


def markdown(text: str) -> Markup:
    lines = text.split("\n")
    return Markup().join(_blocks(lines))


def _blocks(lines: list[str]) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        taken, html = _block(lines[at:])
        at += taken
        yield html


def _block(lines: list[str]) -> tuple[int, Markup]:
    """The block that starts at this line, and its number of lines."""
    first = lines[0]
    if not first.strip():
        return 1, Markup()
    if first.lstrip().startswith("```"):
        return _fence(lines)
    if heading := _HEADING.match(first):
        return 1, Markup("<h4>{}</h4>").format(inline(heading[2]))
    if _RULE.match(first):
        return 1, Markup("<hr>")
    if first.startswith(">"):
        quoted = list(takewhile(lambda line: line.startswith(">"), lines))
        shown = markdown("\n".join(line[1:].removeprefix(" ") for line in quoted))
        return len(quoted), Markup("<blockquote>{}</blockquote>").format(shown)
    if len(lines) > 1 and "|" in first and _TABLE_RULE.match(lines[1]):
        return _table(lines)
    if _ITEM.match(first):
        return _list(lines)
    return _paragraph(lines)


def _fence(lines: list[str]) -> tuple[int, Markup]:
    inside = list(takewhile(lambda line: not line.strip().startswith("```"), lines[1:]))
    closed = len(inside) + 1 < len(lines)
    return len(inside) + 1 + closed, Markup("<pre>{}</pre>").format("\n".join(inside))


def _table(lines: list[str]) -> tuple[int, Markup]:
    rows = list(takewhile(lambda line: "|" in line, lines))
    cells = [[inline(part.strip()) for part in row.strip().strip("|").split("|")] for row in (rows[0], *rows[2:])]
    head = Markup().join(Markup("<th>{}</th>").format(cell) for cell in cells[0])
    body = Markup().join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in cells[1:]
    )
    table = Markup('<div class="table"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>')
    return len(rows), table.format(head, body)


def _list(lines: list[str]) -> tuple[int, Markup]:
    items = [match for match in (_ITEM.match(line) for line in takewhile(_ITEM.match, lines)) if match]
    shown = Markup().join(
        Markup('<li class="indent-{}">{}</li>').format(min(len(item[1]) // 2, 4), inline(item[3])) for item in items
    )
    if items[0][2]:
        return len(items), Markup('<ol start="{}">{}</ol>').format(items[0][2], shown)
    return len(items), Markup("<ul>{}</ul>").format(shown)


def _paragraph(lines: list[str]) -> tuple[int, Markup]:
    taken = [lines[0], *takewhile(_continues, lines[1:])]
    return len(taken), Markup("<p>{}</p>").format(Markup("<br>").join(inline(line) for line in taken))


def _continues(line: str) -> bool:
    """Whether a line continues the paragraph above it."""
    begins = line.lstrip().startswith("```") or line.startswith(">") or _HEADING.match(line) or _ITEM.match(line)
    return bool(line.strip()) and not begins and not _RULE.match(line)


def inline(text: str) -> Markup:
    done, end = [], 0
    for match in _INLINE.finditer(text):
        done += [escape(text[end : match.start()]), _marked(match)]
        end = match.end()
    return Markup().join([*done, escape(text[end:])])


def _marked(match: re.Match[str]) -> Markup:
    if match["code"]:
        return Markup("<code>{}</code>").format(match["code"])
    if match["url"]:
        return link(match["url"], match["label"])
    if match["emoji"]:
        return emoji(match["emoji"])
    for kind, tag in (("bold", "b"), ("italic", "i"), ("slanted", "i"), ("strike", "s")):
        if match[kind]:
            return Markup("<{0}>{1}</{0}>").format(tag, inline(match[kind]))
    return escape(match.group())

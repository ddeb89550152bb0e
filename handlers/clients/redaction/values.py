"""Where a value ends: in quotes, bare, in brackets, as a block of YAML."""

from __future__ import annotations

from typing import NamedTuple

from handlers.clients.redaction.prose import looks_chosen
from handlers.clients.redaction.reading import Reading
from handlers.clients.redaction.span import MARK, TRAILING
from handlers.clients.secret_keys import looks_harmless
from runbooks.linear import Pattern, compile_linear

QUOTES = "\"'`"
_TYPOGRAPHIC = {"\u201c": "\u201d\u201c", "\u201e": "\u201c\u201d", "\u2018": "\u2019\u2018", "\xab": "\xbb"}
"""What closes the quotes that word processors and phones put: the usual one first."""
_ESCAPED_QUOTES = ("&quot;", "&#34;", "&#39;", "&apos;", "%22", "%27", "\\u0022", "\\u0027")
_MOST_BACKSLASHES = 63
_WINDOW = 1024
_MORE_LINES = frozenset("=:{}<>")
"""What the further lines of a value do not hold: they would be lines of their own."""
_AHEAD = 120
_NAME = r"(?:[A-Za-z_$][\w.-]{0,60}|[A-Z][A-Za-z]{1,20}(?: [A-Z][A-Za-z]{1,20}){1,2}|(?i:user id|initial catalog))"
_PAIR = r"\s{0,3}" + _NAME + r"[\"']?\s{0,2}"
_ENDS = r"|\\{0,63}[\"'`](?:[\s,;:)\]}&>|\\]|$)|</|&quot;|&#3[49];|\\u0026"
_ENDS_BEHIND_EQUALS = compile_linear(r"(?:[;&,|]|%26|%3[Bb])" + _PAIR + r"(?:=|%3[Dd])" + _ENDS)
_ENDS_BEHIND_COLON = compile_linear(r"[;&,|][\"']?" + _PAIR + "[=:]" + _ENDS)
_PASSWORD_OF_WORDS = compile_linear(r"^[^;=\n]{1,200};" + _PAIR + "=")
_BLOCK = compile_linear(r"^[|>][+-]?\d?[+-]?[ \t]*(?:#[^\n]*)?\r?\n")
_NEXT_LINE = compile_linear(r"^[ \t]*\r?\n([ \t]*)(?:-[ \t]+)?(?:[\"']?(?:value|defaultValue)[\"']?[ \t]*:[ \t]*)?")
_LINK = compile_linear(r"^<(?:https?://|mailto:)[^<>\s]+(?:\|[^<>\n]*)?>")
_TAG = compile_linear(r"^(?:[!&][\w!/:.-]{0,40}[ \t]+){1,2}")
_FLOW = compile_linear(r"^\[([^\[\]{}:=\n]{1,400})\]")


_ANSWERED = compile_linear(
    r"(?i)^[ \t>*_`]*(?:[\w-]+ )?(?:password|passwd|pass|pw|pwd|passphrase)[*_`]*[ \t]*:[*_`]*[ \t]*$"
)
"""A line that only asks for it."""
_ONE_WORD = compile_linear(r"[^\s\-:#][^\s:]{5,}")


class Value(NamedTuple):
    start: int
    end: int
    quoted: bool = False
    alone: bool = False
    """It fills its line, so that it cannot be the beginning of a sentence."""


class Quote(NamedTuple):
    end: int
    mark: str
    backslashes: int


def quote_at(text: str, start: int) -> Quote | None:
    """An opening quote, with the backslashes that it has inside a string (of JSON in JSON)."""
    head = text[start : start + _MOST_BACKSLASHES + 1]
    rest = head.lstrip("\\")
    slashes = len(head) - len(rest)
    if rest[:1] and rest[0] in QUOTES:
        return Quote(start + slashes + 1, rest[0], slashes)
    if rest[:1] in _TYPOGRAPHIC and not slashes:
        return _typographic(text, start)
    escaped = next((quote for quote in _ESCAPED_QUOTES if head.startswith(quote)), "")
    return Quote(start + len(escaped), escaped, 0) if escaped else None


def _typographic(text: str, start: int) -> Quote | None:
    for closing in _TYPOGRAPHIC[text[start]]:
        if text.find(closing, start + 1, start + _WINDOW) >= 0:
            return Quote(start + 1, closing, 0)
    return None


def quoted_value(reading: Reading, quote: Quote) -> Value:
    """Up to the closing quote. Without one in the line, the text was cut, or the value has several lines."""
    line_end = reading.line_end(quote.end)
    end = _closing(reading, quote, line_end)
    if end is None:
        end = _closing(reading, quote, min(len(reading.text), line_end + _WINDOW))
        if end is None or not _MORE_LINES.isdisjoint(reading.text[line_end:end]):
            end = line_end
    return Value(quote.end, max(quote.end, end), quoted=True)


def _closing(reading: Reading, quote: Quote, limit: int) -> int | None:
    first = None
    at = reading.find(quote.mark, quote.end)
    while 0 <= at < limit:
        if len(quote.mark) > 1 or _closes(reading.text, quote, at):
            if not _is_doubled(reading.text, quote, at):
                return at - quote.backslashes
            first = at if first is None else first
            at += 1
        at = reading.find(quote.mark, at + 1)
    return first


def _is_doubled(text: str, quote: Quote, at: int) -> bool:
    """YAML and SQL double a quote inside quotes: `'it''s'`. An empty value is not such a case."""
    return quote.mark in QUOTES and not quote.backslashes and at > quote.end and text[at + 1 : at + 2] == quote.mark


def _closes(text: str, quote: Quote, at: int) -> bool:
    """With n backslashes before the opening quote, n stand before the closing one, and more before an inner one."""
    before = text[max(quote.end, at - _MOST_BACKSLASHES - 1) : at]
    extra = len(before) - len(before.rstrip("\\")) - quote.backslashes
    return extra >= 0 and extra // (quote.backslashes + 1) % 2 == 0


def value_at(reading: Reading, start: int, *, colon: bool) -> Value | None:
    """The value assigned at this position. None: nothing, or a structure whose parts are scanned anyway."""
    text = reading.text
    if quote := quote_at(text, start):
        return quoted_value(reading, quote)
    first = text[start : start + 1]
    if first == "<" and (link := _LINK.match(text[start : start + 2048])):
        return Value(start, start + link.end())
    if first == "[" and not text.startswith(MARK, start):
        found = _FLOW.match(text[start : start + 500])
        is_list = found and not looks_harmless(found[0])
        return Value(start + 1, start + 1 + len(found[1]), quoted=True) if found and is_list else None
    if colon:
        if first in "|>!&" and (value := _yaml_value(reading, start)):
            return value
        if first in ("", "\r", "\n"):
            return _on_the_next_line(reading, start)
        if first == "{" or text.startswith("//", start):
            return None
    return bare_value(reading, start, colon=colon)


def bare_value(reading: Reading, start: int, *, colon: bool) -> Value | None:
    """Up to white space, the start of the next pair (`;Encrypt=`, `&user=`, `, name:`), or a closing quote."""
    text = reading.text
    limit = reading.link_end(start)
    end, is_cut = _token_end(text, start, limit, _ENDS_BEHIND_COLON if colon else _ENDS_BEHIND_EQUALS)
    if not is_cut and text[end : end + 1] == " " and _behind_a_semicolon(reading, start):
        words = _PASSWORD_OF_WORDS.match(text[end : end + 300])
        end += len(words[0].partition(";")[0]) if words else 0
    if text.startswith(MARK, start):
        return Value(start, end)
    end -= len(text[start:end]) - len(text[start:end].rstrip(TRAILING))
    return Value(start, end) if end > start else None


def _behind_a_semicolon(reading: Reading, start: int) -> bool:
    """Whether it belongs to a connection string, in which values may contain blanks."""
    before = reading.line_before(start).rpartition(";")
    return bool(before[1]) and before[2].count("=") == 1


def _token_end(text: str, start: int, limit: int, ends: Pattern) -> tuple[int, bool]:
    """The end of the word that begins here, at white space or `ends`; read in chunks, because it may be long."""
    while window := text[start : min(limit, start + _WINDOW)]:
        first = window.split(None, 1)[0] if not window[0].isspace() else ""
        found = ends.search(text[start : start + len(first) + _AHEAD])
        if found and found.start() < len(first):
            return start + found.start(), True
        start += len(first)
        if len(first) < len(window):
            break
    return start, False


def _yaml_value(reading: Reading, start: int) -> Value | None:
    text = reading.text
    if found := _BLOCK.match(text[start : start + 200]):
        return _block(reading, start, start + found.end())
    if found := _TAG.match(text[start : start + 100]):
        return value_at(reading, start + found.end(), colon=False)
    return None


def _block(reading: Reading, start: int, first_line: int) -> Value | None:
    """Every line after `password: |` that is indented further than the line of the key."""
    text, depth = reading.text, _indent(reading.line_before(start))
    end = at = first_line
    while at < len(text):
        line_end = reading.line_end(at)
        line = text[at:line_end]
        if line.strip() and _indent(line) <= depth:
            break
        end, at = (line_end if line.strip() else end), line_end + 1
    begin = reading.spaces_end(first_line)
    return Value(begin, end, alone=True) if end > begin else None


def _on_the_next_line(reading: Reading, start: int) -> Value | None:
    """`password:` with its value on the next line, indented further; alone, in a list, or under `value:`."""
    text = reading.text
    found = _NEXT_LINE.match(text[start : start + 300])
    before = reading.line_before(start)
    if not found or (len(found[1]) <= _indent(before) and not _ANSWERED.match(before)):
        return None
    begin = start + found.end()
    if quote := quote_at(text, begin):
        return quoted_value(reading, quote)
    line_end = reading.line_end(begin)
    line = text[begin:line_end].rstrip()
    if len(found[1]) <= _indent(before):
        return Value(begin, begin + len(line)) if _ONE_WORD.fullmatch(line) and looks_chosen(line) else None
    is_key = ":" in line and (line.endswith(":") or ": " in line)
    return Value(begin, begin + len(line), alone=True) if line and not is_key and line[0] not in "{[" else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t-"))

"""A Kubernetes Secret written out in a text: every value under `data` and `stringData` is redacted."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.clients.redaction.span import Span, is_marked
from runbooks.linear import compile_linear

_KIND = compile_linear(r"\bkind\\{0,15}[\"']?\s{0,4}:\s{0,4}\\{0,15}[\"']?Secret(?:List)?\b")
_PATCH = compile_linear(r"\bpatch(?:\s+-[\w-]+(?:[ =]\w+)?){0,3}\s+secrets?[\s/]")
"""`kubectl patch secret x -p '{"data": …}'` names the kind in its command."""
_DATA = compile_linear(r"(?m)^([ \t]*(?:- )?)(?:data|stringData)[ \t]*:[ \t]*\r?\n")
_ENTRY = compile_linear(r"^([ \t]*)[\"']?[\w.-]+[\"']?[ \t]*:[ \t]*(.*)$")
_JSON_DATA = compile_linear(r"\\*\"(?:data|stringData)\\*\"\s*:\s*\{([^{}]*)\}?")
_JSON_VALUE = compile_linear(r":\s*\\*\"([^\"\\]+)")


def secret_data(text: str) -> Iterator[Span]:
    is_kind = "Secret" in text and _KIND.search(text)
    if not is_kind and not ("patch" in text and _PATCH.search(text)):
        return
    for found in _DATA.finditer(text):
        yield from _entries(text, found.end(), len(found[1]))
    for found in _JSON_DATA.finditer(text):
        for value in _JSON_VALUE.finditer(found[1]):
            if not is_marked(value[1]):
                yield Span(found.start(1) + value.start(1), found.start(1) + value.end(1), "secret-data")


def _entries(text: str, start: int, depth: int) -> Iterator[Span]:
    """The lines below that are indented further."""
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if line.strip() and len(line) - len(line.lstrip(" \t")) <= depth:
            return
        found = _ENTRY.match(line)
        begin = at + (found.start(2) if found else len(line) - len(line.lstrip()))
        content = text[begin:end].strip()
        if content and not is_marked(content) and content[0] not in "|>":
            yield Span(begin, begin + len(text[begin:end].rstrip()), "secret-data")
        at = end + 1

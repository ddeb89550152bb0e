"""One pass over a text: RE2 finds everything that may name a secret, and each match is examined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from handlers.clients.redaction import addresses, commands, encoded, headers, infixes, pem, tokens
from handlers.clients.redaction.assigned import STEMS, assigned
from handlers.clients.redaction.documents import secret_data
from handlers.clients.redaction.reading import Reading
from handlers.clients.redaction.span import Span, literal
from runbooks.linear import Match, compile_linear


def _literals(words: Iterable[str]) -> str:
    return "|".join(literal(word) for word in sorted(words, key=len, reverse=True))


_LOOSE = (pem.BEGIN, pem.END, "@", "?code=", "&code=", *addresses.HOOKS, *addresses.SIGNED, *infixes.INFIXES, *pem.DER)
_WORDS = f"{_literals(commands.TRIGGERS)}|bearer|{STEMS}"
_FINDS = compile_linear(rf"\b(?:{_literals(tokens.LETTERED)})|{_literals((*tokens.SIGNED, *_LOOSE))}|(?i:{_WORDS})")
_FIXED = (*tokens.PREFIXES, *_LOOSE)
_KNOWN = frozenset(_FIXED)
_PREFIXES = frozenset(tokens.PREFIXES)
_INFIXES = frozenset(infixes.INFIXES)
_COMMANDS = frozenset(commands.TRIGGERS)
_DER = frozenset(pem.DER)
_SIGNATURES = ("&s=", "&h=", "\\u0026s=")


def spans(text: str, hides: Callable[[str], bool]) -> list[Span]:
    """Every span to redact. `hides` says whether decoded base64 contains secrets."""
    found = (
        Scan(text).spans(),
        pem.lines(text),
        infixes.by_length(text),
        secret_data(text),
        encoded.encoded(text, hides),
    )
    return [span for spans in found for span in spans]


class Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._reading = Reading(text)
        self._done = 0
        """The end of what was found; what lies before it is not looked at again."""
        self._word = 0
        """The end of the word that was judged last."""
        self._command = 0
        """The end of the command that was read last."""
        self._at = 0
        self._is_signed = any(signature in text for signature in _SIGNATURES)

    def spans(self) -> Iterator[Span]:
        for found in _FINDS.finditer(self._text):
            for span in self._look(found):
                self._done = max(self._done, span.end)
                yield span

    def _look(self, found: Match) -> Iterator[Span]:
        start, end = found.span()
        text = self._text[start:end]
        if text == "@":
            # The only match that looks back: `name:pass` before it may have been matched as something shorter.
            yield from _one(addresses.before_at(self._text, start, self._at))
            self._at = start
        elif start < self._done:
            return
        elif text not in _KNOWN:
            yield from self._words(text.lower(), start, end)
        elif span := self._fixed(text, start, end):
            yield span
        elif text in _PREFIXES:
            # `key-` begins a token or a name.
            yield from self._name(start, end)

    def _fixed(self, text: str, start: int, end: int) -> Span | None:
        if text in _PREFIXES:
            return tokens.token_at(self._text, start, text)
        if text in _INFIXES:
            return infixes.around(self._text, start, text)
        if text in _DER:
            return pem.first_line(self._text, start, text)
        if text == pem.BEGIN:
            return pem.begins(self._reading, start)
        if text == pem.END:
            return pem.ends(self._text, start, self._done)
        if text in addresses.HOOKS:
            return addresses.hook_at(self._text, end)
        if text in addresses.SIGNED:
            return addresses.signed_at(self._text, end) if self._is_signed else None
        return addresses.code_at(self._text, end)

    def _words(self, text: str, start: int, end: int) -> Iterator[Span]:
        if text in _COMMANDS and start >= self._command:
            spans, self._command = commands.in_line(self._text, start, text)
            yield from spans
        elif text == "bearer":
            yield from _one(headers.bearer_at(self._text, end))
        else:
            yield from self._name(start, end)

    def _name(self, start: int, end: int) -> Iterator[Span]:
        if start >= self._word:
            self._word = self._reading.word_end(end)
            yield from _one(assigned(self._reading, start, end))


def _one(span: Span | None) -> Iterator[Span]:
    if span:
        yield span


TELLING = (
    _FINDS,
    *(compile_linear(pattern) for pattern in (pem.MIDDLE, infixes.LONG_WORD, encoded.ASCII, encoded.UTF_16)),
)
"""A look at many texts at once, for the few that are worth a scan: whatever `spans` begins with, so that a text in a
tree loses what it loses alone."""

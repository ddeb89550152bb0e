"""Headers of HTTP whose whole value is secret: `Authorization`, `Cookie`."""

from __future__ import annotations

from handlers.clients.redaction.reading import Reading
from handlers.clients.redaction.span import Span
from handlers.clients.redaction.values import Value, quote_at, quoted_value
from runbooks.linear import compile_linear

KINDS = frozenset({"authorization", "cookie"})
_SCHEME = compile_linear(
    r"(?i)^\s*(?:(?:basic|bearer|digest|negotiate|ntlm|sharedkey(?:lite)?|sharedaccesssignature|aws4-hmac-sha256"
    r"|token|apikey|pop|dpop|key)\s+)?"
)
_BEARER = compile_linear(r"^\s+\\{0,15}[\"']?([A-Za-z0-9._~+/-]{16,}=*)")
_DECIDED = frozenset("0123456789")


def value(reading: Reading, begin: int, at: int, kind: str) -> Value | None:
    """The rest of the line, or up to the quote that stands around the header or around its value."""
    text, start = reading.text, reading.spaces_end(at)
    quote = quote_at(text, start)
    word = quoted_value(reading, quote) if quote else _rest(reading, begin, start)
    if kind == "authorization":
        word = _behind_scheme(text, word)
        if not quote and not _is_credential(text[word.start : word.end]):
            return None
    end = word.start + len(text[word.start : word.end].rstrip("\r\\ \t"))
    return word._replace(end=end) if end > word.start else None


def _rest(reading: Reading, begin: int, start: int) -> Value:
    end = reading.line_end(start)
    around = reading.text[begin - 1 : begin]
    closing = reading.find(around, start) if around in ("'", '"') else -1
    return Value(start, closing if 0 <= closing < end else end, quoted=True)


def _behind_scheme(text: str, word: Value) -> Value:
    scheme = _SCHEME.match(text[word.start : min(word.end, word.start + 60)])
    return word._replace(start=word.start + (scheme.end() if scheme else 0))


def _is_credential(text: str) -> bool:
    """Not prose ("Authorization: failed for this user")."""
    first = text.split(None, 1)[0] if text.strip() else ""
    mixed = first.lower() != first and first.upper() != first and not first.istitle()
    return len(first) >= 6 and (mixed or len(first) >= 16 or not _DECIDED.isdisjoint(first) or "=" in first)


def bearer_at(text: str, end: int) -> Span | None:
    """`Bearer X` anywhere; `Bearer authorization_uri=…` is what a server asks for."""
    window = text[end : end + 4096]
    found = _BEARER.match(window)
    if not found or _DECIDED.isdisjoint(found[1]):
        return None
    return None if _asks(found[1]) else Span(end + found.start(1), end + found.end(1), "bearer")


def _asks(text: str) -> bool:
    name, equals, rest = text.partition("=")
    return bool(equals) and name.replace("_", "").isalpha() and name.islower() and rest.strip("=") != ""

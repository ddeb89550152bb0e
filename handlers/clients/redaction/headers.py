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
    text = reading.text
    start = reading.spaces_end(at)
    quote = quote_at(text, start)
    if quote:
        found = quoted_value(reading, quote)
    else:
        end = reading.line_end(start)
        around = text[begin - 1 : begin]
        closing = reading.find(around, start) if around in ("'", '"') else -1
        found = Value(start, closing if 0 <= closing < end else end, quoted=True)
    if kind == "authorization":
        found = _behind_scheme(text, found)
        if found and not quote and not _is_credential(text[found.start : found.end]):
            return None
    if not found:
        return None
    end = found.start + len(text[found.start : found.end].rstrip("\r\\ \t"))
    return found._replace(end=end) if end > found.start else None


def _behind_scheme(text: str, found: Value) -> Value | None:
    scheme = _SCHEME.match(text[found.start : min(found.end, found.start + 60)])
    start = found.start + (scheme.end() if scheme else 0)
    return found._replace(start=start) if start < found.end else None


def _is_credential(said: str) -> bool:
    """Not prose ("Authorization: failed for this user")."""
    first = said.split(None, 1)[0] if said.strip() else ""
    mixed = first.lower() != first and first.upper() != first and not first.istitle()
    return len(first) >= 6 and (mixed or len(first) >= 16 or not _DECIDED.isdisjoint(first) or "=" in first)


def bearer_at(text: str, end: int) -> Span | None:
    """`Bearer X` anywhere; `Bearer authorization_uri=…` is what a server asks for."""
    window = text[end : end + 4096]
    found = _BEARER.match(window)
    if not found or _DECIDED.isdisjoint(found[1]):
        return None
    return None if _asks(found[1]) else Span(end + found.start(1), end + found.end(1), "bearer")


def _asks(said: str) -> bool:
    name, equals, rest = said.partition("=")
    return bool(equals) and name.replace("_", "").isalpha() and name.islower() and not rest.strip("=") == ""

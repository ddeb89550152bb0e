"""Private keys: whole, cut at either end, or only the lines between."""

from __future__ import annotations

from handlers.clients.redaction.reading import Reading
from handlers.clients.redaction.span import Span
from runbooks.linear import compile_linear

KIND = "private-key"
BEGIN, END = "-----BEGIN ", "-----END "
DER = (
    *("IBAAKCAQ", "IBAAKBgQ", "IBAAKCAg", "IBADANBgkqhkiG9w0BAQEF"),
    *("MHcCAQEE", "MHQCAQEE", "MIGkAgEB", "MIHcAgEB", "MIGHAgEAMBMG", "MIGEAgEAMBAG", "MIG2AgEAMBAG", "MIHuAgEAMBAG"),
    *("MC4CAQAwBQYDK2V", "b3BlbnNzaC1rZXktdjE"),
)
"""How the first line of a private key goes on (PKCS #1, PKCS #8, SEC 1, OpenSSH); certificates begin differently."""
_BODY = compile_linear(r"^(?:[A-Za-z0-9+/]+={0,2}(?:\\*[rn]|\s|[\"',+\\]){0,20})+")
_LAST = compile_linear(r"(?:[A-Za-z0-9+/]+={0,2}(?:\\*[rn]|\s|[\"',+\\]){1,20})+$")
_GOES_ON = compile_linear(r"^(?:\\+[nr]|[\s\"',+\\]){0,40}(?:[A-Za-z0-9+/=]{16,}|Proc-Type|Version|Comment|$)")
MIDDLE = r"[A-Za-z0-9+/]{64}(?:\\[rn]|\s)"
"""A full line between the header and the end."""
_LINES = compile_linear(r"(?:[A-Za-z0-9+/]{64}(?:\\[rn]|\s){1,12}){2,}(?:[A-Za-z0-9+/]{1,63}={0,2})?")
_LONGEST = 16_384
_NO_LETTER_OF_HEX = compile_linear(r"[G-Zg-z+/]")


def begins(reading: Reading, start: int) -> Span | None:
    text = reading.text
    label_end = text.find("-----", start + len(BEGIN), start + 80)
    if label_end < 0 or "PRIVATE KEY" not in text[start:label_end]:
        return None
    end = reading.find(END, label_end)
    if end >= 0:
        closing = text.find("-----", end + len(END), end + 80)
        return Span(start, closing + 5 if closing >= 0 else len(text), KIND)
    # It was cut; but somebody may only speak of the header.
    return Span(start, len(text), KIND) if _GOES_ON.match(text[label_end + 5 : label_end + 200]) else None


def ends(text: str, start: int, since: int) -> Span | None:
    """The lines before an end whose beginning was cut off."""
    label_end = text.find("-----", start + len(END), start + 80)
    if label_end < 0 or "PRIVATE KEY" not in text[start:label_end]:
        return None
    first = max(since, start - _LONGEST)
    found = _LAST.search(text[first:start])
    return Span(first + found.start(), label_end + 5, KIND) if found else None


def first_line(text: str, start: int, sign: str) -> Span | None:
    """A key without its header."""
    begin = start
    if sign.startswith("IBA"):
        begin = start - 6
        if begin < 0 or text[begin : begin + 3] != "MII":
            return None
    found = _BODY.match(text[begin : begin + _LONGEST])
    return Span(begin, begin + found.end(), KIND) if found and found.end() >= 40 else None


def lines(text: str) -> list[Span]:
    """The lines from the middle of a key: several of exactly 64 letters of base64. Certificates are for everybody."""
    return [
        Span(*found.span(), KIND)
        for found in _LINES.finditer(text)
        if _NO_LETTER_OF_HEX.search(found[0][:64]) and not _of_certificate(text, found.start())
    ]


def _of_certificate(text: str, start: int) -> bool:
    before = text[max(0, start - 128) : start]
    return "CERTIFICATE" in before or "PUBLIC KEY" in before or text[start : start + 2] == "MI"

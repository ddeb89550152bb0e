"""Secrets in base64: a value of its own, or a word of a sentence."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator

from handlers.clients.redaction.span import Span
from runbooks.linear import compile_linear

KIND = "encoded"
_FIRST, _SECOND = "[A-Za-f]", "[A-HQ-Xg-nw-z0-3]"
_THIRD, _FOURTH = "[ABEFIJMNQRUVYZcdghklopstwx014589]", "[A-Za-z0-9+/]"
ASCII = f"(?:{_FIRST}{_SECOND}{_THIRD}{_FOURTH}){{5,}}"
"""Base64 of fifteen ASCII characters: no bit 7 is set, which rules out nearly every digest, id and name."""
UTF_16 = "(?:[A-Za-f][AQgw][AB][A-Za-z0-9+/]A[A-H][AEIMQUYcgkosw048]A){3,}"
"""The same in two bytes a letter, as PowerShell wants its commands."""
_LOOK = compile_linear(f"{ASCII}|{UTF_16}")
_RUN = compile_linear(
    r"[A-Za-z0-9+/]{20,}(?:\r?\n[ \t]*[A-Za-z0-9+/]{20,})*(?:\r?\n[ \t]*[A-Za-z0-9+/]{1,19}={0,2}(?:\s|$))?={0,2}"
)
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n"
_FEWEST = 40


def unpacked(text: str) -> str:
    """What base64 holds, if it is base64 of a text at all."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def is_encoded(text: str) -> bool:
    """Whether it may be base64 from its first letter to its last, in lines or not."""
    return len(text) >= _FEWEST and not text.encode(errors="replace").translate(None, _LETTERS)


def encoded(text: str, hides: Callable[[str], bool]) -> Iterator[Span]:
    """The words that hide something."""
    if not _LOOK.search(text):
        return
    for found in _RUN.finditer(text):
        if any(hides(reading) for reading in _readings(found[0])):
            yield Span(*found.span(), KIND)


def _readings(run: str) -> Iterator[str]:
    """The decoded run, also from later starts: a path may stand before it."""
    whole = "".join(run.split()).rstrip("=")
    if found := _LOOK.search(whole):
        start = found.start() % 4
        part = whole[start : len(whole) - (1 if (len(whole) - start) % 4 == 1 else 0)]
        raw = base64.b64decode(part + "=" * (-len(part) % 4))
        yield raw.decode("utf-16-le" if b"\0" in raw[:64] else "utf-8", "replace")

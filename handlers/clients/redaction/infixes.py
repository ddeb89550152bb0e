"""Keys without a prefix but with a marker inside: Entra client secrets, keys of Azure services, storage keys."""

from __future__ import annotations

from handlers.clients.redaction.span import Span
from runbooks.linear import compile_linear

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ALNUM = _BASE64[:-2]
_CLIENT_SECRET = compile_linear(r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}")
_AWS_SECRET = compile_linear(r"[A-Za-z0-9/+=]{40,}")
_DEVOPS_PAT = compile_linear(r"[a-z2-7]{52,}")
LONG_WORD = r"[a-z2-7]{52}|[A-Za-z0-9/+=]{40}"
"""What `by_length` may find."""
_OF_AWS = compile_linear(r"(?:^|[^A-Za-z0-9])(?:(?i:aws)(?:[^A-Za-z0-9]|$)|A[KS]IA[A-Z0-9]{16})")
"""What stands beside a secret of AWS: its name as a word of its own, or an access key."""

SERVICE_KEYS = ("+ASt", "+AEh", "+ASb", "+ARm", "+ACR", "+AIoT", "ACDb", "AzFu", "AzSe", "AzCa", "AzCR", "JQQJ99")
"""Microsoft's identifiable secrets: at a fixed place, some letters say which service a key belongs to."""
INFIXES = ("Q~", "AZDO", "==", *SERVICE_KEYS)


def around(text: str, start: int, infix: str) -> Span | None:
    """The key around one of these signs, if there is one."""
    if infix == "Q~":
        return _client_secret(text, start)
    if infix == "==":
        return _storage_key(text, start)
    if infix == "AZDO":
        return _devops_pat(text, start)
    return _service_key(text, start, infix)


def _client_secret(text: str, start: int) -> Span | None:
    begin = start - 4
    if begin < 0 or not (found := _CLIENT_SECRET.match(text[begin : begin + 44])):
        return None
    return Span(begin, begin + found.end(), "client-secret")


def _storage_key(text: str, start: int) -> Span | None:
    left = _left(text, start, 90, _BASE64)
    before = text[start - left - 1 : start - left]
    alone = before != "-" and text[start + 2 : start + 3] not in ("=", *_BASE64)
    return Span(start - left, start + 2, "azure-key") if left == 86 and alone else None


def _devops_pat(text: str, start: int) -> Span | None:
    left, right = _left(text, start, 90, _ALNUM), _right(text, start + 4, 20, _ALNUM)
    return Span(start - left, start + 4 + right, "devops-pat") if 70 <= left <= 80 and 4 <= right <= 6 else None


def _service_key(text: str, start: int, infix: str) -> Span | None:
    end = start + len(infix)
    left, right = _left(text, start, 400, _BASE64), _right(text, end, 400, _BASE64)
    if left < 28 or right < 4:
        return None
    padding = _right(text, end + right, 2, "=")
    return Span(start - left, end + right + padding, "azure-key")


def _left(text: str, end: int, most: int, letters: str) -> int:
    window = text[max(0, end - most) : end]
    return len(window) - len(window.rstrip(letters))


def _right(text: str, start: int, most: int, letters: str) -> int:
    window = text[start : start + most]
    return len(window) - len(window.lstrip(letters))


def by_length(text: str) -> list[Span]:
    """Keys recognised by alphabet and length alone: old Azure DevOps personal access tokens, and the AWS secret next to
    its access key. Forty such letters elsewhere may be anything (a commit, a digest).
    """
    spans = [
        Span(*found.span(), "devops-pat")
        for found in _DEVOPS_PAT.finditer(text)
        if found.end() - found.start() == 52 and _stands_alone(text, *found.span(), _ALNUM) and _has_digit(found[0])
    ]
    if _OF_AWS.search(text):
        spans += [Span(*match.span(), "aws") for match in _AWS_SECRET.finditer(text) if _is_aws_secret(match[0])]
    return spans


def _is_aws_secret(text: str) -> bool:
    return len(text) == 40 and any(map(str.isdigit, text)) and text.lower() != text


def _stands_alone(text: str, start: int, end: int, letters: str) -> bool:
    return text[start - 1 : start] not in tuple(letters) and text[end : end + 1] not in tuple(letters)


def _has_digit(text: str) -> bool:
    return any(digit in text for digit in "234567")

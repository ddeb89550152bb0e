"""What follows a secret-like name and is not a secret: error codes, class and resource names, ordinary prose."""

from __future__ import annotations

from handlers.clients.redaction.span import MARK
from handlers.clients.secret_keys import words
from runbooks.linear import compile_linear

_CODE = compile_linear(r"(?:AADSTS|AADB2C|AKV|ORA-|SQLSTATE|HTTP/)[\d.]{1,9}")
_ERROR = compile_linear(
    r"(?:[a-z]+\.)*[A-Z]\w{0,40}(?:Credential|Error|Exception|Failed|Failure|Forbidden|Invalid|NotFound|Unauthorized)s?"
)
_CALL = compile_linear(r"[A-Za-z]+(?:\.[A-Za-z]+)+#[A-Za-z]+")
"""Go's SDKs begin an error with the call that failed: `keyvault.BaseClient#GetSecret`."""
_PATH_OF_NAMES = compile_linear(r"[A-Za-z]{2,}\d{0,3}(?:[./#\x{2026}][A-Za-z\x{2026}]{2,}){1,8}")
_CAMEL = compile_linear(r"[A-Z]?[a-z]{2,14}(?:[A-Z]{1,6}[a-z]{1,14}){1,8}\d{0,3}")
_LOWER = compile_linear(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_IN_A_NAMESPACE = compile_linear(
    r"(?:[A-Z][A-Za-z]+|[a-z]+(?:-(?:[a-z]+|\d{1,4}))*)/[a-z]+\d{0,2}(?:-(?:[a-z]+\d{0,2}|\d{1,4}))*"
)
_OF_KUBERNETES = compile_linear(r"[a-z]+\d{0,2}(?:-(?:[a-z]+\d{0,2}|\d{1,4}))+")
_SAYS_WHAT_IT_IS = words(
    "ca cert certs certificate creds credential credentials key keys pull secret secrets tls token"
)
_CHAIN = compile_linear(r"[A-Za-z]+\d{0,2}(?:[/.#-][A-Za-z]+)*")
_CODED = compile_linear(r"(?i)^(?:base\d\d|sha-?\d+|md5|utf-?\d+|rsa|ed25519|aes|x509|oauth2?|v\d)\b")
SHORTEST_WORD = 6
_SENTENCE_WORDS = 7
_PLAIN_WORDS = words(
    "argument arguments flag flags option options parameter parameters value values and are as at but by can "
    "could for from gives has have if in is it may must no not now of off on only or per requires should supposed that "
    "the to was when which will with"
)
_NOT_TYPED = ("(", "*", "<", "[")
_STATES = words(
    "admin authentication authorization because before between cannot change changed check default denied during empty "
    "error expired failed failure forgot forgotten from hidden incorrect invalid login managed mismatch missing needed "
    "never nothing please prompt protected provided rejected required rotated rotation secret should stored string "
    "unknown unset update updated username wrong"
)
"""Words that often follow `password:` in a sentence."""


def says_what_failed(text: str, start: int, end: int, kind: str) -> bool:
    """An error code or a class name; also where the next error follows a colon ("token: net/http: …")."""
    content = text[start:end]
    if _CODE.fullmatch(content) or _ERROR.fullmatch(content) or _CALL.fullmatch(content):
        return True
    if kind == "password":
        return False
    is_chain = text[end : end + 1] == ":" and len(content) < 40 and bool(_CHAIN.fullmatch(content))
    return (
        is_chain or bool(_PATH_OF_NAMES.fullmatch(content) or _CAMEL.fullmatch(content)) or is_reference(content, kind)
    )


def is_reference(text: str, kind: str) -> bool:
    """Where a secret is kept: `default/pg-admin`, `wildcard-tls`."""
    if kind not in ("secret", "credential"):
        return False
    parts = text.replace("/", "-").split("-")
    return bool(_IN_A_NAMESPACE.fullmatch(text)) or (
        bool(_OF_KUBERNETES.fullmatch(text)) and not _SAYS_WHAT_IT_IS.isdisjoint(parts)
    )


def is_long_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE_WORDS


def is_state(word: str) -> bool:
    return word.lower() in _STATES


def looks_chosen(text: str) -> bool:
    """Whether somebody may have chosen it as a password: letters with digits or signs, and no algorithm's name."""
    has_digit = any(letter.isdigit() for letter in text)
    has_letter = any(letter.isalpha() for letter in text)
    has_sign = any(letter in "!@#$%^&*~+=?" for letter in text)
    is_chosen = has_letter and (has_digit or has_sign) and not _CODED.match(text) and not text.startswith(MARK)
    return is_chosen and not _CODE.fullmatch(text)


def is_plain_word(text: str) -> bool:
    """The word after a flag that somebody only mentions."""
    return text.lower() in _PLAIN_WORDS


def is_typed(text: str) -> bool:
    """What a person types after `password`, without a colon."""
    if len(text) < SHORTEST_WORD or text.startswith(_NOT_TYPED) or not looks_chosen(text):
        return False
    return any(letter.isdigit() or letter in "!#$%^&" for letter in text) and not is_like_a_name(text)


def is_like_a_name(text: str) -> bool:
    """`kv-prod-01` may also be the name of a resource."""
    return bool(_LOWER.fullmatch(text))

"""A question about something in particular (`path`, `rbac`, `from`, `node`, `pod`, `ns`, `logs`), as people type it.

One grammar for Slack and the terminal: `bot.checks.words` reads it, and a `Target` carries what was asked into a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address

from runbooks.linear import compile_linear

_NAME = compile_linear(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")
"""A name of Kubernetes (DNS subdomain)."""
_PORT = compile_linear(r"^([a-z0-9-]{1,15}|[0-9]{1,5})$")
_RESOURCE = compile_linear(r"^[a-z0-9.-]{1,120}(/[a-z]{1,40})?$")


class Word(StrEnum):
    """What a question is about."""

    FROM = "from"
    NODE = "node"
    POD = "pod"
    NAMESPACE = "ns"
    PATH = "path"
    RBAC = "rbac"
    LOGS = "logs"


USAGE: dict[Word, str] = {
    Word.FROM: "from <ip>",
    Word.NODE: "node <name>",
    Word.POD: "pod <namespace>/<pod>",
    Word.NAMESPACE: "ns <namespace>",
    Word.PATH: "path <namespace>/<pod> <namespace>/<service>:<port>",
    Word.RBAC: "rbac <namespace>/<service account> <verb> <resource> [namespace]",
    Word.LOGS: "logs",
}
EVERYWHERE = "*"
"""In place of a namespace of `rbac`: all of them."""


class NotAQuestion(ValueError):
    """Words that are no such question; the text says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, as it was typed and found to be well-formed."""

    word: Word
    values: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.word, *self.values))

    @property
    def said(self) -> str:
        """In a sentence: `CLEAR for node aks-web-1 only`."""
        first = self.values[0] if self.values else ""
        match self.word:
            case Word.LOGS:
                return "for the control plane's logs"
            case Word.FROM:
                return f"for address {first}"
            case Word.PATH:
                return f"for the path from {first} to {self.values[1]}"
            case Word.RBAC:
                return f"for what {first} may do ({' '.join(self.values[1:])})"
            case Word.NAMESPACE:
                return f"in namespace {first}"
        return f"for {self.word} {first}"

    @property
    def narrows(self) -> bool:
        """It keeps the part of a whole check that is about one thing; the others have an answer of their own."""
        return self.word in (Word.NODE, Word.POD, Word.NAMESPACE)

    @property
    def first(self) -> tuple[str, str]:
        """(namespace, name) of the first value."""
        namespace, _, name = self.values[0].partition("/")
        return namespace, name

    @property
    def service(self) -> tuple[str, str, str]:
        """(namespace, name, port) of the service that a path leads to."""
        namespace, _, rest = self.values[1].partition("/")
        name, _, port = rest.partition(":")
        return namespace, name, port

    @property
    def account(self) -> str:
        """The service account that `rbac` asks about, `namespace/name`; empty for other questions."""
        return self.values[0] if self.word is Word.RBAC else ""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Where the things are that it names."""
        if self.word is Word.NAMESPACE:
            return self.values
        if self.word is Word.POD:
            return (self.first[0],)
        return (self.first[0], self.service[0]) if self.word is Word.PATH else ()


def read_question(words: Sequence[str]) -> Question:
    """The question that these words ask; `NotAQuestion` says what does not fit."""
    try:
        word = Word(words[0].lower())
    except (ValueError, IndexError):
        raise NotAQuestion(f"{words[0]!r} begins no question" if words else "nothing is asked") from None
    values = tuple(words[1:]) if word is Word.FROM else tuple(value.lower() for value in words[1:])
    least, most = _LENGTHS.get(word, (1, 1))
    if not least <= len(values) <= most:
        number = f"{least}" if least == most else f"{least} or {most}"
        raise NotAQuestion(f"{word} takes {number} word{'s' if most > 1 else ''}, and there are {len(values)}")
    _CHECKS[word](values)
    return Question(word, values)


def _address(values: tuple[str, ...]) -> None:
    try:
        ip_address(values[0])
    except ValueError:
        raise NotAQuestion(f"{values[0][:80]!r} is no IP address") from None


def _name(values: tuple[str, ...]) -> None:
    if not _NAME.search(values[0]):
        raise NotAQuestion(f"{values[0][:80]!r} is no name of Kubernetes")


def _named(values: tuple[str, ...]) -> None:
    _in_namespace(values[0])


def _path(values: tuple[str, ...]) -> None:
    _in_namespace(values[0])
    service, colon, port = values[1].rpartition(":")
    if not colon:
        raise NotAQuestion(f"{values[1][:80]!r} names no port")
    _in_namespace(service)
    if not _PORT.search(port) or (port.isdigit() and not 0 < int(port) < 65536):
        raise NotAQuestion(f"{port[:80]!r} is no port")


def _rbac(values: tuple[str, ...]) -> None:
    _in_namespace(values[0])
    if not values[1].isalpha():
        raise NotAQuestion(f"{values[1][:80]!r} is no verb")
    if not _RESOURCE.search(values[2]):
        raise NotAQuestion(f"{values[2][:80]!r} is no resource")
    if len(values) > 3 and values[3] != EVERYWHERE:
        _name(values[3:])


def _in_namespace(value: str) -> None:
    namespace, _, name = value.partition("/")
    if not (_NAME.search(namespace) and _NAME.search(name)):
        raise NotAQuestion(f"{value[:80]!r} is not namespace/name")


def _nothing(values: tuple[str, ...]) -> None:
    """The word says it all."""


_LENGTHS = {Word.RBAC: (3, 4), Word.PATH: (2, 2), Word.LOGS: (0, 0)}
"""How many words follow, at least and at most; of the others it is one."""
_CHECKS = {
    Word.LOGS: _nothing,
    Word.FROM: _address,
    Word.NODE: _name,
    Word.POD: _named,
    Word.NAMESPACE: _name,
    Word.PATH: _path,
    Word.RBAC: _rbac,
}

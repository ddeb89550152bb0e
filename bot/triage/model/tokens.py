"""Splits a text into sentences of stems and concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from bot.triage.model.concepts import EDGE, THINGS, TROUBLE
from runbooks.linear import compile_linear

_HEADING = compile_linear(
    r"(?m)^[ \t]{0,8}(?:NAME|NAMESPACE|LAST SEEN|TYPE)[ \t]{1,60}(?:[A-Z][A-Z()/_-]{1,40}(?:[ \t]{1,60}|$)){2,}$"
)
"""The head of a kubectl table: its words are about every row, and say nothing."""
_SENTENCE = compile_linear(r"[\n!?;]+|\.(?:\s|$)|\s[-–→>•|]+\s")
_ANOTHER_CLAUSE = compile_linear(r",\s(then|and then|so|but)")
_HUMPS = compile_linear(r"([a-z])([A-Z][a-z])|([A-Z])([A-Z][a-z]{2})")
_NAMED = (
    (r"/(?:1[6-9]|2\d)([^\d./]|$)", r" cidrsize\1"),
    (
        (
            r"\b(?:Standard_[A-Z]\w{1,30}"
            r"|[DEFBLN](?:(?:[A-Za-z]{1,2}\d{1,3}|\d{2,3})[a-z]{0,3}|\d[a-z]{1,3}|\d_?v\d)(?:_?v\d)?\b)"
        ),
        " vmsize ",
    ),
    (
        r"\b(?:aks-[a-z0-9]{1,12}-\d{1,8}-)?vmss_?[0-9a-z]{0,4}\d[0-9a-z]\b|\baks-[a-z0-9]{1,12}-\d{8}-\d\b",
        " node ",
    ),
    (r"\bMC_[\w.()-]{0,80}", " noderg "),
    (r"\b\d{1,4}(?:\.\d{1,2})? ?Gi?B?\b", " gigabytes "),
    (
        (
            r"\b(?:since|for|takes?|runs?|over|already) (?:about |over |more than |> ?)?"
            r"(?:\d{1,3}\+?|two|three|four|five|several|many) ?(?:s|sec|seconds|h|hrs?|hours?|min|minutes|days?)\b"
            r"|\bsince yesterday\b"
        ),
        " forhours ",
    ),
)
"""`our /26 is too small` speaks of a subnet, `no D8s_v5 in zone 2` of a size, `Updating for 5 hours` of being stuck."""
_EACH_NAMED = [(compile_linear(pattern), name) for pattern, name in _NAMED]
_ANY_NAMED = compile_linear("|".join(f"(?:{pattern})" for pattern, _ in _NAMED))
"""Few sentences have one of them."""
STANDS_FOR = {
    "cidrsize": "the size of a network",
    "vmsize": "a VM size",
    "noderg": "a node resource group",
    "gigabytes": "gigabytes",
    "forhours": "for so long",
}
"""What those words mean to who reads them."""
_IN_WORDS = bytes(code if chr(code).isalnum() and not chr(code).isupper() else 32 for code in range(128)) + b" " * 128
_NOT = compile_linear(
    r"\b(?:can(?:['´`]?t|not)|wo?n['´`]?t|(?:do|does|did|is|could|are|was|were|have|has|had|would|should)n['´`]?t)\b"
)
_MOST_SENTENCES = 60
_MOST_WORDS = 60
"""In a sentence. Tables and logs have long lines."""
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "edly", "ed", "es", "s", "ly", "e")

Phrase = tuple[str, ...]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    if len(word) <= 3 or any(letter.isdigit() for letter in word):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: -len(ending)]
            if ending == "s" and word.endswith("ss"):
                return word
            if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "ls":
                root = root[:-1]
            return root.rstrip("e") if ending in ("s", "es") else root + ("y" if ending == "ies" else "")
    return word


def words(text: str) -> list[str]:
    """The words in lower case, `can't` as `can not`, `NotReady` as `not ready`."""
    spaced = text
    if not (text.islower() or text.isupper()):
        spaced = _HUMPS.sub(
            r"\1\3 \2\4", _HUMPS.sub(r"\1\3 \2\4", text)
        )  # Twice, because in `aBcDe` the matches overlap.
    if _ANY_NAMED.search(spaced):
        for expression, name in _EACH_NAMED:
            spaced = expression.sub(name, spaced)
    spaced = spaced.lower()
    if "n" in spaced:
        spaced = _NOT.sub(" not", spaced)
    return letters_and_digits(spaced)


def letters_and_digits(lower: str) -> list[str]:
    """The runs of a-z and 0-9: the same as `[a-z0-9]+`, at a tenth of the cost."""
    return lower.encode("ascii", "replace").translate(_IN_WORDS).decode().split()


def sentences(text: str) -> list[list[str]]:
    """The stems of each sentence, in their order."""
    found = []
    if "," in text:
        text = _ANOTHER_CLAUSE.sub("\n\\1", text)
    for part in _SENTENCE.split(_HEADING.sub("", text)):
        stems = [stem(word) for word in words(part[:1_200])[:_MOST_WORDS]] if part.strip() else []
        if stems:
            found.append(stems)
        if len(found) == _MOST_SENTENCES:
            break
    return found


def _members(table: str) -> Iterator[tuple[str, str]]:
    """Each concept with each of its words."""
    for line in table.replace("\n    ", " ").strip().splitlines():
        concept, _, members = line.partition(":")
        yield from ((concept, member.strip()) for member in members.split(","))


class Thesaurus:
    """Which concepts a run of stems stands for."""

    def __init__(self, *tables: str) -> None:
        self._runs: dict[str, list[tuple[Phrase, str]]] = defaultdict(list)
        for table in tables:
            for concept, member in _members(table):
                run = tuple(map(stem, words(member)))
                if run:
                    self._runs[run[0]].append((run, concept))

    def named(self, stems: list[str]) -> set[str]:
        """The concepts that these stems stand for."""
        found = {
            concept
            for at, first in enumerate(stems)
            for run, concept in self._runs.get(first, ())
            if len(run) == 1 or tuple(stems[at : at + len(run)]) == run
        }
        return found | {"unreachable"} if {"neg", "reach"} <= found else found


THESAURUS = Thesaurus(TROUBLE, THINGS, EDGE)

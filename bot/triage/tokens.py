"""A text as sentences of stems and concepts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from bot.triage.concepts import EDGE, THINGS, TROUBLE

_HEADING = re.compile(
    r"^[ \t]{0,8}(?:NAME|NAMESPACE|LAST SEEN|TYPE)[ \t]{1,60}(?:[A-Z][A-Z()/_-]{1,40}(?:[ \t]{1,60}|$)){2,}$",
    re.MULTILINE,
)
"""The head of a kubectl table: its words are about every row, and say nothing."""
_SENTENCE = re.compile(r"[\n!?;]+|\.(?=\s|$)|\s[-–→>•|]+\s|,\s(?=then|and then|so|but)")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_NAMED = (
    (re.compile(r"/(?:1[6-9]|2\d)(?![\d./])"), " cidrsize"),
    (
        re.compile(r"\b(?:Standard_[A-Z]\w{1,30}|[DEFBLN][A-Za-z]{0,2}\d{1,3}[a-z]{0,3}(?:[_ ]?v\d)?\b(?<=\w{3}))"),
        " vmsize ",
    ),
    (
        re.compile(r"\b(?:aks-[a-z0-9]{1,12}-\d{1,8}-)?vmss_?[0-9a-z]{1,6}\b(?<=\d.)|\baks-[a-z0-9]{1,12}-\d{8}-\d\b"),
        " node ",
    ),
    (re.compile(r"\bMC_[\w.()-]{0,80}"), " noderg "),
    (re.compile(r"\b\d{1,4}(?:\.\d{1,2})? ?Gi?B?\b"), " gigabytes "),
    (
        re.compile(
            r"\b(?:since|for|takes?|runs?|over|already) (?:about |over |more than |> ?)?"
            r"(?:\d{1,3}\+?|two|three|four|five|several|many) ?(?:s|sec|seconds|h|hrs?|hours?|min|minutes|days?)\b"
            r"|\bsince yesterday\b"
        ),
        " forhours ",
    ),
)
"""`our /26 is too small` speaks of a subnet, `no D8s_v5 in zone 2` of a size, `Updating for 5 hours` of being stuck."""
STANDS_FOR = {
    "cidrsize": "the size of a network",
    "vmsize": "a VM size",
    "noderg": "a node resource group",
    "gigabytes": "gigabytes",
    "forhours": "for so long",
}
"""What those words mean to who reads them."""
_WORD = re.compile(r"[a-z0-9]+")
_NOT = re.compile(
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
    spaced = _HUMPS.sub(" ", text)
    for expression, name in _NAMED:
        spaced = expression.sub(name, spaced)
    spaced = spaced.lower()
    if "n" in spaced:
        spaced = _NOT.sub(" not", spaced)
    return _WORD.findall(spaced)


def sentences(text: str) -> list[list[str]]:
    """The stems of each sentence, in their order."""
    found = []
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
    """Which concepts a run of stems names."""

    def __init__(self, *tables: str) -> None:
        self._runs: dict[str, list[tuple[Phrase, str]]] = defaultdict(list)
        for table in tables:
            for concept, member in _members(table):
                run = tuple(map(stem, words(member)))
                if run:
                    self._runs[run[0]].append((run, concept))

    def named(self, stems: list[str]) -> set[str]:
        """The concepts that these stems name."""
        found = {
            concept
            for at, first in enumerate(stems)
            for run, concept in self._runs.get(first, ())
            if len(run) == 1 or tuple(stems[at : at + len(run)]) == run
        }
        return found | {"unreachable"} if {"neg", "reach"} <= found else found


THESAURUS = Thesaurus(TROUBLE, THINGS, EDGE)

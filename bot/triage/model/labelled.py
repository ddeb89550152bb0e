"""The messages to train on: `messages/<code>.txt`; `none.txt` holds messages that are none of our business.

A message begins after a line `--- kind`, or `--- kind, also code, code` if other answers are right too; it ends at
the next such line. A line of the message that looks like that is indented by a blank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runbooks.library import Runbook

FOLDER = Path(__file__).parents[1] / "messages"
NONE = "none"
PHRASE = "phrase"
"""The kind of what runbooks say of themselves: nobody's message."""
KINDS = frozenset({"human", "error", "alert", "kubectl"})
_MARK = "--- "
OUR_NAMES = (
    "prod-weu",
    "prod-eus2",
    "staging-neu",
    "dev-shared",
    "payments-prod",
    "edge-nexus-01",
    "edge-nexus-02",
    "arc-bridge-hq",
)
"""What the messages call their clusters: what is learned of one is true of all."""


class BadMessages(Exception):
    """A message file that cannot be parsed, with file and line."""


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A message, and the codes it is about."""

    code: str
    also: tuple[str, ...]
    kind: str
    text: str

    @property
    def right(self) -> frozenset[str]:
        return frozenset((self.code, *self.also))


def labelled_messages(folder: Path = FOLDER) -> Iterator[LabelledMessage]:
    """All messages, by code."""
    for file in sorted(folder.glob("*.txt")):
        yield from _of(file)


def training_texts(library: Mapping[str, Runbook]) -> list[LabelledMessage]:
    """All training texts: the messages, and the runbooks' own words. In an order that does not depend on who wrote what
    when.
    """
    phrases = [
        LabelledMessage(runbook.code, (), PHRASE, text)
        for runbook in library.values()
        for text in (runbook.title, *runbook.symptoms.words)
    ]
    return sorted((*labelled_messages(), *phrases), key=lambda message: hashlib.sha256(message.text.encode()).digest())


def _of(file: Path) -> Iterator[LabelledMessage]:
    kind, also, lines = "", tuple[str, ...](), list[str]()
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if not line.startswith(_MARK):
            lines.append(line)
            continue
        if kind:
            yield _message(file, number, kind, also, lines)
        head, _, others = line.removeprefix(_MARK).partition(", also ")
        kind, also, lines = head.strip(), tuple(filter(None, others.replace(",", " ").split())), []
        if kind not in KINDS:
            raise BadMessages(f"{file}:{number}: a message is of kind {', '.join(sorted(KINDS))}; this says {kind!r}")
    if kind:
        yield _message(file, number, kind, also, lines)


def _message(file: Path, line: int, kind: str, also: tuple[str, ...], lines: list[str]) -> LabelledMessage:
    text = "\n".join(lines).strip("\n")
    if not text.strip():
        raise BadMessages(f"{file}:{line}: the message before this line is empty")
    return LabelledMessage(file.stem, also, kind, text)

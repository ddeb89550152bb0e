"""Messages as strangers write them: written before the runbooks' symptoms were read, so that they measure wordings
nobody fitted. Of each kind every second one may be tuned on; the others are for measuring only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).parent


def heard(*, held: bool) -> Iterator[tuple[frozenset[str], str]]:
    """Each message with the codes that are right; `held`: those that nothing is tuned on."""
    right: frozenset[str] = frozenset()
    number = 0
    for line in (_HERE / "heard.txt").read_text().splitlines():
        if line.startswith("== "):
            right, number = frozenset(line[3:].split(",")), 0
            continue
        if number % 2 == held:
            yield right, line.replace("\\n", "\n")
        number += 1


def beside(*, held: bool) -> Iterator[str]:
    """Messages that are none of our business."""
    lines = (_HERE / "heard_beside.txt").read_text().splitlines()
    yield from (line for number, line in enumerate(lines) if number % 2 == held)


def heard_obliquely(*, held: bool) -> Iterator[tuple[frozenset[str], str]]:
    """As people write who do not know what it is: the codes that are right, and the message."""
    for line in _every_second("heard_oblique.txt", held=held):
        codes, _, text = line.partition("| ")
        yield frozenset(codes.split(",")), text


def beside_obliquely(*, held: bool) -> Iterator[str]:
    """Near misses: other problems around clusters, and other clouds' and tools'."""
    yield from _every_second("heard_oblique_beside.txt", held=held)


def _every_second(name: str, *, held: bool) -> Iterator[str]:
    lines = (_HERE / name).read_text().splitlines()
    yield from (line for number, line in enumerate(lines) if number % 2 == held)

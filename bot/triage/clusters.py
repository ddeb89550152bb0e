"""Finds the cluster that a text names: by name, near miss, ARM id, API server address or node resource group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from bot.triage.model.tokens import letters_and_digits
from handlers.fleet.clusters import FleetMember
from runbooks.linear import compile_linear

_GAPS = frozenset("-_ .")
_JOINED = compile_linear(r"[a-z0-9]+(?:[-_][a-z0-9]+)+|[a-z0-9]{6,63}")
_MOST_PIECES = 8
_MOST_READ = 2_000
"""Pieces of a text; a name stands in its first or last lines."""
NEAR_MISS = 5
"""The rank of a name that is misspelt; every other way to name a cluster is more certain."""
_BEGINNING = 4
"""Letters by which a piece may be the first of a name: of a text few are."""
_SHORTEST_MISS = 6
"""Letters of a name that may be misspelt; shorter ones are near to too much."""
_COMPARED = 300
"""In a larger fleet a near miss is compared with the names one slip away only."""
_ANOTHER = compile_linear(r"[-_]\d{1,3}(?:[^\w.-]|$)")
"""`prod-weu-2` is no name for prod-weu."""
_PLAIN = frozenset(
    ("aks", "cluster", "dev", "edge", "k8s", "main", "prod", "production", "qa", "shared", "stage", "staging", "test")
)
"""Names that are words: they count only beside the word cluster, or in quotes."""
_SPOKEN_OF_BEFORE = compile_linear(r"(?:\bclusters?\W{1,3}|\baks\W{1,3}|[`'\"*/=:])$")
_SPOKEN_OF_AFTER = compile_linear(r"\W{1,2}cluster\b|[`'\"*]")
_VERB = compile_linear(r"^ (?:a|an|the|it|this|that|his|her|our|my|some|with)\b")


@dataclass(frozen=True, slots=True)
class Named:
    """A cluster that a text names, and how: a lower rank is more certain."""

    name: str
    by: str
    rank: int
    at: int


@dataclass(frozen=True, slots=True)
class FleetNames:
    """The names of a fleet, prepared for searching. Make it once per fleet."""

    names: tuple[str, ...]
    ties: Mapping[str, str] = field(default_factory=dict)
    """What ties to a cluster by evidence: its resource group in an id, a node's or scale set's name, an address."""
    _pieces: int = field(init=False, repr=False)
    _whole: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)
    _beginnings: frozenset[str] = field(init=False, repr=False)
    _missed: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        whole: dict[str, list[str]] = defaultdict(list)
        missed: dict[str, list[str]] = defaultdict(list)
        for name in dict.fromkeys(self.names):
            squeezed = _squeezed(name)
            if not squeezed:
                continue
            whole[squeezed].append(name)
            if len(squeezed) >= _SHORTEST_MISS:
                for shorter in {squeezed, *_one_less(squeezed)}:
                    missed[shorter].append(name)
        longest = max((len(letters_and_digits(name.lower())) for name in self.names), default=0)
        object.__setattr__(self, "_pieces", min(longest, _MOST_PIECES))
        object.__setattr__(self, "_whole", {key: tuple(names) for key, names in whole.items()})
        beginnings = frozenset(key[:count] for key in whole for count in range(1, _BEGINNING + 1))
        object.__setattr__(self, "_beginnings", beginnings)
        object.__setattr__(self, "_missed", {key: tuple(names) for key, names in missed.items()})

    @classmethod
    def of(cls, members: Iterable[FleetMember]) -> FleetNames:
        """Build it from the fleet. A resource group identifies a cluster only if it holds no other one."""
        members = tuple(members)
        inside: dict[str, list[str]] = defaultdict(list)
        for member in members:
            inside[member.group.lower()].append(member.name)
        alone = {group: names[0] for group, names in inside.items() if group and len(names) == 1}
        return cls(
            tuple(member.name for member in members),
            {f"resourcegroups/{group}/": name for group, name in alone.items()},
        )

    def find(self, text: str) -> list[Named]:
        """The clusters that the text names, the most certain first, each once."""
        lower = text.lower()
        found = [*self._exact(lower), *self._tied(lower)]
        if not found:
            found = list(self._misspelt(lower))
        best: dict[str, Named] = {}
        for match in sorted(found, key=lambda match: (match.rank, match.at)):
            best.setdefault(match.name.lower(), match)
        return list(best.values())

    def _exact(self, lower: str) -> Iterator[Named]:
        pieces = _pieces(lower)
        at = 0
        while at < len(pieces):
            taken = 1
            most = min(self._pieces, len(pieces) - at) if pieces[at].word[:_BEGINNING] in self._beginnings else 0
            for count in range(most, 0, -1):
                run = pieces[at : at + count]
                names = self._whole.get("".join(piece.word for piece in run))
                how = _joined(lower, run) if names else None
                if names and how is not None and _meant(lower, run, names):
                    yield from (Named(name, how[0], how[1], run[0].start) for name in names)
                    taken = count
                    break
            at += taken

    def _tied(self, lower: str) -> Iterator[Named]:
        for tied, name in self.ties.items():
            at = lower.find(tied.lower())
            if at >= 0:
                yield Named(name, f"{tied.strip('/')} belongs to it", 3, at)

    def _misspelt(self, lower: str) -> Iterator[Named]:
        for word in _JOINED.finditer(lower[: 40 * _MOST_READ]):
            squeezed = word[0].replace("-", "").replace("_", "")
            if not _SHORTEST_MISS <= len(squeezed) <= 63:
                continue
            near = {name for key in {squeezed, *_one_less(squeezed)} for name in self._missed.get(key, ())}
            close = {name for name in near if _one_letter_off(squeezed, _squeezed(name))}
            if close and len(self.names) <= _COMPARED:
                close |= {name for name in self.names if _within_two(squeezed, _squeezed(name))}
            for name in sorted(close):
                yield Named(name, f"it is near to “{word[0]}”", NEAR_MISS, word.start())


def chosen(found: Iterable[Named]) -> tuple[str | None, tuple[str, ...]]:
    """The one cluster that is meant, or those that a person has to choose from."""
    ranked = sorted(found, key=lambda match: (match.rank, match.at))
    if not ranked:
        return None, ()
    surest = [match.name for match in ranked if match.rank == ranked[0].rank]
    return (surest[0], ()) if len(surest) == 1 else (None, tuple(surest))


class _Piece(NamedTuple):
    """A run of letters and digits, and its position."""

    word: str
    start: int
    end: int


def _pieces(lower: str) -> list[_Piece]:
    found, at = list[_Piece](), 0
    for word in letters_and_digits(lower)[:_MOST_READ]:
        start = lower.index(word, at)
        at = start + len(word)
        found.append(_Piece(word, start, at))
    return found


def _joined(lower: str, run: list[_Piece]) -> tuple[str, int] | None:
    """How the pieces of a name are joined in the text, or None if they are not."""
    gaps = [lower[piece.end : after.start] for piece, after in pairwise(run)]
    if not _GAPS.issuperset(gaps):
        return None
    before, after = lower[max(0, run[0].start - 1) : run[0].start], lower[run[-1].end : run[-1].end + 12]
    if _ANOTHER.match(after[:5]):
        return None
    inside = before in ("-", "_") or after.startswith(("-", "_"))
    if " " in gaps:
        return None if _VERB.match(after) else ("its name, spelt apart", 4)
    return ("a name that holds its name", 2) if inside else ("its name", 1)


def _meant(lower: str, run: list[_Piece], names: tuple[str, ...]) -> bool:
    if not all(name.lower() in _PLAIN or len(name) < 4 for name in names):
        return True
    start, end = run[0].start, run[-1].end
    before, after = lower[max(0, start - 12) : start], lower[end : end + 12]
    return bool(_SPOKEN_OF_BEFORE.search(before) or _SPOKEN_OF_AFTER.match(after))


def _squeezed(name: str) -> str:
    return "".join(letters_and_digits(name.lower()))


def _within_two(name: str, other: str) -> bool:
    """Two typos away: near enough that it is unclear which of two names was meant."""
    if abs(len(name) - len(other)) > 2:
        return False
    before = list(range(len(other) + 1))
    for at, letter in enumerate(name, 1):
        row = [at]
        for place, mark in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != mark)))
        before = row
    return before[-1] <= 2


def _one_less(word: str) -> Iterator[str]:
    return (word[:at] + word[at + 1 :] for at in range(len(word)))


def _one_letter_off(name: str, other: str) -> bool:
    """One letter added, missing, replaced or swapped. A digit is never a typo: edge-03 is not edge-01."""
    if name == other:
        return False
    start = next((at for at, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), min(len(name), len(other)))
    a, b = name[start:], other[start:]
    for cut_a, cut_b in ((1, 0), (0, 1), (1, 1), (2, 2)):
        if a[cut_a:] == b[cut_b:]:
            gone = a[:cut_a] + b[:cut_b]
            swapped = cut_a < 2 or a[:2] == b[:2][::-1]
            return swapped and gone.isalpha()
    return False

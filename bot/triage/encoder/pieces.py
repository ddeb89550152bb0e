"""A text as the pieces of words that the encoder knows (WordPiece, much as MiniLM was trained on)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

PAD, UNKNOWN, START, END = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
_INNER = "##"
_LONGEST_WORD = 100
"""Letters; a longer one is a token or a hash, and no word."""


class Pieces:
    """The pieces in their order, by which the encoder numbers them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(len(piece.removeprefix(_INNER)) for piece in pieces)

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's pieces, between those of its start and its end."""
        found = [number for word in _WORD.findall(_folded(text)) for number in self._of(word)]
        return [self._numbers[START], *found, self._numbers[END]]

    def unknown_share(self, numbers: Sequence[int]) -> float:
        return numbers.count(self._numbers[UNKNOWN]) / len(numbers)

    def _of(self, word: str) -> list[int]:
        """Each time the longest piece that fits."""
        found, at = list[int](), 0
        while at < len(word) <= _LONGEST_WORD:
            lead = _INNER if at else ""
            for end in range(min(len(word), at + self._longest), at, -1):
                number = self._numbers.get(lead + word[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                return [self._numbers[UNKNOWN]]
        return found or [self._numbers[UNKNOWN]]


def _folded(text: str) -> str:
    """In lower case, without accents."""
    text = text.lower()
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")

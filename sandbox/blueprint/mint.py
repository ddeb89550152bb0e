"""Deterministic ids and names that look random: the same input always gives the same id.

They do not depend on the order of calls, so that a twin differs from its scenario in one fact only.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mint:
    """Generates all ids."""

    seed: str

    def guid(self, *words: object) -> str:
        return str(uuid.UUID(bytes=self._bytes(16, *words), version=4))

    def hex(self, length: int, *words: object) -> str:
        return self._bytes((length + 1) // 2, *words).hex()[:length]

    def number(self, low: int, high: int, *words: object) -> int:
        """A number from `low` to `high`, inclusive."""
        return low + int.from_bytes(self._bytes(8, *words)) % (high - low + 1)

    def digits(self, length: int, *words: object) -> str:
        return str(self.number(10 ** (length - 1), 10**length - 1, *words))

    def word(self, length: int, *words: object) -> str:
        """Lower-case letters and digits, as in an AKS host name."""
        alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
        return "".join(alphabet[byte % 36] for byte in self._bytes(length, *words))

    def _bytes(self, length: int, *words: object) -> bytes:
        text = "\x1f".join([self.seed, *map(str, words)])
        return hashlib.blake2b(text.encode(), digest_size=max(length, 8)).digest()[:length]

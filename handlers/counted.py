"""Numbers with their noun, as people read them: `1 node`, `3 nodes`, `no node`. Findings and clear answers use it."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural or noun + 's'}" if number else f"no {noun}"

"""What a finding keeps of a limit that was reached: what holds it, what is wanted. Drawn under the answer as a bar.

A finding that has it under `HEADROOM` in its `facts` gets the picture; no other place names its code.
"""

from __future__ import annotations

from collections.abc import Iterable

HEADROOM = "headroom"

Share = tuple[str, int]
"""Who, and how much of it."""


def headroom(of: str, unit: str, limit: int, held: Iterable[Share], wanted: Iterable[Share]) -> dict[str, object]:
    """The fact. `of` names what is limited ("Standard DSv5 Family vCPUs in westeurope"), `unit` what is counted."""
    return {"of": of, "unit": unit, "limit": limit, "held": _rows(held), "wanted": _rows(wanted)}


def _rows(shares: Iterable[Share]) -> list[dict[str, object]]:
    return [{"who": who, "count": count} for who, count in shares if count > 0]

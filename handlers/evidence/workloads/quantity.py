"""Kubernetes quantities (`250m`, `1Gi`, `2e3`) as exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

_SUFFIXES = {
    **{f"{unit}i": Decimal(1024) ** (power + 1) for power, unit in enumerate("KMGTPE")},
    **{unit: Decimal(1000) ** (power + 1) for power, unit in enumerate(("k", "M", "G", "T", "P", "E"))},
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
}


def amount(value: object) -> Decimal:
    """A quantity as a number: cores, bytes or a count. What cannot be read is none."""
    text = str(value).strip()
    suffix = next((end for end in (text[-2:], text[-1:]) if end in _SUFFIXES), "")
    try:
        return Decimal(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except InvalidOperation:
        return Decimal(0)


def added(*all_of_them: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Several sets of resources as one."""
    total: dict[str, Decimal] = {}
    for resources in all_of_them:
        for name, value in resources.items():
            total[name] = total.get(name, Decimal(0)) + value
    return total

"""Kubernetes quantities (`250m`, `1.5Gi`), in thousandths, and back as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

Amounts = Mapping[str, int]
"""How much of each resource, in thousandths: a CPU is 1000, a byte is 1000, a GPU is 1000."""

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_SCALES = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LONGEST = 40
_IN_BYTES = ("memory", "ephemeral-storage", "storage")


def thousandths(quantity: Any) -> int:
    """A quantity in thousandths, rounded up as Kubernetes rounds; one that cannot be read counts as nothing."""
    told = str(quantity).strip() if isinstance(quantity, str | int | float) else ""
    if not told or len(told) > _LONGEST:
        return 0
    try:
        value = _value(told) * 1000
        return int(value.to_integral_value(rounding="ROUND_CEILING")) if value.is_finite() else 0
    except (InvalidOperation, OverflowError):
        return 0


def _value(told: str) -> Decimal:
    if told[-2:] in _UNITS:
        return Decimal(told[:-2]) * _UNITS[told[-2:]]
    if told[-1] in _SCALES and not told[-1].isdigit():
        return Decimal(told[:-1]).scaleb(_SCALES[told[-1]])
    return Decimal(told)


def amounts(body: Any) -> dict[str, int]:
    """A resource list from its wire body."""
    return {str(name): thousandths(value) for name, value in body.items()} if isinstance(body, Mapping) else {}


def added(one: Amounts, other: Amounts) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def larger(one: Amounts, other: Amounts) -> dict[str, int]:
    """Of each resource the larger amount."""
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def spoken(resource: str, amount: int) -> str:
    """An amount as a person says it: `2.5 CPUs`, `1.2 GiB`, `3`."""
    if resource == "cpu":
        return f"{_short(amount / 1000)} CPU{'' if amount == 1000 else 's'}"
    if resource in _IN_BYTES or resource.startswith("hugepages-"):
        gib = amount / 1000 / 2**30
        return f"{_short(gib)} GiB" if abs(gib) >= 1 else f"{_short(amount / 1000 / 2**20)} MiB"
    return _short(amount / 1000)


def written(resource: str, amount: int) -> str:
    """An amount as a manifest has it: `2500m`, `1229Mi`, `3`. Rounded up, so that what asks for it gets enough."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if resource in _IN_BYTES or resource.startswith("hugepages-"):
        return f"{-(-amount // (1000 * 2**20))}Mi"
    return str(-(-amount // 1000))


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".") if abs(number) < 100 else f"{number:.0f}"

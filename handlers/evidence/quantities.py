"""Kubernetes quantities (`250m`, `1Gi`, `2e3`) as exact numbers: read, added, compared, and put into words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation

Amounts = Mapping[str, Decimal]
"""How much of each resource: CPUs, bytes, or a count."""

NONE = Decimal(0)
_IN_BYTES = ("memory", "ephemeral-storage", "storage")
_MIB, _GIB = Decimal(2**20), Decimal(2**30)
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


def larger(item: Amounts, other: Amounts) -> dict[str, Decimal]:
    """Of each resource the larger amount."""
    return {name: max(item.get(name, NONE), other.get(name, NONE)) for name in {**item, **other}}


def spoken(resource: str, amount: Decimal) -> str:
    """An amount as a person says it: `2.5 CPUs`, `1.2 GiB`, `3`."""
    if resource == "cpu" and 0 < amount < Decimal("0.1"):
        return written(resource, amount)
    if resource == "cpu":
        return f"{_short(amount)} CPU{'' if amount == 1 else 's'}"
    if _in_bytes(resource):
        return f"{_short(amount / _GIB)} GiB" if abs(amount) >= _GIB else f"{_short(amount / _MIB)} MiB"
    return _short(amount)


def written(resource: str, amount: Decimal) -> str:
    """An amount as a manifest has it: `2500m`, `1229Mi`, `3`. Rounded up, so that what asks for it gets enough."""
    return _written(resource, amount, ROUND_CEILING)


def written_within(resource: str, amount: Decimal) -> str:
    """The same rounded down, so that it fits into what is free; empty where nothing is left of it."""
    least = _written(resource, amount, ROUND_FLOOR)
    return least if least.rstrip("Mim") != "0" and amount > 0 else ""


def _written(resource: str, amount: Decimal, rounding: str) -> str:
    if resource == "cpu":
        whole = amount == amount.to_integral_value()
        return _whole(amount, rounding) if whole else f"{_whole(amount * 1000, rounding)}m"
    return f"{_whole(amount / _MIB, rounding)}Mi" if _in_bytes(resource) else _whole(amount, rounding)


def _in_bytes(resource: str) -> bool:
    return resource in _IN_BYTES or resource.startswith("hugepages-")


def _whole(amount: Decimal, rounding: str) -> str:
    return str(int(amount.to_integral_value(rounding=rounding)))


def _short(amount: Decimal) -> str:
    return f"{amount:.2f}".rstrip("0").rstrip(".") if abs(amount) < 100 else f"{amount:.0f}"

"""Amounts of memory as Kubernetes writes them (`512Mi`, `1.5Gi`, `13417728`), and as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from handlers.evidence.wire import dig

_UNITS = {
    "": 1,
    "m": Decimal("0.001"),
    **{unit: 1000**power for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
GIB, MIB = 1024**3, 1024**2


def in_bytes(said: object) -> int | None:
    """The bytes that a quantity stands for; None where it is missing or cannot be read."""
    written = str(said).strip() if isinstance(said, str | int | float) and not isinstance(said, bool) else ""
    number = written.rstrip("kKMGTPEim")
    unit = _UNITS.get(written[len(number) :])
    try:
        return int(Decimal(number) * unit) if number and unit is not None else None
    except (InvalidOperation, OverflowError, ValueError):
        return None


def memory_of(resources: Mapping[str, Any] | None, kind: str) -> int | None:
    """The memory under `requests` or `limits` of a container or a pod, if it has one."""
    return in_bytes(dig(resources, kind, "memory"))


def readable(amount: int) -> str:
    """`12.7 GiB`, or `310 MiB` below one."""
    return f"{amount / GIB:.1f} GiB" if amount >= GIB else f"{amount / MIB:.0f} MiB"

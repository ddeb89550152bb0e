"""The name of a picture's file."""

from __future__ import annotations

_LONGEST = 60


def plain_name(name: str) -> str:
    """Letters, digits, `_` and `-`, whatever a cluster is called."""
    kept = "".join(item if item.isascii() and (item.isalnum() or item in "_-") else "-" for item in name)
    return kept[:_LONGEST] or "cluster"

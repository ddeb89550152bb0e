"""Names for files of pictures."""

from __future__ import annotations

_LONGEST = 60


def plain(name: str) -> str:
    """A cluster's name as a part of a file's name."""
    kept = "".join(item if item.isascii() and (item.isalnum() or item in "_-") else "-" for item in name)
    return kept[:_LONGEST] or "cluster"

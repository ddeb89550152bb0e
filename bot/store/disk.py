"""Whether the disk has room for what the embedded server must write before it answers."""

from __future__ import annotations

import shutil
from pathlib import Path

RESERVE = 8 * 1024 * 1024
"""What runs is written to the end with it, and the server need not stop in the middle of a write."""
_SHARE = 20
"""A small volume keeps less in reserve: one part of so many."""


def why_no_room(folder: Path) -> str | None:
    """Why nothing new should be written there, in words; None where there is room."""
    try:
        disk = shutil.disk_usage(folder)
    except OSError as lost:
        return f"its folder cannot be looked at: {lost.strerror or type(lost).__name__}"
    if disk.free >= min(RESERVE, disk.total // _SHARE):
        return None
    return f"its disk is full, with {disk.free // 1024:,} kB left"

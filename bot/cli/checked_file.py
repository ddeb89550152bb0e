"""Whether a file can be written: asked before a check runs, not after it."""

from __future__ import annotations

from pathlib import Path

from handlers.problem import Exit, Problem


def must_be_writable(file: Path, what: str = "record") -> None:
    """Raises a Problem where it cannot. A file that did not exist does not exist afterwards either."""
    try:
        existed = file.exists()
        with file.open("ab"):
            pass
        if not existed:
            file.unlink()
    except OSError as refused:
        why = refused.strerror or str(refused)
        raise Problem(
            f"cannot {what} to {file}", why, "name a file in a folder you may write to", code=Exit.USAGE
        ) from refused

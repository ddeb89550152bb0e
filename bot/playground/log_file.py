"""Sends the log of a bot to a file, so that its terminal stays readable."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.log_redaction import quiet_clients


@contextmanager
def log_to(file: Path) -> Iterator[Path]:
    """Log everything from INFO up to this file while the context is open."""
    root, before = logging.getLogger(), logging.getLogger().level
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    quiet_clients()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield file
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
        handler.close()

"""Setup and teardown shared by all tests of the whole bot."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.checks.conftest import BROKEN

__all__ = ["collected", "let_coredis_break", "nobodys_settings"]


def let_coredis_break(items: list[pytest.Item], folder: Path) -> None:
    """Ignore coredis's warnings about broken connections in the tests of a folder."""
    for item in items:
        if item.path.parent == folder:
            item.add_marker(pytest.mark.filterwarnings(BROKEN))


@pytest.fixture(autouse=True)
def collected(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run the garbage collector after each test, so that leaks are reported in the test that caused them."""
    _freeze_what_lasts(request.module.__name__)
    yield
    gc.collect()


@lru_cache(maxsize=1)
def _freeze_what_lasts(_before_module: str) -> None:
    """Code, and what the modules before have kept, need no second look: a collection is faster without them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run in an empty folder, with no settings but the test's own."""
    for name in os.environ:
        if name.startswith(("AKSBOT_", "AZURE_", "REDIS_", "SLACK_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

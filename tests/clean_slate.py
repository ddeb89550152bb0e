"""What every test of the whole bot begins and ends with."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checks.conftest import BROKEN

__all__ = ["collected", "let_coredis_break", "nobodys_settings"]


def let_coredis_break(items: list[pytest.Item], folder: Path) -> None:
    """Of the tests of a folder: what coredis says of a broken connection is no failure."""
    for item in items:
        if item.path.parent == folder:
            item.add_marker(pytest.mark.filterwarnings(BROKEN))


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What is left for the garbage collector is found in the test that left it."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own, in a folder of its own."""
    for name in os.environ:
        if name.startswith(("AKSBOT_", "AZURE_", "REDIS_", "SLACK_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

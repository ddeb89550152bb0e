"""Isolates tests from this machine's settings, and reports coredis leaks in the test that caused them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clean_slate import collected, let_coredis_break, nobodys_settings

__all__ = ["collected", "nobodys_settings"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    let_coredis_break(items, Path(__file__).parent)

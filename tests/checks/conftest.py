"""A real server for each test, in a folder of its own."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected

BROKEN = "ignore:Exception ignored in.*MemoryObject:pytest.PytestUnraisableExceptionWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """coredis leaves the streams of a connection that breaks, or was never made, to the garbage collector."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings(BROKEN))


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What is left for the garbage collector is found in the test that left it, not in the next one."""
    yield
    gc.collect()


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path) as opened:
        yield opened

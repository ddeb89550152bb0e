"""Runs these tests on a virtual clock, so that they do not depend on how busy the machine is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.virtual_time import VirtualLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], VirtualLoop]]:
    return {"virtual time": VirtualLoop}

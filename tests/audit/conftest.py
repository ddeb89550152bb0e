"""An audit log with six records on a real Redis server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.audit.record import Actor, Entry, What
from bot.audit.store import Audit
from bot.store.connect import Connection, connected

WHO = Actor("T1", "U1", "somebody")


def entry(number: int) -> Entry:
    return Entry(What.APPROVED, WHO, "/subscriptions/s/x", reason=f"because {number}")


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path) as opened:
        yield opened


@pytest.fixture
async def audit(connection: Connection) -> Audit:
    audit = Audit(connection.redis)
    for number in range(6):
        await audit.write(entry(number))
    return audit

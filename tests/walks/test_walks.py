"""What the three ways pass: documented as pictures in docs/architecture.md, and not to grow unseen."""

from __future__ import annotations

import pytest

from tests.walks.trace import Trace
from tests.walks.walking import walk

MOST_MODULES = 200
"""Of one way, without the folders that have a file for each question, fact or fix. What runs beside it counts, too."""
MOST_READS = 7
"""A cluster's name: once at the door, and with each job and listener that comes back from Redis."""
MOST_LOADS = 35
"""A proposal: before each of its moves, as another replica may have moved it."""


@pytest.mark.parametrize("name", ["check", "fix", "incident"])
async def test_a_way_passes_few_modules_and_reads_nothing_twice_in_one_process(name: str) -> None:
    trace: Trace = (await walk(name)).trace
    parsed = trace.parsed()
    assert 100 < len(trace.narrow) <= MOST_MODULES
    assert 1 <= parsed["cluster as typed"] <= MOST_READS
    assert parsed["plan"] <= 1
    assert parsed["proposal"] <= MOST_LOADS
    assert (parsed["proposal"] > 0) is (name == "fix")
    assert parsed["job"] > 0

"""The modules on the three code paths, drawn in docs/architecture.md, must not grow unnoticed."""

from __future__ import annotations

import pytest

from tests.walks.trace import Trace
from tests.walks.walking import walk

MOST_MODULES = 210
"""Per walk, without the folders that have one file per diagnostic, fact or fix. Concurrent code counts too."""
MOST_READS = 8
"""Parses of a cluster's name: once on input, and for each job and listener loaded from Redis."""
MOST_LOADS = 35
"""Loads of a proposal: before each transition, as another replica may have changed it."""


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

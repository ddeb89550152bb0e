"""`make test` runs a seeded sample of the long walks, `make soak` all of them. `AKSBOT_SAMPLE=2` takes another one."""

from __future__ import annotations

import os
from pathlib import Path
from zlib import crc32

import pytest

HERE = Path(__file__).parent

ONE_OF = {
    "slack_app": 5,
    "scenarios": 4,
    "chaos": 6,
    "browser": 3,
    "remedy_execution": 3,
    "incidents": 2,
    "whole_bot_killed": 10,
    "worlds": 8,
}
"""Folders whose tests each start an Azure, its clusters, a Slack or a browser: one test of so many is in the sample."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is not in the sample is marked `soak`; a run without `-m "not soak"` has everything."""
    seed = os.environ.get("AKSBOT_SAMPLE", "1")
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if crc32(f"{seed} {item.nodeid}".encode()) % ONE_OF.get(folder, 1):
            item.add_marker(pytest.mark.soak)

"""`make test` runs a sample of the long randomized tests, `make soak` all of them (see `tests/sample.py`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import sample

HERE = Path(__file__).parent

# How long an example takes tells how busy the machine is, not whether the code is right.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

ONE_OF = {
    "slack_app": 60,
    "scenarios": 24,
    "chaos": 32,
    "browser": 16,
    "remedy_execution": 8,
    "incidents": 4,
    "whole_bot_killed": 36,
    "worlds": 48,
    "bot/test_check_command.py": 4,
    "bot/test_plan_command.py": 3,
    "bot/test_drill_command.py": 3,
    "bot/test_playground.py": 3,
    "bot/test_bombs.py": 4,
}
"""Folders and files with expensive tests (Azure, clusters, Slack, a browser or a process each): one in this many is in
the sample."""


def pytest_configure(config: pytest.Config) -> None:
    """Parallel workers must use the same sample, even if someone commits in the meantime."""
    os.environ.setdefault(sample.VARIABLE, sample.seed())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"sample of the long walks: {sample.VARIABLE}={sample.seed()}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests outside the sample as `soak`; a run without `-m "not soak"` includes them."""
    for item in items:
        inside = item.path.relative_to(HERE)
        if not sample.takes(item.nodeid, ONE_OF.get(inside.as_posix(), ONE_OF.get(inside.parts[0], 1))):
            item.add_marker(pytest.mark.soak)

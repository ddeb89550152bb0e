"""Runs a check with progress in the terminal."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bot.render.terminal import Progress
from bot.report.events import Event, Report


async def watched(cluster: str, events: AsyncGenerator[Event, None]) -> Report:
    """Show live progress until the report."""
    with Progress(cluster) as progress:
        async with aclosing(events) as following:
            async for event in following:
                progress.show(event)
                if isinstance(event, Report):
                    return event
    raise AssertionError("a check ends with a report")

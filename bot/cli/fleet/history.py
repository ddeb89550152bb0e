"""`aksbot history` and `aksbot clusters`: what the bot's memory holds, beside a running bot or without it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from bot import settings
from bot.audit.store import Audit
from bot.checks.check import find
from bot.checks.clients import Clients, azure_access, clients, kube_access
from bot.checks.fleet.lines import FleetRow, Standing, age_said, counted, place_said, rows, verdict_said
from bot.checks.library import load
from bot.checks.store.verdicts import Verdicts
from bot.incidents.history import Histories
from bot.incidents.store import Incidents
from bot.render.clean import one_line, width
from bot.render.line import Line
from bot.render.over_time.past import history_lines
from bot.render.terminal import show_lines
from bot.render.verdict import count
from bot.report.past import History
from bot.store.connect import Connection, beside
from handlers.fleet.clusters import fleet
from handlers.problem import Exit
from runbooks.library import Library

T = TypeVar("T")

_STYLES = {
    Standing.UNHEALTHY: "found",
    Standing.INCOMPLETE: "inconclusive",
    Standing.WARNING: "warning",
    Standing.HEALTHY: "clear",
}


def show_history(cluster: str) -> int:
    """Verdicts and fixes; incidents are told where they were reported, in Slack."""

    async def read(opened: Clients, connection: Connection, library: Library) -> History:
        redis = connection.redis
        histories = Histories(Verdicts(redis), Incidents(redis), Audit(redis), library)
        return await histories.of(await find(cluster, opened.arm), team="")

    show_lines(history_lines(_with(read), width()))
    return int(Exit.CLEAR)


def show_clusters() -> int:
    """The fleet by last verdict."""

    async def read(opened: Clients, connection: Connection, library: Library) -> list[Line]:
        members = await fleet(opened.arm)
        latest = await Verdicts(connection.redis).latest([member.id for member in members])
        return fleet_lines(rows(members, latest), library, datetime.now(UTC))

    show_lines(_with(read))
    return int(Exit.CLEAR)


def fleet_lines(listed: list[FleetRow], library: Library, now: datetime) -> list[Line]:
    """One line for each cluster; what needs somebody first."""
    longest = max((len(one_line(row.member.name)) for row in listed), default=0)
    told = f"{count(len(listed), 'cluster')} by last verdict: {counted(row.standing for row in listed)}"
    lines = [Line.of((told, "title"))] if listed else [Line.of(("There is no cluster that may be read.", ""))]
    return lines + [row_line(row, library, longest, age_said(row.verdict, now)) for row in listed]


def row_line(row: FleetRow, library: Library, longest: int, age: str) -> Line:
    """One cluster, its name as wide as the longest."""
    rest = " · ".join(filter(None, [age, *place_said(row.member)]))
    name, said = one_line(row.member.name), verdict_said(row.verdict, library)
    style = _STYLES.get(row.standing, "dim")
    return Line.of((f"{name:<{longest}}  ", ""), (said, style), (f" · {rest}" if rest else "", "dim"))


def _with(read: Callable[[Clients, Connection, Library], Awaitable[T]]) -> T:
    async def run() -> T:
        chosen = settings.load()
        url = chosen.redis_url.get_secret_value() if chosen.redis_url else None
        access = azure_access(chosen), kube_access(chosen)
        async with clients(*access) as opened, beside(url, chosen.data_dir) as connection:
            return await read(opened, connection, load(chosen))

    return asyncio.run(run())

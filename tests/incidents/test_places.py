"""The names of clusters, which are looked for in each message: nobody waits for Azure twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from bot.checks.clients import clients
from bot.slack.incidents.places import FLEET_LASTS_S, Places
from handlers.clients.kube.access import KubeAccess
from sandbox.arm.faults import Fault
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.checking import access, azure


class _NoSlack:
    """The list of clusters asks Azure alone."""

    client: Any = None


@asynccontextmanager
async def listing(lasts_s: float) -> AsyncIterator[tuple[Places, ArmServer]]:
    nobody: Any = _NoSlack()
    async with (
        azure(Scenario.load("healthy-fleet").world) as server,
        clients(access(server), KubeAccess(), fresh_for_s=0) as opened,
        aclosing(Places(nobody, nobody, opened.arm, fleet_lasts_s=lasts_s)) as places,
    ):
        yield places, server


async def test_while_the_list_is_slow_messages_are_read_with_the_names_it_gave_before() -> None:
    async with listing(lasts_s=0) as (places, server):
        first = await places.fleet()
        assert "prod-weu" in first.names.names
        server.faults.append(Fault("timeout"))
        async with asyncio.timeout(20):
            assert [await places.fleet() for _ in range(3)] == [first] * 3


async def test_whoever_waits_for_the_first_list_gets_it_and_azure_is_asked_once() -> None:
    async with listing(FLEET_LASTS_S) as (places, server):
        found = await asyncio.gather(*(places.fleet() for _ in range(5)))
        assert all(fleet is found[0] for fleet in found)
        assert len([one for one in server.log if "resourcegraph" in one.path.lower()]) == 1

"""Certificates of connected clusters that end soon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.checks.clients import clients
from handlers.changes.expiring import SOON, Expiry, expiring
from handlers.clients.kube.access import KubeAccess
from handlers.fleet.clusters import fleet
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.checking import access, azure

NOW = datetime.now(UTC).replace(microsecond=0)
READ = "Microsoft.Kubernetes/connectedClusters/read"


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("healthy-fleet").world) as server:
        yield server


def connected(arm: ArmServer) -> list[dict[str, Any]]:
    found = [body for key, body in arm.world.resources.items() if body and "/connectedclusters/" in key]
    return [body for body in found if body["type"].lower() == "microsoft.kubernetes/connectedclusters"]


def ends(body: dict[str, Any], at: datetime | None) -> str:
    body["properties"]["managedIdentityCertificateExpirationTime"] = f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None
    return str(body["name"])


async def found(arm: ArmServer) -> list[Expiry]:
    async with clients(access(arm), KubeAccess()) as opened:
        return await expiring(await fleet(opened.arm), opened.arm, NOW)


async def test_a_fleet_whose_certificates_are_renewed_has_none(arm: ArmServer) -> None:
    assert connected(arm)
    assert await found(arm) == []


async def test_the_last_two_weeks_are_soon_and_what_has_ended_comes_first(arm: ArmServer) -> None:
    first, second, *_ = connected(arm)
    soon = ends(first, NOW + SOON - timedelta(hours=1))
    over = ends(second, NOW - timedelta(days=1))
    assert [item.cluster for item in await found(arm)] == [over, soon]
    ends(first, NOW + SOON + timedelta(hours=1))
    assert [item.cluster for item in await found(arm)] == [over]


async def test_one_that_never_got_a_certificate_is_a_matter_of_its_check(arm: ArmServer) -> None:
    ends(connected(arm)[0], None)
    assert await found(arm) == []


async def test_what_may_not_be_read_is_said(arm: ArmServer) -> None:
    async with clients(access(arm), KubeAccess()) as opened:
        members = await fleet(opened.arm)
        arm.deny("reader", READ)
        told = await expiring(members, opened.arm, NOW)
    assert told
    assert all(item.until is None for item in told)

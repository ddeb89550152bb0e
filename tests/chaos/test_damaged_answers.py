"""Every route × every kind of damage to a response: the check ends in time, says what it could not see, and
never reports something as clear without having seen it."""

import logging

import pytest

from handlers.evidence.azure import AgentPools
from handlers.model import Diagnosis, Evidence, Outcome
from tests.chaos.damage import DAMAGES, DEADLINE_S, Route, harmed, routes_of, sampled, side_by_side, struck, world_of
from tests.checking import azure, check, wrongly_clear

SCENARIO, CLUSTER = "healthy-fleet", "prod-eus2"
POOLS = "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ContainerService/managedClusters/{}/agentPools"
HEALTH = "/readyz"
"""Routes where an error means that the API server itself has a problem: reporting it is not a false alarm."""


@pytest.mark.parametrize("damage", DAMAGES)
async def test_no_damaged_answer_is_ever_clear(damage: str, caplog: pytest.LogCaptureFixture) -> None:
    await walk(sampled(await routes_of(SCENARIO, CLUSTER), damage), damage)
    assert errors_in(caplog) == []


@pytest.mark.soak
@pytest.mark.parametrize("damage", DAMAGES)
async def test_no_damaged_answer_is_ever_clear_on_any_route(damage: str, caplog: pytest.LogCaptureFixture) -> None:
    await walk(await routes_of(SCENARIO, CLUSTER), damage)
    assert errors_in(caplog) == []


async def test_a_check_asks_azure_and_the_cluster() -> None:
    routes = await routes_of(SCENARIO, CLUSTER)
    assert len([route for route in routes if not route.inside]) >= 16
    assert len([route for route in routes if route.inside]) >= 5


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_list_of_which_only_the_first_page_comes_is_no_list(damage: str) -> None:
    """The second page is damaged: an incomplete list must not lead to a clear verdict."""
    async with azure(world_of(SCENARIO), page_size=1) as server:
        pools = Route(POOLS, frozenset({AgentPools}))
        pools.strike(server, CLUSTER, damage, skip=1)
        diagnosis = await check(server, CLUSTER, deadline_s=DEADLINE_S)
        assert next(request.status for request in server.log if request.route == POOLS) == 200
    judge(diagnosis, pools)
    outcomes = {one.id: one.outcome for one in diagnosis.checks}
    assert outcomes["nodepool-failed"] is Outcome.INCONCLUSIVE


async def walk(routes: list[Route] | tuple[Route, ...], damage: str) -> None:
    async def one(route: Route) -> None:
        judge(await struck(SCENARIO, CLUSTER, route, damage), route)

    await side_by_side(harmed(routes, damage), one)


def judge(diagnosis: Diagnosis, route: Route) -> None:
    alarms = {"api-server-unavailable"} if route.template == HEALTH else set()
    found = {one.id for one in diagnosis.checks if one.outcome is Outcome.FOUND}
    assert found <= alarms, (
        f"{route.template}: false alarms: {[ranked.finding.because for ranked in diagnosis.findings]}"
    )
    assert diagnosis.unseen or found, f"{route.template}: nothing was said"
    acquitted = wrongly_clear(diagnosis, lost(route, found), in_health=True)
    assert not acquitted, f"{route.template}: clear, and not seen: {acquitted}"
    for one in diagnosis.checks:
        assert one.outcome is not Outcome.CRASHED, f"{route.template}: {one.id}: {one.why}"
        assert "Traceback" not in one.why


def lost(route: Route, found: set[str]) -> frozenset[type[Evidence]]:
    """An HTML page or an error from `/readyz` is evidence in itself, and is reported."""
    return frozenset() if route.template == HEALTH and "api-server-unavailable" in found else route.kinds


def errors_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Tracebacks in the log: a response was not handled properly."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]

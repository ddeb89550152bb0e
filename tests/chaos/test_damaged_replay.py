"""A recorded check with missing evidence has the same findings and the same gaps when replayed offline."""

from pathlib import Path

import pytest

from handlers.clients.recording.case import Recorder
from handlers.evidence.compute import Instances
from handlers.evidence.governance import Locks, Policies, RoleAssignments
from handlers.evidence.network import PoolSubnets
from handlers.evidence.providers import ProviderRegistrations
from handlers.model import Diagnosis
from tests.chaos.damage import DEADLINE_S, Route, routes_of, sampled, side_by_side, struck, world_of
from tests.checking import cluster_id
from tests.replaying import replayed, verdict

FAILURES = ("timeout", "403", "500", "half")
ASKED_IN_PARTS = {Policies, RoleAssignments, Locks, Instances, PoolSubnets, ProviderRegistrations}
"""A collector that waits for several responses loses them all on timeout; the recording has those that arrived."""
CASES = (("healthy-fleet", "prod-eus2"), ("quota-blocks-upgrade", "prod-weu"))


@pytest.mark.parametrize("damage", FAILURES)
@pytest.mark.parametrize(("scenario", "cluster"), CASES)
async def test_what_went_wrong_goes_wrong_again(scenario: str, cluster: str, damage: str, tmp_path: Path) -> None:
    await play(scenario, cluster, damage, sampled(await routes_of(scenario, cluster), damage), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("damage", FAILURES)
@pytest.mark.parametrize(("scenario", "cluster"), CASES)
async def test_what_went_wrong_on_any_route_goes_wrong_again(
    scenario: str, cluster: str, damage: str, tmp_path: Path
) -> None:
    await play(scenario, cluster, damage, await routes_of(scenario, cluster), tmp_path)


async def play(scenario: str, cluster: str, damage: str, routes: list[Route] | tuple[Route, ...], folder: Path) -> None:
    target = str(cluster_id(world_of(scenario), cluster))

    async def one(route: Route) -> None:
        case, recorder = folder / f"{routes.index(route)}.zip", Recorder(target)
        first = await struck(scenario, cluster, route, damage, recorder)
        recorder.save(case)
        again = await replayed(case, DEADLINE_S)
        if route.kinds & ASKED_IN_PARTS:
            assert sorted(set(outcomes(again)) ^ set(outcomes(first))) == [], route.template
        else:
            assert verdict(again) == verdict(first), route.template

    await side_by_side(routes, one)


def outcomes(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(one.id, one.outcome) for one in diagnosis.checks]

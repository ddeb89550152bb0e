"""When what runs will end: from how long the same took on this cluster before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.checks.clients import clients
from handlers.changes.estimate import Estimate, estimate
from handlers.clients.kube.access import KubeAccess
from handlers.model import Target
from tests.checking import access
from tests.handlers.changes.logged import AKS, CLUSTER_WRITE, POOL_WRITE, SCALE_SET_WRITE, now, only, operation
from tests.handlers.changes.test_changes import READ, Here, here

__all__ = ["here"]

DAY = timedelta(days=1)


async def estimated(here: Here) -> Estimate | None:
    async with clients(access(here.server), KubeAccess()) as opened:
        return await estimate(Target(here.id), opened.arm)


def ran(
    here: Here, days: int, minutes: int, ends: str = "Succeeded", name: str = POOL_WRITE
) -> list[dict[str, object]]:
    resource = here.pool if name == POOL_WRITE else str(here.id)
    return operation(resource, name, now() - days * DAY, ("Accepted", 0), (ends, minutes), request=f"{name}{days}")


async def test_it_ends_when_the_longest_of_the_last_times_would(here: Here) -> None:
    began = now() - timedelta(minutes=5)
    running = operation(here.pool, POOL_WRITE, began, ("Accepted", 0), request="r")
    only(here.world, running, ran(here, 1, 31), ran(here, 2, 42), ran(here, 3, 35))
    found = await estimated(here)
    assert found is not None
    by = began + timedelta(minutes=42)
    assert found.said(now()) == (
        f"node pool apps: created or updated, since {began:%H:%M} UTC. "
        f"It took 31 min to 42 min the last 3 times, so it should end by {by:%H:%M} UTC."
    )


async def test_failures_other_operations_and_other_pools_say_nothing_about_it(here: Here) -> None:
    running = operation(here.pool, POOL_WRITE, now() - timedelta(minutes=5), ("Accepted", 0), request="r")
    other = operation(f"{here.id}/agentPools/spot", POOL_WRITE, now() - DAY, ("Succeeded", 9), request="o")
    only(here.world, running, ran(here, 1, 3, "Failed"), ran(here, 2, 50, name=CLUSTER_WRITE), other)
    found = await estimated(here)
    assert found is not None
    assert found.before == ()
    assert "its end cannot be estimated" in found.said(now())


async def test_an_upgrade_is_not_compared_with_a_write_that_touched_no_node(here: Here) -> None:
    def rolls(days: float, request: str, *ends: tuple[str, int]) -> list[list[dict[str, object]]]:
        began, told = now() - days * DAY, {"correlation": request}
        above = operation(str(here.id), CLUSTER_WRITE, began, *ends, request=request, **told)
        return [
            above,
            operation(here.scale_set, SCALE_SET_WRITE, began, *ends, request=f"{request}b", caller=AKS, **told),
        ]

    only(
        here.world,
        *rolls(0.01, "r", ("Accepted", 0)),
        *rolls(2, "a", ("Succeeded", 66)),
        ran(here, 1, 3, name=CLUSTER_WRITE),
    )
    found = await estimated(here)
    assert found is not None
    assert found.before == (timedelta(minutes=66),)


async def test_what_takes_longer_than_ever_is_said_to(here: Here) -> None:
    running = operation(here.pool, POOL_WRITE, now() - timedelta(minutes=50), ("Accepted", 0), request="r")
    only(here.world, running, ran(here, 1, 31))
    found = await estimated(here)
    assert found is not None
    assert found.said(now()).endswith("That is longer than the last time: 31 min.")


@pytest.mark.parametrize("denied", [False, True], ids=["nothing runs", "the log may not be read"])
async def test_where_nothing_is_known_to_run_nothing_is_estimated(here: Here, denied: bool) -> None:
    only(here.world, ran(here, 1, 31))
    if denied:
        only(here.world, operation(here.pool, POOL_WRITE, now() - timedelta(minutes=5), ("Accepted", 0)))
        here.server.deny("reader", READ)
    assert await estimated(here) is None


async def test_an_operation_whose_end_is_missing_in_the_log_does_not_run(here: Here) -> None:
    lost = operation(here.pool, POOL_WRITE, now() - 3 * DAY, ("Accepted", 0), request="lost")
    only(here.world, lost, ran(here, 1, 31))
    assert await estimated(here) is None

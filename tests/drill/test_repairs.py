"""Fixes in drills: played from the button to the end, and judged by what was said and by what was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.drill.play import drill
from bot.drill.repair import differing
from bot.drill.result import Played
from bot.playground.scenarios import scenario_called
from sandbox.scenario import Scenario
from tests.fixes.plans import PLAN, POOL

FIXABLE = [one.name for one in Scenario.heads() if one.repairs]
HERE = ("nodepool-failed", "pdb-blocks-drain", "drain-error-lost-pod")
"""A write to Azure, writes to both, a write to Kubernetes. The others are in the soak."""


async def played(name: str) -> Played:
    [done] = await drill(scenario_called, [name], twins=False, over_http=False, tell=lambda _: None)
    return done


def changed(tmp_path: Path, **more: Any) -> str:
    """The failed pool, told otherwise."""
    (tmp_path / "scenario.yaml").write_text(
        json.dumps({"title": "T", "story": "S", "based_on": "nodepool-failed", **more})
    )
    return str(tmp_path)


def expecting(pool: str = "nodepool-failed") -> dict[str, Any]:
    return {"expect": {"staging-neu": [{"code": pool, "subject": "${staging-neu.pool.general}"}]}}


def test_every_kind_of_fix_has_a_scenario_in_which_it_works() -> None:
    from bot.checks.remedies import remedies

    played_ones = {one.remedy for head in Scenario.heads() for ends in head.repairs.values() for one in ends}
    assert played_ones == {one.name for one in remedies().all}


@pytest.mark.parametrize(
    "name", [name if name in HERE else pytest.param(name, marks=pytest.mark.soak) for name in FIXABLE]
)
async def test_a_fixable_scenario_is_repaired_with_exactly_the_planned_writes(name: str) -> None:
    assert (await played(name)).why == ()


async def test_another_end_than_the_scenario_says_fails_the_drill(tmp_path: Path) -> None:
    repairs = {"staging-neu": [{"remedy": "reconcile-pool", "ends": "failed"}]}
    done = await played(changed(tmp_path, repairs=repairs, **expecting()))
    assert "it should be failed" in done.why[0]


async def test_a_fix_of_which_the_scenario_says_nothing_fails_the_drill(tmp_path: Path) -> None:
    done = await played(changed(tmp_path, repairs={"staging-neu": []}, **expecting()))
    assert "offered is reconcile-pool, and the scenario says nothing" in done.why[0]


async def test_a_fix_that_is_not_offered_fails_the_drill(tmp_path: Path) -> None:
    repairs = {"staging-neu": [{"remedy": "reconcile-pool"}, {"remedy": "reconcile-cluster"}]}
    done = await played(changed(tmp_path, repairs=repairs, **expecting()))
    assert "offered is reconcile-pool" in done.why[0]


async def test_a_fix_that_azure_fails_again_ends_so(tmp_path: Path) -> None:
    writes = [
        {"method": "PUT", "id": "${staging-neu.pool.general}", "ends": "Failed", "error": {"code": "X", "message": "Y"}}
    ]
    repairs = {"staging-neu": [{"remedy": "reconcile-pool", "ends": "failed"}]}
    done = await played(changed(tmp_path, writes=writes, repairs=repairs, **expecting()))
    assert done.why == ()


def test_a_write_that_nobody_planned_is_named() -> None:
    assert differing(PLAN, [("PUT", POOL)]) == ""
    assert "DELETE" in differing(PLAN, [("PUT", POOL), ("DELETE", POOL)])
    assert "as often as planned" in differing(PLAN, [("PUT", POOL), ("PUT", POOL)])
    assert "as often as planned" in differing(PLAN, [])

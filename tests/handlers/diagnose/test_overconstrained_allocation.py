"""Is there a machine that meets all that a pool asks for at once?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.diagnose.overconstrained_allocation import applied
from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import GROUP, Body, event, pool_id
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, diagnosed, found

QUESTION = "overconstrained-allocation"
SENTENCE = (
    "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too "
    "restrictive. Please remove some constraints and try again. Constraints applied are:"
)
ZONAL = {
    "code": "OverconstrainedZonalAllocationRequest",
    "message": f"{SENTENCE}\n  - Availability Zone\n  - Differencing (Ephemeral) Disks\n  - VM Size\n",
}
LISTED = ("Availability Zone", "Differencing (Ephemeral) Disks", "VM Size")
GROUPS = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute"


def narrow(error: Body = ZONAL, **properties: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", count=4, machines=3, provisioningState="Failed", availabilityZones=["1"], **properties)
    azure.pools["apps"]["status"] = {"provisioningError": error}
    return azure


async def test_the_conditions_are_listed_with_what_the_pool_asks_for() -> None:
    finding = await found(QUESTION, narrow(osDiskType="Ephemeral"))
    assert (finding.subject, finding.severity, finding.affects) == (pool_id("apps"), Severity.ERROR, (pool_id("apps"),))
    assert f"Azure applied: {', '.join(LISTED)}" in finding.because
    assert finding.facts["constraints"] == [
        "Availability Zone (1)",
        "Differencing (Ephemeral) Disks",
        "VM Size (Standard_D4s_v5)",
    ]


@pytest.mark.parametrize(
    "message",
    [
        f"{SENTENCE}\n  - Availability Zone\n  - Differencing (Ephemeral) Disks\n  - VM Size\n",
        f"{SENTENCE}\\n  - Availability Zone\\n  - Differencing (Ephemeral) Disks\\n  - VM Size\\n",
        f"{SENTENCE} - Availability Zone  - Differencing (Ephemeral) Disks  - VM Size",
    ],
    ids=["lines", "escaped", "one line"],
)
def test_azures_list_is_read_however_it_is_laid_out(message: str) -> None:
    assert applied(message) == LISTED


async def test_the_command_leaves_out_what_can_be_left_out_and_says_so() -> None:
    azure = narrow(osDiskType="Ephemeral", proximityPlacementGroupID=f"{GROUPS}/proximityPlacementGroups/near")
    finding = await found(QUESTION, azure)
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert "--node-vm-size Standard_D4s_v5 --node-osdisk-type Managed --zones 1 2 3 --max-pods 30" in fix
    assert "leaves out: proximity placement group: near; ephemeral OS disk; the restriction to zone 1." in fix
    assert "--ppg" not in fix


async def test_where_nothing_can_be_left_out_the_command_takes_another_size() -> None:
    azure = narrow()
    azure.pools["apps"]["availabilityZones"] = ["1", "2", "3"]
    fix = LIBRARY[QUESTION].render("Fix", (await found(QUESTION, azure)).facts)
    assert "--node-vm-size Standard_E4s_v5 --zones 1 2 3" in fix
    assert "leaves out" not in fix


async def test_without_azures_list_the_pools_own_conditions_are_shown_and_called_that() -> None:
    finding = await found(QUESTION, narrow({"code": "OverconstrainedAllocationRequest", "message": "too restrictive"}))
    assert "Azure does not list the conditions that it applied" in finding.because
    assert finding.facts["constraints"] == ["VM size: Standard_D4s_v5", "availability zones: 1"]


async def test_a_size_that_its_zone_does_not_have_is_the_condition_that_cannot_be_met() -> None:
    azure = narrow()
    azure.pools["apps"]["availabilityZones"] = ["4"]
    finding = await found(QUESTION, azure)
    assert "Standard_D4s_v5 is not offered in zone 4" in finding.because


async def test_it_is_not_taken_for_want_of_capacity_and_stands_above_the_failed_pool() -> None:
    diagnosis = await diagnosed(narrow())
    ranked = {one.finding.code: one for one in diagnosis.findings}
    assert ranked["nodepool-failed"].explained_by == ((QUESTION, pool_id("apps")),)
    assert "allocation-failed" not in ranked


@pytest.mark.parametrize("code", ["ZonalAllocationFailed", "QuotaExceeded", "InternalServerError"])
async def test_the_twin_that_failed_for_another_reason_is_clear(code: str) -> None:
    assert (await asked(QUESTION, narrow({"code": code, "message": "another"}))).outcome is Outcome.CLEAR


async def test_a_pool_with_a_placement_group_that_is_well_is_clear() -> None:
    azure = Azure()
    azure.pool("apps", proximityPlacementGroupID=f"{GROUPS}/proximityPlacementGroups/near", osDiskType="Ephemeral")
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_what_azure_said_three_days_ago_of_a_pool_that_is_well_is_over() -> None:
    azure = Azure()
    azure.pool("apps")
    said = '{"status":"Failed","error":{"code":"OverconstrainedAllocationRequest","message":"too restrictive"}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(days=3), said)]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("denied", ["/eventtypes/", "/agentPools", "/virtualMachines"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why

"""A few minutes after the fault was fixed, nothing is found: past events are not symptoms."""

from __future__ import annotations

import pytest

from handlers.model import Outcome
from tests.cloud_opsbench.recording import load, names
from tests.cloud_opsbench.repairs import REPAIRS, repaired
from tests.cloud_opsbench.serving import diagnosed

pytestmark = pytest.mark.skipif(not set(REPAIRS) <= set(names()), reason="no recordings (AKSBOT_TEST_OPSBENCH)")


@pytest.mark.parametrize("name", REPAIRS)
async def test_what_was_repaired_is_no_finding(name: str) -> None:
    diagnosis = (await diagnosed(repaired(name))).diagnosis
    assert [(one.finding.code, one.finding.subject, one.finding.because) for one in diagnosis.findings] == []
    assert [one.id for one in diagnosis.checks if one.outcome is Outcome.CRASHED] == []


@pytest.mark.parametrize("name", REPAIRS)
async def test_before_the_repair_it_was_found(name: str) -> None:
    assert (await diagnosed(load(name))).right

"""Recorded checks: `aksbot check … --record case.zip`, dropped into the folder of the code that is the root cause.

`clear/` has healthy clusters. A case that was diagnosed correctly once must stay correct.
"""

from pathlib import Path

import pytest

from handlers.model import State
from tests.replaying import replayed

CASES = sorted(Path(__file__).parent.glob("*/*.zip"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
async def test_a_recorded_case_is_diagnosed_as_its_folder_says(case: Path) -> None:
    diagnosis = await replayed(case)
    roots = {one.finding.code for one in diagnosis.findings if one.root}
    if case.parent.name == "clear":
        assert (diagnosis.state, roots) == (State.CLEAR, set())
    else:
        assert roots == {case.parent.name}


def test_there_are_cases() -> None:
    assert {case.parent.name for case in CASES} >= {"clear", "quota-exceeded", "pdb-blocks-drain"}

"""A pasted error is recognized but never called verified; an unrecognized one is reported as such."""

from __future__ import annotations

import json
from pathlib import Path

from bot.triage.explain import explain
from runbooks.library import Library, Runbook
from tests.bot.conftest import Here, Started
from tests.bot.diagnoses import QUOTA_RUNBOOK
from tests.runbooks.pages import RIGHT, write

NESTED = json.dumps(
    {
        "status": "Failed",
        "error": {
            "code": "ResourceOperationFailure",
            "message": "The resource operation completed with terminal provisioning state 'Failed'.",
            "details": [{"code": "OddlyNamedQuota", "message": "Left regional vcpu quota 0, requested quota 6."}],
        },
    }
)


def shelf(folder: Path, *texts: tuple[str, str]) -> Library:
    return Library([Runbook.read(write(folder, text, code=code)) for code, text in texts])


def test_the_innermost_code_decides(tmp_path: Path) -> None:
    outer = RIGHT.replace("[QuotaExceeded, ErrCode_InsufficientVCPUQuota]", "[ResourceOperationFailure]")
    inner = RIGHT.replace("[QuotaExceeded, ErrCode_InsufficientVCPUQuota]", "[OddlyNamedQuota]")
    found = explain(f"error: {NESTED}", shelf(tmp_path, ("a-outer", outer), ("z-inner", inner)))
    assert found.error is not None
    assert found.error.code == "OddlyNamedQuota"
    assert [match.runbook.code for match in found.matches] == ["z-inner", "a-outer"]


def test_a_pattern_recognises_a_text_without_codes(tmp_path: Path) -> None:
    found = explain(
        "it results in exceeding approved Total Regional Cores quota.",
        shelf(tmp_path, ("quota-exceeded", RIGHT)),
    )
    assert [match.by for match in found.matches] == ["exceeding approved Total Regional Cores quota"]


def test_words_count_only_as_whole_words(tmp_path: Path) -> None:
    library = shelf(tmp_path, ("quota-exceeded", RIGHT))
    assert explain("we are out  of\nquota here", library).matches
    assert not explain("the scoreboard quotation is out", library).matches


def test_a_cause_stands_before_what_it_explains(tmp_path: Path) -> None:
    cause = QUOTA_RUNBOOK.replace("[nodepool-failed, cluster-failed]", "[a-effect]")
    effect = RIGHT.replace("[QuotaExceeded, ErrCode_InsufficientVCPUQuota]", "[QuotaExceeded]")
    found = explain("Code: QuotaExceeded", shelf(tmp_path, ("a-effect", effect), ("z-cause", cause)))
    assert [match.runbook.code for match in found.matches] == ["z-cause", "a-effect"]


def test_what_is_recognised_is_said_to_be_unverified(here: Here) -> None:
    ran = here("explain", "ErrCode_InsufficientVCPUQuota: left regional vcpu quota 0, requested quota 6")
    assert ran.code == 0
    assert "quota-exceeded" in ran.out.splitlines()[0]
    assert "recognised, not verified" in ran.out
    assert "What to do" in ran.out


def test_what_is_not_recognised_is_said_and_ends_with_2(here: Here) -> None:
    ran = here("explain", "the coffee machine is on fire")
    assert ran.code == 2
    assert ran.out.startswith("Not recognised")


def test_nothing_cannot_be_explained(here: Here) -> None:
    ran = here("explain", "  ")
    assert ran.code == 64
    assert "paste the error" in ran.err


async def test_standard_input_is_read(started: Started) -> None:
    ran = await started("explain", "--output", "json", given=b"Code: SubnetIsFull\nMessage: full \xff\x1b[2J")
    assert ran.code == 0
    whole = json.loads(ran.out)
    assert whole["matches"][0]["code"] == "subnet-full"
    assert (whole["recognised"], whole["verified"]) == (True, False)


async def test_a_pasted_error_cannot_steer_the_terminal(started: Started) -> None:
    ran = await started("explain", given=b"Code: SubnetIsFull\nMessage: \x1b]0;owned\x07 \xc2\x9b2J full")
    assert "\x1b" not in ran.out
    assert "\x9b" not in ran.out

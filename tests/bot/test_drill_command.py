"""`aksbot drill`, as a program starts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bot.conftest import Started


async def test_a_drill_for_a_program_is_one_array_and_well_only_if_all_is(started: Started) -> None:
    ran = await started("drill", "quota-blocks-upgrade", "--twins", "--over", "http", "--output", "json")
    assert (ran.code, ran.err) == (0, "")
    played = json.loads(ran.out)
    assert [one["scenario"] for one in played] == ["quota-blocks-upgrade", "quota-blocks-upgrade/twin"]
    for one in played:
        assert one.keys() == {"scenario", "ok", "expected", "found", "took_ms", "why"}
        assert one["ok"] is True
        assert one["why"] == ""
        assert one["took_ms"] > 0
        assert one["found"] == one["expected"]
    roots = [[found["code"] for found in one["found"] if found["root"]] for one in played]
    assert roots == [["quota-exceeded"], ["nodepool-failed", "upgrade-half-done"]]


async def test_a_drill_that_goes_wrong_says_why_and_exits_with_1(started: Started, tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(
        json.dumps({"title": "T", "story": "S", "based_on": "subnet-full", "expect": {"prod-eus2": []}})
    )
    ran = await started("drill", str(tmp_path))
    assert ran.code == 1
    assert "FAILED" in ran.out
    assert "found, but not expected: subnet-full" in " ".join(ran.out.split())
    assert "1 scenario played, 1 failed" in ran.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("drill", "no-such-scenario"), "no such scenario"),
        (("drill",), "neither a scenario nor --all"),
        (("drill", "subnet-full", "--all"), "both a scenario and --all"),
        (("drill", "subnet-full", "--over", "carrier-pigeon"), "carrier-pigeon"),
    ],
)
async def test_what_cannot_be_played_is_told_in_three_parts(started: Started, words: tuple[str, ...], why: str) -> None:
    ran = await started(*words)
    assert ran.code == 64
    assert why in " ".join(ran.err.split())
    assert "\n  do: " in ran.err


async def test_a_program_is_told_of_an_unknown_scenario_as_an_object(started: Started) -> None:
    ran = await started("drill", "no-such-scenario", "--output", "json")
    assert ran.code == 64
    assert json.loads(ran.out)["error"].keys() == {"what", "why", "do"}

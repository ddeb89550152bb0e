"""docs/policy.md: its examples are policies that work, the demo's is the demo's, and its tables are complete."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.checks.remedies import remedy_names
from bot.playground.demo_policy import demo_policy
from bot.policy import file as policy_file
from bot.policy.look import Allowed, Asker, may_look
from bot.policy.model import Policy
from bot.policy.reference import keys, written_into
from deploy.policy_page import PAGE
from sandbox.slack.cast import on_call_workspace

TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = [part.partition("```")[0] for part in TEXT.split("```yaml\n")[1:]]


def policy(text: str, folder: Path) -> Policy:
    file = folder / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    read, complaints = policy_file.read(file, remedies=remedy_names())
    assert complaints == []
    assert read is not None
    return read


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_is_a_policy_that_works(text: str, tmp_path: Path) -> None:
    assert policy(text, tmp_path) != Policy()


def test_the_first_example_does_what_the_text_says_of_it(tmp_path: Path) -> None:
    first = policy(EXAMPLES[0], tmp_path)
    developer, platform = Asker("T0", "U0DEV"), Asker("T0", "U0OPS", groups=frozenset({"S0PLATFORM"}))
    assert isinstance(may_look(first.look, developer, "C0SHOPTEAM", "shop-weu"), Allowed)
    assert not isinstance(may_look(first.look, developer, "C0SHOPTEAM", "prod-weu"), Allowed)
    assert isinstance(may_look(first.look, platform, "C0OTHER", "prod-weu"), Allowed)
    in_production = first.fixes.rule_for("prod-weu", "reconcile-pool")
    elsewhere = first.fixes.rule_for("dev", "reconcile-pool")
    assert in_production is not None
    assert elsewhere is not None
    assert (in_production[1].approvals, elsewhere[1].approvals) == (2, 1)
    saturday, tuesday = datetime(2026, 11, 21, 12, tzinfo=UTC), datetime(2026, 11, 24, 12, tzinfo=UTC)
    assert first.fixes.freeze_on(in_production[1], saturday)
    assert first.fixes.freeze_on(in_production[1], tuesday) is None
    assert first.fixes.freeze_on(elsewhere[1], saturday) is None


def test_the_demos_policy_is_the_one_that_is_explained(tmp_path: Path) -> None:
    file = demo_policy(tmp_path, on_call_workspace())
    assert file is not None
    made, shown = yaml.safe_load(file.read_text(encoding="utf-8")), yaml.safe_load(EXAMPLES[1])
    [rule], [explained] = made["fixes"]["rules"], shown["fixes"]["rules"]
    assert rule | {"approvers": []} == explained | {"approvers": []}
    assert [group[0] for group in rule["approvers"]] == [group[0] for group in explained["approvers"]]


def test_the_tables_are_those_of_the_policy_as_it_is() -> None:
    """Make them again with `make generate`."""
    assert written_into(TEXT) == TEXT


def test_every_key_says_what_it_is_and_what_holds_without_it() -> None:
    rows = [line.split(" | ") for line in keys().split("\n") if line.startswith("| `")]
    assert len(rows) > 30
    assert all(what.strip() and default.strip(" |") for _, what, default in rows)

"""Every remedy, through Slack, while something goes wrong in the moment of its first write."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from bot.app import Bot
from bot.drill.repair import writes
from bot.fixes.proposal import End
from bot.store.connect import Connection
from handlers.evidence.budgets import RELAXED_FROM
from handlers.remedy.plan import Verb
from sandbox.arm.faults import Kind
from sandbox.arm.server import ArmServer, Fault
from sandbox.kube.faults import Fault as KubeFault
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests import sample
from tests.slack_app.fixes.steps import Desk, ended
from tests.slack_app.reading import buttons, seen

FIXABLE = [one.name for one in Scenario.heads() if len(one.repairs) == 1]
TROUBLES: dict[str, tuple[Kind, bool]] = {
    "refused": ("403", False),
    "throttled": ("429", False),
    "fault-inside": ("500", False),
    "unavailable": ("503", False),
    "gateway-lost-it-and-it-was-done": ("504", True),
    "answer-lost-and-it-was-done": ("reset", True),
}
CASES = [(name, trouble) for name in FIXABLE for trouble in TROUBLES]
SAMPLE = sample.dice("remedies").sample(CASES, 5)
READS = ("listClusterUserCredential", "selfsubject")


@dataclass
class OnWrites(Fault):
    """Hits what changes anything, and not what only asks with a POST."""

    def takes(self, method: str, route: str, action: str, principal: str | None) -> bool:
        asks = method not in ("PUT", "PATCH", "POST", "DELETE") or any(one in f"{route} {action}" for one in READS)
        return not asks and super().takes(method, route, action, principal)


@dataclass
class OnKubeWrites(KubeFault):
    """The same, inside a cluster."""

    def takes(self, method: str, route: str, action: str, principal: str | None) -> bool:
        asks = method not in ("PUT", "PATCH", "POST", "DELETE") or any(one in f"{route} {action}" for one in READS)
        return not asks and super().takes(method, route, action, principal)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> tuple[Scenario, str]:
    name, trouble = request.param
    return Scenario.load(name), trouble


@pytest.fixture
def staged(case: tuple[Scenario, str]) -> Scenario:
    return case[0]


def budgets(arm: ArmServer) -> list[Any]:
    """Every budget as it is: spec, labels, annotations."""
    found = []
    for server in arm.kube.values():
        for body in server.world.every("poddisruptionbudgets"):
            metadata = body["metadata"]
            found.append((metadata["name"], body["spec"], metadata.get("labels"), metadata.get("annotations")))
    return deepcopy(found)


@pytest.mark.parametrize(
    "case",
    [one if one in SAMPLE else pytest.param(one, marks=pytest.mark.soak) for one in CASES],
    indirect=True,
    ids=[" ".join(one) for one in CASES],
)
async def test_whatever_goes_wrong_with_the_first_write_it_ends_is_told_and_is_sent_once(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, case: tuple[Scenario, str]
) -> None:
    before = budgets(arm)
    proposal = await desk.asked()
    kind, executed = TROUBLES[case[1]]
    arm.faults.append(OnWrites(kind, times=1, principal="writer", executed=executed))
    for server in arm.kube.values():
        server.faults.append(OnKubeWrites(kind, times=1, executed=executed))
    await control.press("approver", proposal, "fix_approve")
    one = await ended(redis)
    await control.until(lambda: "fix_stop" not in buttons(desk.find() or proposal), 60)
    assert one.end is not None
    assert seen(await desk.proposal())
    if kind in ("403", "429"):
        assert one.end in (End.FAILED, End.STALE, End.FIXED)
    sent = Counter(writes(arm))
    again = {step.target for step in one.plan.steps if step.always}
    planned = Counter(" ".join(step.request.split(" ", 2)[:2]).rstrip(",") for step in one.plan.steps)
    for (method, path), number in sent.items():
        restoring = any(path.endswith(target.rpartition("/")[2]) for target in again)
        known = planned.get(f"{method} {path}") or _of_a_probe(one.plan.steps[0].verb, method)
        assert known, f"{method} {path} was not planned"
        assert restoring or number <= known, f"{method} {path} was sent {number} times"
    assert budgets(arm) == before
    assert RELAXED_FROM not in json.dumps(budgets(arm))


def _of_a_probe(verb: Verb, method: str) -> int:
    return int(verb is Verb.PROBE_FROM_POD and method in ("POST", "DELETE"))

"""A fix as users see it: plan, request, progress, outcome; on desktop and mobile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator

from bot.app import Bot
from bot.playground.hurried import ShortenedPauses
from sandbox.arm.server import ArmServer, Fault
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.world import Change, WriteRule
from tests.browser.conftest import Show
from tests.browser.looking import Window
from tests.checking import azure
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, policy, pool_of

LOOKS = {"desktop": {}, "phone": {"phone": True}}
SLOWLY = 0.1
"""One poll per second, so that the running state is visible."""


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("nodepool-failed").world) as server:
        yield server


@pytest.fixture
async def bot(start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, approvers=["@aks-approvers"], reason=True))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start(times=ShortenedPauses(SLOWLY)) as running:
        yield running


@pytest.fixture
def desk(control: Control) -> Desk:
    return Desk(control)


async def asked(window: Window) -> Locator:
    """The thread in which the request stands."""
    await window.type("/aks check staging-neu")
    thread = await window.open_thread(await window.verdict())
    await window.press("Fix: Reconcile node pool general", thread)
    await window.see("What could go wrong", window.window)
    return thread


@pytest.mark.parametrize("look", LOOKS)
async def test_a_fix_from_the_plan_to_its_end(
    bot: Bot, show: Show, desk: Desk, control: Control, arm: ArmServer, look: str
) -> None:
    shown = tuple(f"ScalingAgentPool: {done}/6 nodes completed" for done in range(6))
    healed = Change(pool_of(arm), {"properties": {"provisioningState": "Succeeded", "status": None}})
    arm.world.writes.insert(0, WriteRule("PUT", pool_of(arm), interim=shown, then=(healed,)))
    async with show(**LOOKS[look]) as window:
        thread = await asked(window)
        await window.scroll(window.window.locator(".scroll"), to_end=False)
        await window.look(f"{look}-fix-plan")
        await control.submit_view("requester", {"reason": "the pool cannot scale"})
        await window.see("waits for approval", thread)
        await window.scroll(thread)
        await window.look(f"{look}-fix-asked")
        await control.press("visitor", await desk.proposal(), "fix_approve")
        await control.press("approver", await desk.proposal(), "fix_approve")
        await window.see("nodes completed", thread)
        await window.scroll(thread)
        await window.look(f"{look}-fix-running")
        await desk.says("*fixed*")
        await window.see("it is gone", thread)
        await window.scroll(thread)
        await window.look(f"{look}-fix-fixed")


async def test_a_refusal_is_seen_by_the_one_who_was_refused(bot: Bot, show: Show, desk: Desk, control: Control) -> None:
    await desk.asked(reason="the pool cannot scale")
    await control.press("visitor", await desk.proposal(), "fix_approve")
    await desk.told("visitor", "not among those")
    async with show("visitor") as window:
        await window.channel.locator("a.replies").last.click()
        await window.see("not among those who may approve", window.thread)
        await window.scroll(window.thread)
        await window.look("desktop-fix-refused")


async def test_what_could_not_be_verified_asks_a_person(
    bot: Bot, show: Show, desk: Desk, control: Control, arm: ArmServer
) -> None:
    arm.faults.append(Fault("504", method="PUT", principal="writer", times=1))
    async with show() as window:
        thread = await asked(window)
        await control.submit_view("requester", {"reason": "the pool cannot scale"})
        await control.press("approver", await desk.proposal(), "fix_approve")
        await desk.says("could not be verified", timeout_s=120)
        await window.see("request id", thread)
        await window.scroll(thread)
        await window.look("desktop-fix-unverified")

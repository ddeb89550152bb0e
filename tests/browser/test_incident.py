"""An alert at night, from the alert card to the closed incident, without anyone asking the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from bot.app import Bot
from bot.playground.hurried import ShortenedPauses
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests.browser.conftest import Show
from tests.browser.looking import Window
from tests.checking import azure
from tests.slack_app import alert_cards
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import policy, writes

FIX = "Fix: Reconcile node pool general"


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("nodepool-failed").world) as server:
        yield server


@pytest.fixture
async def bot(start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, approvers=["@aks-approvers"]) + alert_cards.believed(control))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start(times=ShortenedPauses()) as running:
        yield running


async def opened(window: Window, ts: str) -> Locator:
    """Wait for the thread under the alert to have a reply."""
    replies = window.channel.locator(f"article[data-ts='{ts}'] a.replies")
    await expect(replies).to_be_visible(timeout=60_000)
    await replies.click()
    # What lies under the pointer looks otherwise.
    await window.page.mouse.move(1, 1)
    return window.thread


async def pictured(window: Window, name: str, *, of: Locator, to_end: bool = True) -> None:
    await window.scroll(of, to_end=to_end)
    await window.look(name)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_an_alert_becomes_a_thread_a_finding_a_fix_and_an_incident_that_is_over(
    bot: Bot, show: Show, control: Control, arm: ArmServer, phone: bool, dark: bool
) -> None:
    look = f"{'phone' if phone else 'desktop'}{'-dark' if dark else ''}-incident"
    async with (
        show(phone=phone, dark=dark) as on_call,
        show("approver", phone=phone, dark=dark) as approving,
    ):
        alert = alert_cards.post_card(control, "incidents", alert_cards.failed_pool(arm.world))
        thread = await opened(on_call, alert.ts)
        await on_call.see("Confirmed:", thread)
        await expect(thread.get_by_role("button", name=FIX)).to_be_visible(timeout=60_000)
        await pictured(on_call, f"{look}-alert", of=thread, to_end=False)
        await pictured(on_call, f"{look}-finding", of=thread)

        await on_call.press(FIX, thread)
        await on_call.see("What could go wrong", on_call.window)
        await pictured(on_call, f"{look}-plan", of=on_call.window.locator(".scroll"), to_end=False)
        await on_call.press("Ask for approval", on_call.window)

        there = await opened(approving, alert.ts)
        await approving.see("waits for approval", there)
        await pictured(approving, f"{look}-asked", of=there)
        await approving.press("Approve", there)
        await approving.press("Yes, approve", approving.page.locator("dialog[open]"))

        await on_call.see("this incident is closed", thread)
        await on_call.see("Over: A node pool is in a failed state", thread)
        await pictured(on_call, f"{look}-closed", of=thread)
        await pictured(on_call, f"{look}-over", of=thread, to_end=False)
    assert len(writes(arm)) == 1

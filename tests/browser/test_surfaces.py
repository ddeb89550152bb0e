"""All surfaces of the bot in one night of the demo fleet, as pictures for the documentation: `make pictures`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from bot.app import Bot
from bot.playground.hurried import ShortenedPauses
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from sandbox.world import WriteRule
from tests.browser.album import LOOKS, SURFACES, TAKEN, album
from tests.checking import azure
from tests.slack_app import alert_cards
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import policy
from tests.slack_app.reading import answered, buttons, seen

WITHIN_S = 120.0
SLOWLY = 0.2
"""Two polls a second of what Azure does, so that a fix runs for as long as pictures of it take."""
CHECKS, FIXES, ALERTS = "platform-on-call", "payments-private", "incidents"
ERROR = (
    "ErrCode_InsufficientVCPUQuota: Insufficient regional vcpu quota left for location westeurope. "
    "left regional vcpu quota 4, requested quota 8"
)


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("demo-fleet").world) as server:
        for name in (one for one in list(server.world.resources) if "staging-neu" in one):
            body = server.world.resources[name]
            if str(body.get("type", "")).lower().endswith(("managedclusters", "agentpools")):
                steps = tuple(f"UpgradingAgentPool: {done}/8 nodes completed" for done in range(8) for _ in range(20))
                server.world.writes.insert(0, WriteRule("PUT", str(body["id"]), interim=steps))
        yield server


@pytest.fixture
async def bot(start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, approvers=["@aks-approvers"]) + alert_cards.believed(control))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start(times=ShortenedPauses(SLOWLY)) as running:
        yield running


async def until_shown(control: Control, user: str) -> None:
    """Wait until the window of this person is filled."""
    await control.until(lambda: (view := control.modal(user)) and "One moment" not in str(view.blocks), WITHIN_S)


async def with_button(control: Control, channel: str, thread: str, action: str) -> Message:
    """Wait for a message of a thread that has this button."""
    found = await control.until(
        lambda: [one for one in control.thread(channel, thread) if action in buttons(one)], WITHIN_S
    )
    return found[0]


@pytest.mark.soak
async def test_every_surface_is_pictured_on_desktop_and_phone_in_light_and_dark(
    bot: Bot, browser: Browser, slack: SlackServer, control: Control, arm: ArmServer
) -> None:
    async with album(browser, slack.page_url, control) as pictures:
        await pictures.take("home", says=["prod-weu"])

        await control.slash("requester", CHECKS, "/aks", "check prod-weu")
        (head,) = await answered(control, CHECKS)
        await control.until(
            lambda: sum("image" in str(one.blocks) for one in control.thread(CHECKS, head.ts)), WITHIN_S
        )
        await pictures.take("verdict", CHECKS, says=["prod-weu"], to_end=True)
        await pictures.take("thread", CHECKS, thread=head.ts, says=["What to do"], within="#thread")
        step = await with_button(control, CHECKS, head.ts, "show_steps_0")
        await control.press("requester", step, "show_steps_0")
        await until_shown(control, "requester")
        await pictures.take("steps", CHECKS, says=["Not this, if"], within=".modal")
        await control.close_view("requester", all_of_them=True)

        for surface, asked in (
            ("clusters", "clusters"),
            ("explain", f"explain {ERROR}"),
            ("runbook", "runbook pdb-blocks-drain"),
        ):
            known = len(control.ephemerals("visitor", CHECKS))
            await control.slash("visitor", CHECKS, "/aks", asked)
            await control.until(lambda: len(control.ephemerals("visitor", CHECKS)) > known, WITHIN_S)  # noqa: B023
            await control.until(lambda: "…" not in seen(control.ephemerals("visitor", CHECKS)[-1])[:40], WITHIN_S)
            await pictures.take(surface, CHECKS, person="visitor", to_end=True)

        alert = next(event for event in arm.world.events if _failed(event, "prod-weu"))
        card = alert_cards.post_card(control, ALERTS, alert)
        await with_button(control, ALERTS, card.ts, "show_steps_0")
        await pictures.take("incident", ALERTS, thread=card.ts, says=["What to do"], within="#thread")

        await control.slash("requester", FIXES, "/aks", "check staging-neu")
        (head,) = await answered(control, FIXES)
        fix = await with_button(control, FIXES, head.ts, "fix_0_0")
        await control.press("requester", fix, "fix_0_0")
        await until_shown(control, "requester")
        await pictures.take("approval", FIXES, says=["What could go wrong"], within=".modal")
        await control.submit_view("requester", {})
        request = await with_button(control, FIXES, head.ts, "fix_approve")
        await control.press("approver", request, "fix_approve")
        await pictures.take(
            "running", FIXES, thread=head.ts, says=["nodes completed"], within="#thread", to_end=True, person="approver"
        )
    assert {file.stem for file in TAKEN.glob("*.png")} >= {
        f"{surface}-{look}" for surface in SURFACES for look in LOOKS
    }


def _failed(event: dict[str, object], cluster: str) -> bool:
    about = str(event["resourceId"]).lower()
    return "'Failed'" in str(event["status"]) and about.endswith(f"/managedclusters/{cluster}")

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from bot.app import Bot
from bot.cli.check import replay_recording
from sandbox.arm.faults import Fault as AzureFault
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from sandbox.slack.views import View
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen

PATIENCE_S = 60


async def _checked(control: Control) -> tuple[Message, Message]:
    """A head, and the first message of its thread."""
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    return head, control.thread("incidents", head.ts)[1]


async def _filled(control: Control) -> View:
    """The requester's window, once a worker has filled it."""

    def filled() -> bool:
        view = control.modal("requester")
        return view is not None and len(view.blocks) > 1

    await control.until(filled)
    view = control.modal("requester")
    assert view
    return view


async def test_check_again_answers_in_the_same_thread(bot: Bot, control: Control) -> None:
    head, _ = await _checked(control)
    await control.press("approver", head, "check_again")
    await control.until(lambda: sum(map(is_answer, control.thread("incidents", head.ts))) == 2, 30)


async def test_all_checks_are_shown_in_the_thread(bot: Bot, control: Control) -> None:
    head, _ = await _checked(control)
    await control.press("visitor", head, "show_all_checks")
    await control.until(lambda: any("All checks" in seen(one) for one in control.thread("incidents", head.ts)))


async def test_the_steps_open_in_a_window(bot: Bot, control: Control) -> None:
    _, cause = await _checked(control)
    await control.press("requester", cause, "show_steps_0")
    shown = await _filled(control)
    assert "What it means" in str(shown.blocks)
    assert "as of 20" in str(shown.blocks), "its facts are those of the answer, however old that is"
    assert control.modal("approver") is None


async def test_steps_of_an_answer_that_is_forgotten_are_not_shown_with_holes_and_a_check_is_offered(
    bot: Bot, control: Control
) -> None:
    _, cause = await _checked(control)
    for block in cause.blocks:
        for one in block.get("elements", []):
            if one.get("action_id") == "show_steps_0":
                value = json.loads(one["value"])
                one["value"] = json.dumps(["forgotten", "another", *value[2:]])
    await control.press("requester", cause, "show_steps_0")
    shown = await _filled(control)
    assert "has expired" in str(shown.blocks)
    assert "&lt;" not in str(shown.blocks)
    await control.until(
        lambda: any("check_again" in buttons(one) for one in control.ephemerals("requester")), PATIENCE_S
    )


async def test_a_wrong_answer_is_kept_and_replays_for_whoever_looks_into_it(
    bot: Bot, control: Control, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _ = await _checked(control)
    await control.press("requester", head, "wrong_answer")
    assert not (tmp_path / "data" / "wrong-answers").exists(), "the window asks first"
    await control.submit_view("requester", {"comment": "the quota is fine, password=hunter2-Zq9"})
    await control.until(
        lambda: any("The case is kept" in seen(one) for one in control.thread("incidents", head.ts)), PATIENCE_S
    )
    (sent,) = [file for one in control.direct("requester").messages for file in one.files]
    assert re.fullmatch(r"prod-weu-\d{4}-\d\d-\d\dT\d{4}Z\.zip", sent.name), sent.name
    file, recording = sorted((tmp_path / "data" / "wrong-answers").iterdir())
    assert recording.suffix == ".zip"
    assert recording.stat().st_mode & 0o077 == 0
    case = json.loads(file.read_text())
    assert case["cluster"].endswith("/prod-weu")
    assert case["report"]["findings"]
    assert case["comment"] == "the quota is fine, password=[redacted:password]"
    assert file.stat().st_mode & 0o077 == 0
    await asyncio.to_thread(replay_recording, recording, as_json=True)
    replayed = json.loads(capsys.readouterr().out)
    kept = [one["finding"] for one in case["report"]["findings"]]
    assert {one["code"] for one in replayed["findings"]} == {one["code"] for one in kept}


async def test_a_wrong_answer_that_cannot_be_recorded_is_kept_all_the_same(
    bot: Bot, control: Control, arm: ArmServer, tmp_path: Path
) -> None:
    head, _ = await _checked(control)
    arm.faults.append(AzureFault("404", action="Microsoft.ContainerService/managedClusters/read"))
    await control.press("requester", head, "wrong_answer")
    await control.submit_view("requester")
    await control.until(
        lambda: any("A recording to replay is not there" in seen(one) for one in control.thread("incidents", head.ts)),
        PATIENCE_S,
    )
    (file,) = (tmp_path / "data" / "wrong-answers").iterdir()
    assert file.suffix == ".json"


async def test_people_of_another_company_are_refused(bot: Bot, control: Control) -> None:
    head, _ = await _checked(control)
    control.team.channel("incidents").members.append(control.team.person("partner").id)
    await control.press("partner", head, "check_again")
    await control.until(lambda: len(control.ephemerals("partner")) == 1)
    assert "of this workspace only" in control.ephemerals("partner")[0].text
    control.mention("partner", "partner-support", "check prod-weu")
    await control.until(lambda: len(control.ephemerals("partner")) == 2)
    assert "of this workspace only" in control.ephemerals("partner")[1].text
    assert heads(control, "partner-support") == []


async def test_without_a_name_there_is_a_menu_of_the_fleet(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check")
    await control.until(lambda: any("pick_cluster" in buttons(one) for one in control.ephemerals("requester")))
    menu = control.ephemerals("requester")[-1]
    await control.select("requester", menu, "pick_cluster", "prod-weu")
    (head,) = await answered(control)
    assert "prod-weu" in head.text


async def test_a_window_that_cannot_be_opened_is_told(bot: Bot, control: Control, slack: SlackServer) -> None:
    _, cause = await _checked(control)
    slack.faults.append(Fault("error", "views.open", error="expired_trigger_id"))
    await control.press("visitor", cause, "show_steps_0")
    await control.until(lambda: len(control.ephemerals("visitor")) == 1)
    assert "Please try again" in control.ephemerals("visitor")[0].text

"""What somebody on call does, in a Slack that we have not written: `local-slack-linux-x64` of npm, version 0.1.8.

It takes any block and any token, so it proves nothing about those. It sends everything to each connection, where Slack
sends it to one: all is heard twice here, and must be answered once. It names the thread of a click in the message only,
not in the container. It keeps no metadata of messages, and has neither user groups nor `conversations.join`. No call of
its control API submits a window: that goes over the socket of its page.
"""

from __future__ import annotations

import json
from collections import Counter
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from bot.slack.fixes.buttons import APPROVE, REASON, REASON_BLOCK
from sandbox.arm.server import ArmServer
from tests.second_slack.slack import BOT, SecondSlack, buttons
from tests.slack_app.fixes.steps import writes
from tests.slack_app.reading import text_of

Body = dict[str, Any]

REPORT = "staging-neu: node pool general is in a failed state, provisioningState Failed"
SIGN_WITHIN_S = 10.0
"""The figure is `second-slack-first-sign` of `make bench`; a busy machine is slower."""


def seen(message: Body) -> str:
    return text_of(message.get("blocks") or []) or str(message.get("text"))


async def test_a_report_gets_a_sign_and_its_verdict_in_its_thread(slack: SecondSlack) -> None:
    said = await slack.say("requester", REPORT)
    assert await slack.first_sign_s(said) < SIGN_WITHIN_S
    answer = await slack.with_button("show_all_checks", said["ts"])
    await slack.press("requester", answer, "show_all_checks")
    checks = await slack.message(lambda one: "All checks" in seen(one))

    (head, *thread) = await slack.thread(said["ts"])
    assert (head["text"], head["reply_count"]) == (REPORT, len(thread))
    assert "Pool general of staging-neu is Failed" in seen(answer).replace("`", "")
    assert "Confirmed" in seen(thread[0])
    assert checks["ts"] in [one["ts"] for one in thread]
    assert [one["user"] for one in thread] == [BOT] * len(thread)
    assert said_twice(thread) == []
    assert [one["ts"] for one in await slack.history()] == [said["ts"]]


async def test_a_command_and_a_mention_are_answered_once_each(slack: SecondSlack) -> None:
    await slack.slash("requester", "/aks", "check prod-weu")
    commanded = await slack.with_button("show_all_checks")
    assert "prod-weu: HEALTHY" in seen(commanded).replace("`", "")

    mention = await slack.say("requester", f"<@{BOT}> check prod-eus2")
    mentioned = await slack.with_button("show_all_checks", mention["ts"])
    assert "prod-eus2: HEALTHY" in seen(mentioned).replace("`", "")

    heads = await slack.history()
    assert [one["ts"] for one in heads if "show_all_checks" in buttons(one)] == [commanded["ts"]]
    (acknowledged,) = [one for one in heads if one.get("subtype") == "ephemeral"]
    assert "prod-weu" in seen(acknowledged)
    for head in (commanded, mention):
        assert said_twice(await slack.thread(head["ts"])) == []


async def test_a_fix_is_asked_for_approved_and_done(slack: SecondSlack, arm: ArmServer) -> None:
    said = await slack.say("requester", REPORT)
    await slack.press("requester", await slack.with_button("fix_0_0", said["ts"]), "fix_0_0")
    await slack.until(lambda: planned(slack))
    await slack.submit("requester", {REASON_BLOCK: {REASON: {"type": "plain_text_input", "value": "it cannot scale"}}})
    proposal = await slack.with_button(APPROVE, said["ts"])
    assert "it cannot scale" in seen(proposal)
    assert writes(arm) == []

    await slack.press("approver", proposal, APPROVE)
    await slack.message(lambda one: one["ts"] == proposal["ts"] and "*runs*" in seen(one))
    await slack.until(lambda: sent(arm))
    arm.finish_operations()
    await slack.message(lambda one: one["ts"] == proposal["ts"] and "*fixed*" in seen(one))
    assert [method for method, _ in writes(arm)] == ["PUT"]
    assert said_twice(await slack.thread(said["ts"])) == []


async def sent(arm: ArmServer) -> bool:
    """Whether Azure has answered the fix's request."""
    return any(request.is_write and request.status for request in arm.log)


async def planned(slack: SecondSlack) -> Body | None:
    """The window, once the plan is in it."""
    shown = await slack.windows()
    return shown[-1] if shown and shown[-1]["callback_id"] == "fix_ask" else None


async def test_files_go_both_ways_and_app_home_shows_the_fleet(slack: SecondSlack) -> None:
    log = "".join(f"line {number}: nothing to see\n" for number in range(50)) + REPORT
    said = await slack.share("requester", "deploy.log", log, "this is what the pipeline says")
    assert "staging-neu" in seen(await slack.with_button("show_all_checks", said["ts"]))

    mention = await slack.say("requester", f"<@{BOT}> support prod-weu")
    shared = await slack.message(lambda one: bool(one.get("files")))
    assert shared["thread_ts"] == mention["ts"]
    (file,) = shared["files"]
    with ZipFile(BytesIO(await slack.content(file))) as packet:
        assert any("prod-weu" in name or b"prod-weu" in packet.read(name) for name in packet.namelist())

    await slack.open_home("requester")
    await slack.until(lambda: home_shows(slack, "staging-neu"))


async def home_shows(slack: SecondSlack, name: str) -> bool:
    return name in json.dumps(await slack.home("requester"))


def said_twice(thread: list[Body]) -> list[str]:
    texts = Counter(seen(one) for one in thread)
    return [text for text, times in texts.items() if times > 1]

"""Azure's own detectors in Slack: a button under an answer, and a word after the cluster's name."""

from __future__ import annotations

from bot.app import Bot
from sandbox.slack.control import Control
from tests.slack_app.reading import answered, buttons, is_answer, seen

TITLE = "Azure's own detectors"
BUTTON = "run_detectors"


async def test_the_button_runs_them_and_shows_them_in_the_same_thread(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    assert BUTTON in buttons(head)
    assert not any(TITLE in seen(one) for one in control.thread("incidents", head.ts))
    await control.press("approver", head, BUTTON)
    await control.until(lambda: any(TITLE in seen(one) for one in control.thread("incidents", head.ts)), 60)
    second = [one for one in control.thread("incidents", head.ts) if is_answer(one)][-1]
    assert second.ts != head.ts
    assert BUTTON not in buttons(second)


async def test_the_word_after_the_clusters_name_runs_them_at_once(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu detectors")
    (head,) = await answered(control)
    assert BUTTON not in buttons(head)
    await control.until(lambda: any(TITLE in seen(one) for one in control.thread("incidents", head.ts)), 60)

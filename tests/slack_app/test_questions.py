"""Questions about something in particular, typed in Slack: the answer, the buttons under it, and who may ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, heads, is_answer, seen


async def test_the_answer_stands_in_the_channel_in_one_sentence_and_is_not_called_healthy(
    bot: Bot, control: Control
) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu from 203.0.113.9")
    (head,) = await answered(control)
    assert "HEALTHY for address 203.0.113.9 only" in seen(head)
    assert "every address may reach its API server, 203.0.113.9 too" in seen(head)
    assert "green" not in seen(head)


async def test_check_again_asks_the_same_question_and_check_everything_the_whole(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu from 203.0.113.9")
    (head,) = await answered(control)
    await control.press("requester", head, "check_again")
    await control.until(lambda: sum(map(is_answer, control.thread("incidents", head.ts))) == 2, 30)
    answers = [one for one in control.thread("incidents", head.ts) if is_answer(one)]
    assert all("HEALTHY for address 203.0.113.9 only" in seen(one) for one in answers)
    await control.press("requester", head, "check_everything")
    await control.until(
        lambda: any(
            "UNHEALTHY" in seen(one) for one in [*control.messages("incidents"), *control.thread("incidents", head.ts)]
        ),
        30,
    )


async def test_a_mention_asks_it_too(bot: Bot, control: Control) -> None:
    control.mention("requester", "incidents", "check prod-weu rbac shop/default list pods")
    await control.until(lambda: any("may not list pods" in seen(one) for one in control.messages("incidents")), 30)


async def test_an_unknown_account_is_said_to_be_unknown(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu rbac shop/defalt list pods")
    (head,) = await answered(control)
    await control.until(
        lambda: any(
            "no service account defalt, or does not exist" in seen(one) for one in control.messages("incidents")
        ),
        30,
    )
    assert "no all-clear" in seen(head)


async def test_without_a_cluster_the_form_is_shown_at_once(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check from 203.0.113.9")
    (told,) = control.ephemerals("requester")
    assert "no cluster is named" in told.text
    assert "check &lt;cluster&gt; from 203.0.113.9" in told.text or "check <cluster> from 203.0.113.9" in told.text
    assert heads(control) == []


async def test_whom_people_may_ask_about_is_policy(
    start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("look:\n  rules:\n    - {clusters: ['*'], service_accounts: [shop/*]}\n")
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu rbac kube-system/coredns list pods")
        await control.until(lambda: bool(control.ephemerals("requester")), 30)
        assert "does not let you ask what this service account may do" in seen(control.ephemerals("requester")[0])
        await control.slash("requester", "incidents", "/aks", "check prod-weu rbac shop/default list pods")
        (head,) = await answered(control)
        assert "UNHEALTHY" in seen(head)

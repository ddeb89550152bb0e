from __future__ import annotations

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from tests.slack_app.reading import heads, seen


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("", "What I can do"),
        ("help", "/aks explain"),
        ("help all", "/aks unmute"),
        ("chek prod-weu", "Perhaps you mean `/aks check`"),
        ("runbook quota-exceeded", "What it means"),
        ("runbook quota-exeded", "Perhaps you mean `quota-exceeded`"),
        ("runbook", "subnet-full"),
        ("explain Code=QuotaExceeded the core quota is used up", "Recognised, not verified"),
        ("explain the weather is nice", "Not recognised"),
        ("explain", "Paste the error"),
        ("check prod-weu from builder-7", "is no IP address"),
        ("check a b c d", "there are 4 words"),
    ],
)
async def test_a_command_is_answered_at_once_and_only_to_who_asked(
    bot: Bot, control: Control, typed: str, answer: str
) -> None:
    await control.slash("requester", "incidents", "/aks", typed)
    (told,) = control.ephemerals("requester")
    assert answer in seen(told)
    assert heads(control) == []


async def test_the_clusters_are_listed(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "clusters")
    await control.until(lambda: any("staging-neu" in seen(one) for one in control.ephemerals("requester")))


async def test_a_mention_is_answered_in_its_thread(bot: Bot, control: Control) -> None:
    asked = control.mention("requester", "incidents", "runbook quota-exceeded")
    await control.until(lambda: any("What it means" in seen(one) for one in control.thread("incidents", asked.ts)))


@pytest.mark.parametrize(
    "typed", ["check <!channel>", "<!channel> *x*", "runbook `<@U1>`", "explain <!here> QuotaExceeded"]
)
async def test_what_people_type_mentions_nobody(bot: Bot, control: Control, typed: str) -> None:
    await control.slash("requester", "incidents", "/aks", typed)
    for told in control.ephemerals("requester"):
        mrkdwn = [block["text"]["text"] for block in told.blocks if block["type"] == "section"]
        assert not any(sign in text for text in [told.text, *mrkdwn] for sign in ("<!", "<@"))

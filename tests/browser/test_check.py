"""Someone asks in Slack what is wrong and reads the answer, on desktop or mobile, in light or dark mode."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from bot.app import Bot
from tests.browser.conftest import Show

LOOKS = {"desktop": {}, "dark": {"dark": True}, "phone": {"phone": True}, "phone-dark": {"phone": True, "dark": True}}


@pytest.mark.parametrize("look", LOOKS)
async def test_a_check_from_the_composer_to_the_last_button(bot: Bot, show: Show, look: str) -> None:
    async with show(**LOOKS[look]) as window:
        await window.type("/aks check prod-weu")
        head = await window.verdict()
        await window.look(f"{look}-verdict")

        thread = await window.open_thread(head)
        await window.scroll(thread, to_end=False)
        await window.look(f"{look}-thread")
        await window.scroll(thread)
        await window.look(f"{look}-thread-end")

        await window.press("Show the steps", thread)
        await window.see("Not this, if", window.window)
        await window.look(f"{look}-steps")
        await window.page.keyboard.press("Escape")
        await expect(window.window).to_have_count(0)

        await window.press("Show all checks", thread)
        await window.see("All checks", thread)
        await window.scroll(thread)
        await window.look(f"{look}-all-checks")

        await window.press("Wrong answer", thread)
        await window.see("What is wrong with it?", window.window)
        await window.look(f"{look}-wrong-answer")
        await window.press("Send", window.window)
        await window.see("The case is kept", thread)

        answers = thread.get_by_role("button", name="Check again")
        before = await answers.count()
        await window.press("Check again", thread)
        await expect(answers).to_have_count(before + 1, timeout=60_000)
        await window.scroll(thread)
        await window.look(f"{look}-again")


@pytest.mark.parametrize("look", ["desktop", "phone"])
@pytest.mark.parametrize(
    ("asked", "said", "named"),
    [
        ("staging-neu", "kinds of problem have no check", "No check for these yet"),
        ("prod-weu network", "CLEAR in network only", "Not looked at"),
    ],
    ids=["whole", "in-network"],
)
async def test_a_clear_answer_says_what_it_is_clear_of(
    bot: Bot, show: Show, look: str, asked: str, said: str, named: str
) -> None:
    name = asked.replace(" ", "-")
    async with show(**LOOKS[look]) as window:
        await window.type(f"/aks check {asked}")
        head = await window.verdict(said)
        await window.look(f"{look}-clear-{name}")
        await window.scroll(await window.open_thread(head, named))
        await window.look(f"{look}-clear-{name}-thread")

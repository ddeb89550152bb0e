"""The other places of the workspace: Home, direct messages, the message menu, other people, mobile navigation."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from bot.app import Bot
from sandbox.slack.control import Control
from tests.browser.conftest import Show

ALERT = "Alert: prod-weu nodepool apps: Operation could not be completed as it results in exceeding approved quota"


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_home_shows_the_fleet_and_a_press_there_answers_in_the_messages(
    bot: Bot, show: Show, phone: bool
) -> None:
    look = "phone" if phone else "desktop"
    async with show(phone=phone) as window:
        if phone:
            await window.page.locator(".head .back").first.click()
        await window.page.locator("#side").get_by_text("aksbot").click()
        home = window.page.locator("#main")
        await window.see("prod-weu", home)
        await expect(home.get_by_role("button", name="Refresh")).to_be_visible()
        await window.look(f"{look}-home")

        await home.get_by_role("button", name="Check").first.click()
        await window.page.get_by_role("link", name="Messages").click()
        await window.verdict()
        await window.look(f"{look}-direct")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_triage_this_stands_in_the_menu_of_a_message(bot: Bot, show: Show, control: Control, phone: bool) -> None:
    alert = control.say_as_app("Azure Monitor", "incidents", ALERT)
    # The question whether its posts may be read changes the message; nobody presses anything while it does.
    await control.until(lambda: len(control.thread("incidents", alert.ts)) == 2, 60)
    async with show(phone=phone) as window:
        message = window.channel.locator(f"article[data-ts='{alert.ts}']")
        await (message.tap() if phone else message.hover())
        await message.get_by_label("More actions").click()
        await window.look(f"{'phone' if phone else 'desktop'}-message-menu")
        await message.get_by_role("button", name="Triage this").click()
        offered = window.page.get_by_role("button", name="Check prod-weu").last
        await expect(offered).to_be_visible(timeout=60_000)
        await window.look(f"{'phone' if phone else 'desktop'}-triaged")


async def test_a_direct_message_is_answered(bot: Bot, show: Show) -> None:
    async with show() as window:
        await window.page.locator("#side").get_by_text("aksbot").click()
        await window.page.get_by_role("link", name="Messages").click()
        await window.type("check prod-weu")
        thread = await window.open_thread(
            window.channel.locator("article").filter(has=window.page.locator("a.replies"))
        )
        await window.see("A core quota is used up", thread)


async def test_the_picker_is_a_menu_of_the_fleet(bot: Bot, show: Show) -> None:
    async with show() as window:
        await window.type("/aks check")
        menu = window.channel.locator("select.field").last
        await expect(menu).to_be_visible(timeout=60_000)
        await window.look("desktop-picker")
        await menu.select_option("prod-weu")
        await window.verdict()


async def test_others_see_the_answer_live_and_as_unread_until_they_look(bot: Bot, show: Show) -> None:
    async with show("requester") as asking, show("approver", "platform-on-call") as reading:
        unread = reading.page.locator("#side a.unread").filter(has_text="incidents")
        await asking.type("/aks check prod-weu")
        await expect(unread).to_have_count(1, timeout=60_000)
        await unread.click()
        await reading.verdict()
        await expect(unread).to_have_count(0)
        # What is said to one person alone is nobody else's.
        await expect(reading.channel.get_by_text("Only visible to you")).to_have_count(0)


async def test_somebody_else_can_be_chosen_and_stays_in_the_channel(bot: Bot, show: Show) -> None:
    async with show() as window:
        await window.page.locator(".you summary").click()
        await window.look("desktop-people")
        await window.page.locator(".people").get_by_text("approver").click()
        await expect(window.page.locator(".you .as")).to_contain_text("approver")
        await expect(window.page.locator("#head h1")).to_contain_text("incidents")


async def test_a_phone_goes_from_the_list_to_a_channel_to_a_thread_and_back(
    bot: Bot, show: Show, control: Control
) -> None:
    said = control.say("approver", "incidents", "prod-weu is slow")
    control.say("approver", "incidents", "since ten", said.ts)
    async with show(phone=True) as window:
        await window.channel.locator("a.replies").click()
        await expect(window.thread.get_by_text("since ten")).to_be_visible()
        await expect(window.channel).to_be_hidden()
        await window.page.get_by_label("Back").click()
        await expect(window.channel).to_be_visible()
        await window.page.get_by_label("All channels").click()
        await expect(window.page.locator("#side")).to_be_visible()
        await window.look("phone-channels")


async def test_the_keyboard_alone_is_enough(bot: Bot, show: Show, control: Control) -> None:
    control.say("approver", "incidents", "lunch?")  # nothing that the bot answers: focus stays where it is
    async with show() as window:
        keyboard = window.page.keyboard
        await window.channel.locator("article").first.focus()
        await keyboard.press("Tab")  # Reply in thread
        await keyboard.press("Tab")  # More actions
        await keyboard.press("Enter")
        shortcut = window.channel.get_by_role("button", name="Triage this")
        await expect(shortcut).to_be_visible()
        await keyboard.press("Escape")
        await expect(shortcut).to_be_hidden()


async def test_slash_commands_are_offered_in_channels_and_refused_in_threads(
    bot: Bot, show: Show, control: Control
) -> None:
    said = control.say("approver", "incidents", "prod-weu is slow")
    async with show() as window:
        composer = window.page.locator(".composer[data-where=channel] textarea")
        await composer.fill("/a")
        await expect(window.page.locator(".commands")).to_be_visible()
        await composer.fill("")
        await window.channel.locator(f"article[data-ts='{said.ts}']").hover()
        await window.channel.get_by_label("Reply in thread").first.click()
        await window.type("/aks check prod-weu", where="thread")
        await expect(window.page.get_by_text("not supported in threads")).to_be_visible()

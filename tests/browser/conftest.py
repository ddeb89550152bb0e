"""The whole bot with the sandbox's Slack and Azure, and a real browser showing the sandbox's page."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest
from playwright.async_api import Browser, ViewportSize, async_playwright

from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.browser.looking import Window
from tests.checks.conftest import BROKEN
from tests.slack_app import conftest as whole_bot

CHROMIUM = shutil.which("chromium")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}

collected, nobodys_settings = whole_bot.collected, whole_bot.nobodys_settings
slack, control, arm = whole_bot.slack, whole_bot.control, whole_bot.arm
start, bot = whole_bot.start, whole_bot.bot


class Show(Protocol):
    """Opens the page as a given person, in a channel, on desktop or mobile."""

    def __call__(
        self, person: str = "requester", channel: str = "incidents", *, phone: bool = False, dark: bool = False
    ) -> AbstractAsyncContextManager[Window]: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    for item in here:
        item.add_marker(pytest.mark.filterwarnings(BROKEN))
        if CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="there is no chromium on this machine: apt-get install chromium"))


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
        yield browser
        await browser.close()


@pytest.fixture
def show(browser: Browser, slack: SlackServer, control: Control) -> Show:
    @asynccontextmanager
    async def shown(
        person: str = "requester", channel: str = "incidents", *, phone: bool = False, dark: bool = False
    ) -> AsyncIterator[Window]:
        context = await browser.new_context(
            viewport=PHONE if phone else DESKTOP,
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            is_mobile=phone,
            device_scale_factor=2 if phone else 1,
            base_url=slack.page_url,
        )
        context.set_default_timeout(30_000)
        window = Window(await context.new_page(), SCREENSHOTS, phone=phone)
        place = f"/w/{control.team.domain}/{person}/c/{control.team.channel(channel).id}"
        await window.page.goto(place)
        yield window
        complaints = list(window.complaints)  # requests that closing the page cuts off are not among them
        await context.close()
        assert complaints == []

    return shown

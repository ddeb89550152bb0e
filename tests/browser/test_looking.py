"""The checks for display problems detect them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.browser.looking import Window

FAULTS = {
    "overlaid": "<p>One line of text</p><p style='margin-top:-28px'>Another line</p>",
    "sideways": "<p style='width:3000px'>wide</p>",
    "out of sight": "<div class='modal' style='position:fixed;top:90vh;height:50vh'>window</div>",
    "too small": "<button style='height:12px'>press</button>",
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_seen(browser: Browser, tmp_path: Path, fault: str) -> None:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.set_content(FAULTS[fault])
    with pytest.raises(AssertionError):
        await Window(page, tmp_path, phone=True).look("fault")


async def test_what_is_fine_is_no_fault(browser: Browser, tmp_path: Path) -> None:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.set_content("<p>One line</p><p>Another line</p><button style='height:44px;width:90px'>press</button>")
    await Window(page, tmp_path, phone=True).look("fine")


async def test_what_the_script_complains_about_is_heard(browser: Browser, tmp_path: Path) -> None:
    page = await browser.new_page()
    window = Window(page, tmp_path, phone=False)
    await page.set_content("<script>console.error('broken'); setTimeout(() => { throw new Error('thrown') })</script>")
    await page.wait_for_function("document.readyState === 'complete'")
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert any("broken" in one for one in window.complaints)
    assert any("thrown" in one for one in window.complaints)

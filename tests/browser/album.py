"""The pictures of the bot for the documentation: each surface, as wide as a desktop and a phone, light and dark.

`make pictures` takes them all (`test_surfaces.py` walks the bot there), makes them small, and copies those that README
and docs show into `docs/pictures`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, expect

from sandbox.slack.control import Control

ROOT = Path(__file__).parents[2]
TAKEN = ROOT / "build" / "pictures"
SHOWN = ROOT / "docs" / "pictures"
MOST_SHOWN = 600_000
"""Bytes, of all pictures in docs/pictures: everybody who clones the repository loads them."""
SHADES = 128
DESKTOP: ViewportSize = {"width": 1180, "height": 760}
PHONE: ViewportSize = {"width": 390, "height": 844}
LOOKS = ("desktop", "desktop-dark", "phone", "phone-dark")
SURFACES = ("verdict", "thread", "steps", "approval", "running", "incident", "home", "clusters", "explain", "runbook")
SELLING = {
    "check": "thread-desktop",
    "check-phone": "thread-phone",
    "check-dark": "verdict-desktop-dark",
    "fix-plan": "approval-desktop",
    "fix-running-phone": "running-phone-dark",
    "incident-alert": "incident-desktop",
    "incident-phone": "incident-phone-dark",
    "home": "home-desktop",
}
"""Those that the documentation shows, by the name that it has for them: one of each thing that nobody else does."""


@dataclass(frozen=True)
class Album:
    """The same surface in each look, taken one after the other."""

    pages: dict[str, Page]
    control: Control

    async def take(
        self, surface: str, channel: str = "", *, thread: str = "", says: Sequence[str] = (), within: str = "#main",
        person: str = "requester", to_end: bool = False,
    ) -> None:  # fmt: skip
        """Wait for these words in that part of the page, then keep a picture. Without a channel it is App Home."""
        for look, page in self.pages.items():
            await page.goto(self._place(channel, thread, person))
            for words in says:
                await expect(page.locator(within).get_by_text(words).first).to_be_visible(timeout=60_000)
            await page.locator(within).evaluate(_SCROLL, to_end)
            await page.mouse.move(1, 1)  # what lies under the pointer looks otherwise
            await page.wait_for_function(_LOADED)
            keep(await page.screenshot(animations="disabled"), TAKEN / f"{surface}-{look}.png")

    def _place(self, channel: str, thread: str, person: str) -> str:
        base = f"/w/{self.control.team.domain}/{person}"
        if not channel:
            return f"{base}/home"
        return f"{base}/c/{self.control.team.channel(channel).id}{f'?thread={thread}' if thread else ''}"


_SCROLL = """(part, toEnd) => {
  const scrolls = part.matches(".scroll") ? part : part.querySelector(".scroll") || part;
  scrolls.scrollTop = toEnd ? scrolls.scrollHeight : 0;
}"""
_LOADED = "() => [...document.images].every((one) => one.complete)"


@asynccontextmanager
async def album(browser: Browser, url: str, control: Control) -> AsyncIterator[Album]:
    async with AsyncExitStack() as opened:
        pages = {}
        for look in LOOKS:
            phone = look.startswith("phone")
            context = await browser.new_context(
                viewport=PHONE if phone else DESKTOP,
                color_scheme="dark" if look.endswith("dark") else "light",
                has_touch=phone,
                is_mobile=phone,
                device_scale_factor=2 if phone else 1,
                base_url=url,
            )
            opened.push_async_callback(context.close)
            context.set_default_timeout(30_000)
            pages[look] = await context.new_page()
        yield Album(pages, control)


def keep(png: bytes, file: Path) -> None:
    """In few colours: a third of the bytes, and nobody sees it."""
    import io

    from PIL import Image

    file.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(png)).convert("RGB").quantize(SHADES).save(file, optimize=True)


def publish() -> int:
    """Copy what the documentation shows; what it does not show any more goes."""
    missing = [taken for taken in SELLING.values() if not (TAKEN / f"{taken}.png").is_file()]
    if missing:
        sys.stderr.write(f"not taken: {', '.join(missing)}\n")
        return 1
    for name, taken in SELLING.items():
        (SHOWN / f"{name}.png").write_bytes((TAKEN / f"{taken}.png").read_bytes())
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    for old in SHOWN.glob("*.png"):
        if old.stem not in SELLING and old.name not in pages:
            old.unlink()
    bytes_shown = sum(file.stat().st_size for file in SHOWN.glob("*.png"))
    sys.stdout.write(f"{len(SELLING)} of {len(SURFACES) * len(LOOKS)} pictures in {SHOWN}, {bytes_shown:,} bytes\n")
    return int(bytes_shown > MOST_SHOWN)


if __name__ == "__main__":
    sys.exit(publish())

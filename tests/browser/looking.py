"""User actions in the browser, and checks for errors, horizontal scrolling and overlapping text."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Locator, Page, Request, expect

_SIDEWAYS = """() => [document.scrollingElement, ...document.querySelectorAll(".scroll, .side, .modal")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.id || one.className || one.tagName}: ${one.scrollWidth} in ${one.clientWidth}`)"""

# Two lines of text that share more than a sliver are on top of each other. What is scrolled away or under a window
# that lies over it is not seen, so it does not count.
_OVERLAID = """() => {
  const lines = [];
  const top = document.querySelector("dialog[open], .veil, .you[open] .people") || document.body;
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || !node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    if (node.parentElement.closest(".actions, option, #toasts, textarea")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const seen = { l: box.left, r: box.right, t: box.top, b: box.bottom };
      for (let up = node.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflow === "visible") continue;
        const edge = up.getBoundingClientRect();
        seen.l = Math.max(seen.l, edge.left); seen.r = Math.min(seen.r, edge.right);
        seen.t = Math.max(seen.t, edge.top); seen.b = Math.min(seen.b, edge.bottom);
      }
      const held = node.parentElement.closest(".pane .head, .head, .composer, .modal header, .modal footer");
      if (seen.r - seen.l > 2 && seen.b - seen.t > 2) lines.push({ ...seen, held, node, said: node.data.trim() });
    }
  }
  const over = [];
  lines.forEach((one, at) => lines.slice(at + 1).forEach((two) => {
    if (one.node === two.node || one.held !== two.held) return;
    const wide = Math.min(one.r, two.r) - Math.max(one.l, two.l);
    const high = Math.min(one.b, two.b) - Math.max(one.t, two.t);
    if (wide > 3 && high > 6) over.push(`${one.said.slice(0, 40)} | ${two.said.slice(0, 40)}`);
  }));
  return over;
}"""

_BEYOND = """() => [...document.querySelectorAll(".modal, .modal footer, .menu, .composer, .head")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
  .map(([one, box]) => `${one.className}: ${Math.round(box.bottom)} of ${innerHeight}`)"""

_SMALL = """() => [...document.querySelectorAll("button, .field, .side li a, a.replies")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".actions"))
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width && Math.min(box.width, box.height) < 30)
  .map(([one, box]) => `${one.textContent.trim() || one.className}: ${box.width} × ${box.height}`)"""

ABORTED = "net::ERR_ABORTED"
"""A request whose page was left or closed: what it asked for is done, but its answer is not waited for."""


class Window:
    """A browser tab used by one person."""

    def __init__(self, page: Page, screenshots: Path, *, phone: bool) -> None:
        self.page, self._screenshots, self._phone = page, screenshots, phone
        self.complaints: list[str] = []
        """Messages in the browser's console."""
        page.on("console", lambda said: self._heard(said.type, said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", self._failed)

    @property
    def channel(self) -> Locator:
        return self.page.locator("#main")

    @property
    def thread(self) -> Locator:
        return self.page.locator("#thread")

    @property
    def window(self) -> Locator:
        """What lies over the page."""
        return self.page.locator(".modal")

    async def type(self, text: str, *, where: str = "channel") -> None:
        composer = self.page.locator(f".composer[data-where={where}] textarea")
        await composer.fill(text)
        await composer.press("Enter")

    async def verdict(self, word: str = "UNHEALTHY") -> Locator:
        """Wait for the last head message with a verdict and a thread."""
        head = self.channel.locator("article").filter(has_text=word).filter(has=self.page.locator("a.replies")).last
        await expect(head).to_be_visible(timeout=60_000)
        return head

    async def open_thread(self, head: Locator, says: str = "What to do") -> Locator:
        await head.locator("a.replies").click()
        await expect(self.thread.get_by_text(says).first).to_be_visible(timeout=60_000)
        return self.thread

    async def press(self, label: str, place: Locator) -> None:
        await place.get_by_role("button", name=label).last.click()

    async def see(self, said: str, place: Locator) -> None:
        await expect(place.get_by_text(said).filter(visible=True).last).to_be_visible(timeout=60_000)

    async def scroll(self, place: Locator, *, to_end: bool = True) -> None:
        await place.evaluate("(one, end) => { one.scrollTop = end ? one.scrollHeight : 0 }", to_end)

    async def look(self, name: str) -> None:
        """Take a screenshot and check it for display problems."""
        self._screenshots.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=self._screenshots / f"{name}.png", animations="disabled")
        assert await self.page.evaluate(_SIDEWAYS) == [], name
        assert await self.page.evaluate(_OVERLAID) == [], name
        assert await self.page.evaluate(_BEYOND) == [], f"{name}: out of sight"
        if self._phone:
            assert await self.page.evaluate(_SMALL) == [], f"{name}: too small for a thumb"

    def _heard(self, kind: str, said: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {said}")

    def _failed(self, request: Request) -> None:
        if request.failure != ABORTED:
            self.complaints.append(f"failed: {request.url}: {request.failure}")

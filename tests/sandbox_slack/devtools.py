"""Debian's Chromium, controlled over the DevTools protocol: enough for a few tests of the page's script."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium")

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "about:blank",
]


class Tab:
    """One page in the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.broken: list[str] = []
        """Exceptions raised by the page's script."""

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            said = await self._socket.receive_json()
            if said.get("method") == "Runtime.exceptionThrown":
                self.broken.append(str(said["params"]["exceptionDetails"]))
            if said.get("id") == self._number:
                result: dict[str, Any] = said["result"]
                return result

    async def open(self, url: str) -> None:
        await self.send("Runtime.enable")
        await self.send("Page.navigate", url=url)
        await self.until("document.readyState === 'complete' && document.querySelector('#main article')")

    async def value(self, script: str) -> Any:
        answer = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until the condition is true, evaluated in the page on every frame."""
        script = (
            "new Promise((done, give_up) => { const end = Date.now() + 10000;"
            f" const look = () => ({condition}) ? done(true) : Date.now() > end ? done(false)"
            " : setTimeout(look, 20); look(); })"
        )
        assert await self.value(script), f"never came true: {condition}"

    async def type(self, where: str, text: str) -> None:
        await self.value(f"document.querySelector({where!r}).focus()")
        await self.send("Input.insertText", text=text)

    async def enter(self) -> None:
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        await self.send("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    async def click(self, what: str) -> None:
        await self.value(f"document.querySelector({what!r}).click()")


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Tab]:
    process = await asyncio.create_subprocess_exec(
        CHROMIUM or "chromium",
        f"--user-data-dir={folder}",
        *_FLAGS,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            while b"DevTools listening on" not in (line := await process.stderr.readline()):
                assert line, "Chromium ended before it listened"
        address = line.decode().split()[-1].split("/")[2]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://{address}/json") as response:
                target = next(one for one in await response.json() if one["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()

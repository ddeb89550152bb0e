"""`aksbot demo`, with and without a terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from sandbox.scenario import Scenario
from tests.bot.conftest import PROGRAM, Started, clean_environment

PATIENCE_S = 90
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/w/[\w-]+/requester/c/\w+")


class Terminal:
    """A program in a terminal of its own: what it printed, and what is typed into it."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process, self._master = process, master
        self._bytes = b""
        self._more = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", self._bytes.decode(errors="replace")).replace("\r\n", "\n")

    def _read(self) -> None:
        try:
            self._bytes += os.read(self._master, 65536)
        except OSError:  # how Linux says that nobody has the other end open any more
            asyncio.get_running_loop().remove_reader(self._master)
        self._more.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while text not in self.text:
                assert self.process.returncode is None, self.text
                await self._more.wait()
                self._more.clear()

    def press_ctrl_c(self) -> None:
        os.write(self._master, b"\x03")

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)


@asynccontextmanager
async def in_a_terminal(*words: str) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *words,
        env=clean_environment(),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        preexec_fn=lambda: _own_terminal(slave),
    )
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        terminal.close()


def _own_terminal(slave: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    os.setsid()
    os.close(os.open(os.ttyname(slave), os.O_RDWR))  # who opens it first, as the leader of a session, has its Ctrl-C


def children(pid: int) -> list[Path]:
    return [Path("/proc", child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def test_at_a_terminal_it_serves_the_page_until_ctrl_c_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with in_a_terminal("demo") as terminal:
        await terminal.until("until Ctrl-C")
        assert "prod-weu: UNHEALTHY · 1 cause" in terminal.text
        address = ADDRESS.findall(terminal.text)
        assert len(address) == 1
        log = re.search(r"Its log is (\S+)\.", terminal.text)
        assert log
        folder = Path(log[1]).parent
        assert "aksbot serves as all" in await asyncio.to_thread(Path(log[1]).read_text)
        begun = children(terminal.process.pid)
        assert begun
        async with aiohttp.ClientSession() as browser:
            async with browser.get(address[0]) as page:
                html = await page.text()
                assert page.status == 200
            for shown in ("activity log alert on prod-weu", "Does anybody know why?", "UNHEALTHY"):
                assert shown in html
            # A page that is open listens; that must not hold up the end.
            async with browser.get(address[0].partition("/c/")[0] + "/changes") as listening:
                assert listening.status == 200
                loop = asyncio.get_running_loop()
                pressed = loop.time()
                terminal.press_ctrl_c()
                async with asyncio.timeout(PATIENCE_S):
                    code = await terminal.process.wait()
                took_s = loop.time() - pressed
        assert code == 0, terminal.text
        assert "Traceback" not in terminal.text
        assert took_s < 10
        assert not folder.exists()
        assert not any(child.exists() for child in begun)


async def test_where_nobody_sits_it_does_its_main_job_and_ends(started: Started) -> None:
    ran = await started("demo", environment={"AKSBOT_AZURE_RESOURCE_MANAGER": "https://somewhere.else"})
    assert (ran.code, ran.err) == (0, "")
    assert "#incidents  requester: /aks check prod-weu" in ran.out
    assert "is full" in ran.out
    assert re.search(r"was in its thread \d+\.\d s after the question", ran.out)
    assert ADDRESS.search(ran.out)
    assert "--stay" in ran.out
    for cluster, findings in Scenario.load("demo-fleet").expect.items():
        assert not findings or cluster in ran.out


@pytest.mark.soak  # timing of a signal in the first instants: sensitive to load
async def test_ctrl_c_while_it_starts_ends_it_too() -> None:
    async with in_a_terminal("demo") as terminal:
        await terminal.until("Starting an Azure")
        terminal.press_ctrl_c()
        async with asyncio.timeout(PATIENCE_S):
            assert await terminal.process.wait() in (0, 130), terminal.text
        assert "Traceback" not in terminal.text


async def test_it_stays_without_a_terminal_when_it_is_told_to(tmp_path: Path) -> None:
    words = (*PROGRAM, "demo", "--stay")
    environment = clean_environment()
    one = await asyncio.create_subprocess_exec(
        *words, env=environment, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert one.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        told = await one.stdout.readuntil(b"until Ctrl-C")
        assert ADDRESS.search(told.decode())
        one.send_signal(signal.SIGTERM)
        _, err = await one.communicate()
    assert (one.returncode, err) == (0, b"")


async def test_a_port_of_the_page_that_is_taken_is_told_in_three_parts(started: Started) -> None:
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        ran = await started("demo", "--port", str(port))
    assert ran.code == 64, ran.err
    assert f"cannot serve on port {port}" in ran.err
    assert "\n  do: " in ran.err

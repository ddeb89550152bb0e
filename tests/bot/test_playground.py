"""`aksbot sandbox` and `aksbot demo --once`, as a person starts them."""

from __future__ import annotations

import asyncio
import signal
import stat
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from sandbox.scenario import Scenario
from tests.bot.conftest import PROGRAM, Started, clean_environment

PATIENCE_S = 60


async def test_the_demo_once_checks_the_whole_fleet_and_shows_what_was_found(started: Started) -> None:
    ran = await started("demo", "--once")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    table = ran.out.split("─")[0]
    for cluster in Scenario.load("demo-fleet").expect:
        assert cluster in table
    assert "prod-weu cannot add nodes: vCPU quota" in ran.out
    last = table.strip().splitlines()[-1]
    assert "HEALTHY" in last
    assert "Operator Nexus Kubernetes cluster" in last
    assert "aksbot sandbox" in ran.out


@asynccontextmanager
async def process(*words: str, folder: Path, environment: Mapping[str, str] = {}) -> AsyncIterator[Process]:
    """A command that serves. Told to stop at the end, it stops well."""
    one = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *words,
        cwd=folder,
        env=clean_environment() | dict(environment),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield one
        one.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            await one.communicate()
        assert one.returncode == 0
    finally:
        if one.returncode is None:
            one.kill()
            await one.communicate()


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """A sandbox: what it said, and the environment that it wrote."""
    file = folder / "azure.env"
    async with process("sandbox", "quota-blocks-upgrade", "--env-file", str(file), folder=folder) as one:
        assert one.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            told = (await one.stdout.readuntil(b"az login")).decode()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        yield told, dict(line.split("=", 1) for line in file.read_text().splitlines())
    assert not file.exists()


async def test_the_sandbox_serves_until_it_is_told_to_stop(started: Started, tmp_path: Path) -> None:
    async with served(tmp_path) as (told, environment):
        for key, value in environment.items():
            assert f"export {key}={value}" in told
        ran = await started("check", "prod-weu", environment=environment)
    assert ran.code == 1, ran.err
    assert not Path(environment["AKSBOT_DATA_DIR"]).parent.exists()


async def test_a_bot_that_is_started_by_hand_meets_the_slack_of_the_sandbox(tmp_path: Path) -> None:
    async with served(tmp_path) as (told, environment):
        page = environment["SLACK_API_URL"].removesuffix("api/")
        assert f"Slack is on {page}" in told
        environment["AKSBOT_HTTP_PORT"] = "0"
        async with (
            process("serve", folder=tmp_path, environment=environment) as bot,
            aiohttp.ClientSession() as browser,
            asyncio.timeout(PATIENCE_S),
        ):
            assert bot.stderr is not None
            await bot.stderr.readuntil(b"aksbot serves as all")
            async with browser.get(page) as front:
                me, _, channel = str(front.url).partition("/c/")
            asked = {"do": "send", "text": "/aks check prod-weu", "channel": channel}
            async with browser.get(f"{me}/changes") as changes:
                async with browser.post(f"{me}/do", json=asked, headers={"Origin": page.rstrip("/")}) as done:
                    assert (await done.json())["ok"]
                async for _ in changes.content:
                    async with browser.get(f"{me}/parts", params={"channel": channel}) as parts:
                        if "prod-weu" in (text := await parts.text()) and "UNHEALTHY" in text:
                            break


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("no-such-scenario",), "no such scenario"),
        ((".",), "scenario.yaml"),
        (("healthy-fleet", "--env-file", "no/such/folder/env"), "No such file"),
    ],
)
async def test_what_cannot_be_served_is_told_in_three_parts(started: Started, words: tuple[str, ...], why: str) -> None:
    ran = await started("sandbox", *words)
    assert ran.code == 64, ran.err
    assert why in ran.err
    assert "\n  do: " in ran.err


async def test_a_port_that_is_taken_is_told_in_three_parts(started: Started) -> None:
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        ran = await started("sandbox", "healthy-fleet", "--port", str(port))
    assert ran.code == 64, ran.err
    assert f"cannot serve on port {port}" in ran.err

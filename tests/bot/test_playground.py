"""`aksbot sandbox` and `aksbot demo`, as a person starts them."""

from __future__ import annotations

import asyncio
import signal
import stat
from pathlib import Path

import pytest

from sandbox.scenario import Scenario
from tests.bot.conftest import PROGRAM, Started, clean_environment


async def test_the_demo_checks_the_whole_fleet_and_shows_what_was_found(started: Started) -> None:
    ran = await started("demo")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    table = ran.out.split("─")[0]
    for cluster in Scenario.load("healthy-fleet").expect:
        assert cluster in table
    assert "prod-weu: FOUND" in ran.out
    last = table.strip().splitlines()[-1]
    assert "NOT CHECKED" in last
    assert "no check knows this kind of cluster yet" in last
    assert "aksbot sandbox" in ran.out


async def test_the_sandbox_serves_until_it_is_told_to_stop(started: Started, tmp_path: Path) -> None:
    one = await asyncio.create_subprocess_exec(
        *PROGRAM,
        "sandbox",
        "quota-blocks-upgrade",
        "--env-file",
        "azure.env",
        cwd=tmp_path,
        env=clean_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert one.stdout is not None
    async with asyncio.timeout(30):
        told = (await one.stdout.readuntil(b"az login")).decode()
    file = tmp_path / "azure.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    environment = dict(line.split("=", 1) for line in file.read_text().splitlines())
    for key, value in environment.items():
        assert f"export {key}={value}" in told
    ran = await started("check", "prod-weu", environment=environment)
    assert ran.code == 1, ran.err
    one.send_signal(signal.SIGTERM)
    _, err = await one.communicate()
    assert (one.returncode, err) == (0, b"")
    assert not file.exists()


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

"""`aksbot serve` with the second Slack and the sandbox's Azure, and what neither it nor that Slack may have said."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import yaml

from sandbox.arm.server import ArmServer
from tests.second_slack.slack import PEOPLE, TEAM, SecondSlack
from tests.slack_app.serve_process import SERVE
from tests.store.servers import ROOT

_OWN = ("AKSBOT_", "AZURE_", "REDIS_", "SLACK_")
_LEVEL = re.compile(r"^[-0-9]+ [0-9:,]+ ([A-Z]+) (\S+): ")
_PORT = re.compile(r"serves as all on 127\.0\.0\.1, port (\d+)")
_CALLS = re.compile(r'^aksbot_slack_calls_total\{method="([^"]+)",outcome="([^"]+)"\} ', re.MULTILINE)


@asynccontextmanager
async def serving(slack: SecondSlack, arm: ArmServer, folder: Path) -> AsyncIterator[None]:
    """The bot, connected. When it is told to stop, nothing may have gone wrong."""
    process, log = await _started(slack, arm, folder)
    try:
        await slack.connected()
        yield
        refused = await _refused(_port(log))
        assert refused == [], refused
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
    complaints = _complaints(log.read_text())
    assert (process.returncode, complaints) == (0, []), complaints
    lost = [entry["summary"] for entry in await slack.log() if entry["direction"] == "internal"]
    assert lost == [], lost


async def _started(slack: SecondSlack, arm: ArmServer, folder: Path) -> tuple[asyncio.subprocess.Process, Path]:
    own = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(folder / "data"), "AKSBOT_POLICY": str(_policy(folder))}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    everything = {**clean, **arm.environment("reader"), **slack.environment, **own}
    log = folder / "log"
    with log.open("wb") as lines:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *SERVE, cwd=ROOT, env=everything, stdout=subprocess.DEVNULL, stderr=lines
        )
    return process, log


def _policy(folder: Path) -> Path:
    """The approver may approve everything."""
    rule = {"clusters": ["*"], "approvers": [f"{TEAM}:{PEOPLE['approver']}"], "requester_counts": False}
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump({"fixes": {"rules": [rule]}}))
    return file


def _port(log: Path) -> str:
    found = _PORT.search(log.read_text())
    assert found, log.read_text()
    return found[1]


async def _refused(port: str) -> list[tuple[str, str]]:
    """The calls that Slack did not take, by the bot's own count, which also knows those that Slack calls unknown."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
        calls = _CALLS.findall(await answer.text())
    assert calls
    return [(method, outcome) for method, outcome in calls if outcome != "ok"]


def _complaints(text: str) -> list[str]:
    """What the bot has logged but information. Bolt warns at each start that it was given a token twice."""
    lines = [(_LEVEL.match(line), line) for line in text.splitlines() if line]
    return [line for found, line in lines if not found or (found[1] != "INFO" and found[2] != "slack_bolt.AsyncApp")]

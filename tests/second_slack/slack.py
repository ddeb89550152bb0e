"""A Slack that we have not written, npm's `local-slack-linux-x64`: what people do in it, and what it keeps."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

Body = dict[str, Any]
T = TypeVar("T")

PACKAGE = "local-slack-linux-x64"
NAMED = "AKSBOT_TEST_SECOND_SLACK"
ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / "build" / "second_slack" / "node_modules" / PACKAGE / "bin" / "local-slack"
PATIENCE_S = 120.0
ALONE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child")
"""It listens on every address, so it gets a network of its own."""

BOT, TEAM, CHANNEL = "U0AKSBOT", "T0CONTOSO", "C0INCIDENTS"
PEOPLE = {"requester": "U0REQUESTER", "approver": "U0APPROVER"}
CONFIG: Body = {
    "workspace": {"name": "Contoso Platform", "domain": "contoso", "teamId": TEAM},
    "app": {
        "appId": "A0AKSBOT",
        "botUserId": BOT,
        "botName": "aksbot",
        "botToken": "xoxb-second-slack",
        "appToken": "xapp-second-slack",
        "signingSecret": "second-slack",
        "mode": "socket",
    },
    "users": [{"id": user, "name": name, "real_name": name} for name, user in PEOPLE.items()],
    "channels": [{"id": CHANNEL, "name": "incidents", "members": [*PEOPLE.values(), BOT]}],
}


def executable() -> Path | None:
    """Where the package is installed."""
    if named := os.environ.get(NAMED) or shutil.which("local-slack"):
        return Path(named)
    return INSTALLED if INSTALLED.exists() else None


def why_not(path: Path | None) -> str | None:
    """Why it cannot run here; None where it can."""
    if path is None:
        return f"{PACKAGE} is not installed, and {NAMED} names none: npm install --prefix build/second_slack {PACKAGE}"
    try:
        subprocess.run([*ALONE, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return f"{PACKAGE} listens on every address, and this machine gives it no network of its own (unshare --net)"
    return None


EXECUTABLE = executable()
"""Found once: each test runs without settings."""


class SecondSlack:
    """The running server: people act over its control API and its page's socket, and read over its Web API."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which the bot connects to this server."""
        app = CONFIG["app"]
        return {
            "SLACK_API_URL": f"{self.url}/api/",
            "SLACK_BOT_TOKEN": app["botToken"],
            "SLACK_APP_TOKEN": app["appToken"],
            "SLACK_SIGNING_SECRET": app["signingSecret"],
        }

    # -- what people do ---------------------------------------------------------------------------------------

    async def say(self, user: str, text: str, thread_ts: str | None = None) -> Body:
        said = {"channel": CHANNEL, "user": PEOPLE[user], "text": text, "thread_ts": thread_ts}
        return dict((await self._do("message", said))["message"])

    async def slash(self, user: str, command: str, text: str) -> None:
        await self._do("command", {"channel": CHANNEL, "user": PEOPLE[user], "command": command, "text": text})

    async def press(self, user: str, message: Body, action_id: str) -> None:
        """Press a button of a message, as it is kept here."""
        block, button = next(pair for pair in elements(message) if pair[1].get("action_id") == action_id)
        action = {**button, "block_id": block.get("block_id")}
        where = {"channel": message["channel"], "messageTs": message["ts"], "user": PEOPLE[user]}
        await self._do("interact", {**where, "action": action})

    async def submit(self, user: str, values: Body) -> None:
        """Send the open window, as the page in the browser does."""
        async with self._page() as (page, _):
            await page.send_json({"t": "view_submit", "user": PEOPLE[user], "values": values})
            # The page is told when the window changes; whoever leaves sooner is not heard.
            async for frame in page:
                if frame.json()["t"] in ("view", "view_errors"):
                    return

    async def open_home(self, user: str) -> None:
        await self._do("open-home", {"user": PEOPLE[user]})

    async def share(self, user: str, name: str, content: str, text: str) -> Body:
        """Share a text file in the channel."""
        form = aiohttp.FormData({"channel": CHANNEL, "user": PEOPLE[user], "text": text})
        form.add_field("file", content.encode(), filename=name, content_type="text/plain")
        async with self._session.post(f"{self.url}/_control/upload", data=form) as answer:
            answer.raise_for_status()
            return dict((await answer.json())["message"])

    # -- what it keeps ----------------------------------------------------------------------------------------

    async def history(self) -> list[Body]:
        """The messages of the channel that are in no thread, oldest first."""
        return list(reversed((await self._read("conversations.history", channel=CHANNEL))["messages"]))

    async def thread(self, ts: str) -> list[Body]:
        """A message and the replies to it."""
        return list((await self._read("conversations.replies", channel=CHANNEL, ts=ts))["messages"])

    async def messages(self) -> list[Body]:
        """All messages of the channel; asking for them leaves no entry in the log."""
        return list((await self._shown(f"messages/{CHANNEL}"))["messages"])

    async def log(self) -> list[Body]:
        """All that went between it and the bot, the last 1,000 entries."""
        return list((await self._shown("log"))["log"])

    async def windows(self) -> list[Body]:
        """The open windows; the last one is on top."""
        async with self._page() as (_, shown):
            return list(shown["modalStack"])

    async def home(self, user: str) -> Body | None:
        """The App Home of this person."""
        async with self._page() as (_, shown):
            published: Body = shown["homeViews"].get(PEOPLE[user]) or {}
            return published.get(CONFIG["app"]["appId"])

    async def content(self, file: Body) -> bytes:
        token = {"Authorization": f"Bearer {CONFIG['app']['botToken']}"}
        async with self._session.get(file["url_private"], headers=token) as answer:
            answer.raise_for_status()
            return await answer.read()

    # -- waiting ----------------------------------------------------------------------------------------------

    async def until(self, found: Callable[[], Awaitable[T | None]], timeout_s: float = PATIENCE_S) -> T:
        """Wait until this is something, and return it."""
        async with asyncio.timeout(timeout_s):
            while not (there := await found()):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.02)
            return there

    async def message(self, fits: Callable[[Body], bool]) -> Body:
        """Wait for such a message of the bot."""

        async def found() -> Body | None:
            return next((one for one in await self.messages() if one.get("user") == BOT and fits(one)), None)

        return await self.until(found)

    async def with_button(self, action_id: str, thread_ts: str | None = None) -> Body:
        """Wait for the bot's message with this button, in this thread if there is one."""
        return await self.message(
            lambda one: one.get("thread_ts") == thread_ts and action_id in buttons(one),
        )

    async def connected(self) -> None:
        """Wait until the bot is connected."""

        async def greeted() -> bool:
            return any("(hello)" in entry["summary"] for entry in await self.log())

        await self.until(greeted)

    async def first_sign_s(self, said: Body) -> float:
        """From the delivery of a message until the bot's first reaction or reply, by the clock of this Slack."""

        async def signs() -> list[float]:
            calls = [entry for entry in await self.log() if entry["kind"] == "web_api"]
            return [entry["time"] / 1000 for entry in calls if _is_sign(entry, said["ts"])]

        first = min(await self.until(signs))
        delivered = [entry for entry in await self.log() if entry["kind"] == "events_api" and _is_about(entry, said)]
        return float(first - min(entry["time"] for entry in delivered) / 1000)

    # -- how ---------------------------------------------------------------------------------------------------

    async def _do(self, name: str, body: Body) -> Body:
        async with self._session.post(f"{self.url}/_control/{name}", json=body) as answer:
            answer.raise_for_status()
            return dict(await answer.json())

    async def _shown(self, name: str) -> Body:
        async with self._session.get(f"{self.url}/_control/{name}") as answer:
            answer.raise_for_status()
            return dict(await answer.json())

    async def _read(self, method: str, **arguments: str) -> Body:
        async with self._session.get(f"{self.url}/api/{method}", params=arguments) as answer:
            found = dict(await answer.json())
        assert found["ok"], (method, found)
        return found

    @asynccontextmanager
    async def _page(self) -> AsyncIterator[tuple[aiohttp.ClientWebSocketResponse, Body]]:
        """The socket of its page, and what it shows first."""
        async with self._session.ws_connect(f"{self.url}/ui") as page:
            yield page, (await page.receive_json())["state"]


def elements(message: Body) -> list[tuple[Body, Body]]:
    """The buttons and menus of a message, each with its block."""
    return [(block, one) for block in message.get("blocks") or () for one in block.get("elements") or ()]


def buttons(message: Body) -> list[str]:
    return [one["action_id"] for _, one in elements(message) if "action_id" in one]


def _is_sign(entry: Body, ts: str) -> bool:
    """Whether a call is a reaction to this message, or a reply to it."""
    wanted = {"reactions.add": "timestamp", "chat.postMessage": "thread_ts"}.get(entry["summary"], "")
    return bool(wanted) and entry["detail"].get(wanted) == ts


def _is_about(entry: Body, said: Body) -> bool:
    return bool(entry["detail"]["event"].get("ts") == said["ts"])


@asynccontextmanager
async def second_slack(folder: Path) -> AsyncIterator[SecondSlack]:
    """Runs it; nobody but this machine reaches it, and it reaches nothing."""
    config = folder / "second_slack.json"
    config.write_text(json.dumps(CONFIG))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        number, port = listening.fileno(), listening.getsockname()[1]
        options = ("--config", config, "--port", port, "--base-host", "127.0.0.1", "--files-dir", folder / "files")
        words = (*ALONE, sys.executable, "-m", "tests.second_slack.closed_off", number, port, EXECUTABLE, *options)
        process = await asyncio.create_subprocess_exec(
            *map(str, words), cwd=ROOT, pass_fds=[number], stdout=subprocess.DEVNULL
        )
    try:
        async with aiohttp.ClientSession() as session:
            slack = SecondSlack(f"http://127.0.0.1:{port}", session)
            await slack.until(lambda: _answers(slack))
            yield slack
    finally:
        process.kill()
        await process.wait()


async def _answers(slack: SecondSlack) -> bool:
    try:
        return await slack.log() is not None
    except aiohttp.ClientError:
        return False

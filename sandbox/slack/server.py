"""The server: a local Slack on 127.0.0.1 that works with unmodified client libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
from aiohttp import web

from sandbox.slack.clock import Clock, RealClock, VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.door import Door
from sandbox.slack.errors import NotInSlack
from sandbox.slack.faults import Fault
from sandbox.slack.http_road import HttpRoad
from sandbox.slack.interactions import Trouble
from sandbox.slack.limits import Limits
from sandbox.slack.manifest import Manifest
from sandbox.slack.outbox import Outbox
from sandbox.slack.page.routes import Page
from sandbox.slack.request_log import LoggedCall
from sandbox.slack.site import Site
from sandbox.slack.sockets import Sockets
from sandbox.slack.triggers import Triggers
from sandbox.slack.views import Views
from sandbox.slack.workspace import Workspace

__all__ = ["Fault", "LoggedCall", "NotInSlack", "SlackServer", "Trouble", "VirtualClock"]

T = TypeVar("T")


class SlackServer:
    """Serves workspaces with one installed app. The app receives events over Socket Mode or HTTP."""

    def __init__(
        self,
        workspaces: Workspace | Sequence[Workspace],
        *,
        manifest: Manifest | None = None,
        clock: Clock | None = None,
        port: int = 0,
    ) -> None:
        teams = [workspaces] if isinstance(workspaces, Workspace) else list(workspaces)
        clock = clock or RealClock()
        self.site = site = Site(teams, manifest or Manifest(), clock, Limits(clock))
        site.sockets = Sockets(site.app_id, clock, site.changes)
        site.outbox = Outbox(site.sockets, clock, site.running, site.changes)
        site.triggers = Triggers(clock)
        site.views = Views()
        self.control = Control(site, teams[0])
        """The Control of the first workspace."""
        self._door = Door(site)
        self._port = port
        self._stack = AsyncExitStack()
        self._session: aiohttp.ClientSession | None = None

    # -- lifecycle --------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            app = web.Application()
            self._door.add_routes(app)
            app.router.add_get("/link/", self.site.sockets.serve)
            Page(self.site).add_routes(app)
            # Cancel the handler when its client disconnects: that is how a "timeout" fault ends.
            runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            self._port = runner.addresses[0][1]
            self._session = await stack.enter_async_context(aiohttp.ClientSession())
            stack.push_async_callback(self.site.running.close)
            stack.push_async_callback(self.site.sockets.close)
            self._stack = stack.pop_all()
        self.site.base = f"http://127.0.0.1:{self._port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.site.closing.set()
        self.site.changes.ring()
        await self._stack.aclose()

    # -- address and credentials ------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base of the Web API, for SLACK_API_URL."""
        return f"{self.site.base}/api/"

    @property
    def page_url(self) -> str:
        """The URL of the page to open in a browser."""
        return f"{self.site.base}/"

    @property
    def bot_token(self) -> str:
        """The bot token for the first workspace."""
        return self.site.bot_token(self.site.workspaces[0].id)

    def bot_token_of(self, team: str) -> str:
        return self.site.bot_token(team)

    @property
    def app_token(self) -> str:
        return self.site.app_token

    @property
    def signing_secret(self) -> str:
        return self.site.signing_secret

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which the bot connects to this server."""
        return {
            "SLACK_API_URL": self.url,
            "SLACK_BOT_TOKEN": self.bot_token,
            "SLACK_APP_TOKEN": self.app_token,
            "SLACK_SIGNING_SECRET": self.signing_secret,
        }

    async def connect_http(self, url: str) -> None:
        """Switch to delivery over HTTP. The app must answer the challenge first."""
        if self._session is None:
            raise RuntimeError("the server is not running")
        road = HttpRoad(url, self.signing_secret, self.site.clock, self._session)
        await road.verify()
        self.site.outbox.road = road

    # -- people, request log, faults --------------------------------------------------------------------------

    def control_of(self, team: str) -> Control:
        """The Control of a workspace, by its name, domain or id."""
        return Control(self.site, self.site.workspace(team))

    async def until(self, predicate: Callable[[], T], timeout_s: float = 10.0) -> T:
        return await self.site.changes.until(predicate, timeout_s)

    @property
    def sockets(self) -> Sockets:
        return self.site.sockets

    @property
    def outbox(self) -> Outbox:
        return self.site.outbox

    @property
    def limits(self) -> Limits:
        return self.site.limits

    @property
    def log(self) -> list[LoggedCall]:
        """Every call, including failed ones; response URLs and uploads are logged under those names."""
        return self.site.log

    @property
    def faults(self) -> list[Fault]:
        return self.site.faults

    @property
    def used_scopes(self) -> set[str]:
        """The scopes that the app's calls used."""
        return {scope for call in self.log for scope in call.scopes}

    @property
    def told_events(self) -> set[str]:
        """The events delivered to the app, by their names in the manifest."""
        return set(self.site.told)

"""The process behind `aksbot serve`: builds and wires everything, the only place that does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

import handlers.diagnose
import handlers.evidence
from bot.clients import azure_access, clients, kube_access
from bot.http_server import Site, serving
from bot.jobs.service import Jobs, Role, jobs
from bot.jobs.stopping import told_to_stop
from bot.jobs.watch import azure_runner
from bot.library import load as load_library
from bot.metrics import Metrics
from bot.settings import Settings
from bot.slack.calls import TIMEOUT_S, Calls
from bot.slack.desk import Desk
from bot.slack.listeners import Listeners
from bot.slack.speaker import Speaker
from bot.slack.teller import SlackTeller
from bot.slack.voice import Voice
from bot.store.connect import connected
from bot.store.running import RunningChecks
from bot.store.state import State
from handlers.engine.graph import Graph
from handlers.problem import Exit, Problem

log = logging.getLogger(__name__)


@dataclass
class Bot:
    """A bot that runs: for those who look after it."""

    jobs: Jobs
    site: Site
    metrics: Metrics


@dataclass
class Readiness:
    """Whether this process can do its part."""

    state: State
    sockets: list[AsyncSocketModeHandler] = field(default_factory=list)

    async def why_not(self) -> str | None:
        if not await self.state.is_reachable():
            return "the state (REDIS_URL) cannot be reached"
        if any([not await one.client.is_connected() for one in self.sockets]):
            return "the connection to Slack (Socket Mode) is down"
        return None


async def serve(settings: Settings, *, host: str | None = None) -> None:
    """Run until told to stop, then drain."""
    stop = asyncio.create_task(told_to_stop(), name="told to stop")
    try:
        async with running(settings, host=host):
            await stop
            log.info("told to stop: running checks may end, nothing new is taken in")
    finally:
        stop.cancel()
        with suppress(asyncio.CancelledError):
            await stop
    log.info("stopped")


@asynccontextmanager
async def running(settings: Settings, *, host: str | None = None) -> AsyncIterator[Bot]:
    """Everything, from the state up to the door, open while the context is."""
    role = Role(settings.role)
    _must_be_complete(settings, role)
    library, metrics = load_library(settings), Metrics()
    redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with (
        connected(redis_url, settings.data_dir) as connection,
        aiohttp.ClientSession() as session,
        clients(azure_access(settings), kube_access(settings)) as opened,
    ):
        client = _slack_client(settings, session)
        await _must_be_let_in(client)
        voice, state = Voice(Calls(client, session, metrics)), State(connection.redis)
        speaker = Speaker(voice, state)
        desk = Desk(voice, speaker, RunningChecks(connection.redis), library, opened.arm, settings.data_dir)
        run = azure_runner(opened, library, settings.check_timeout_s)
        async with (
            SlackTeller(voice, speaker, library, metrics) as teller,
            jobs(connection, run, teller, role=role, other_kinds=(desk.kind,)) as taken,
        ):
            ready = Readiness(state)
            bolt = _bolt(settings, client, Listeners(taken, voice, library, _areas(), metrics))
            over_http = bolt if role.listens and not settings.slack_app_token else None
            async with (
                serving(host, settings.http_port, ready.why_not, metrics, over_http) as site,
                _socket(settings, bolt, ready) if role.listens else nullcontext(),
            ):
                log.info("aksbot serves as %s on port %d", role.value, site.port)
                yield Bot(taken, site, metrics)


def _must_be_complete(settings: Settings, role: Role) -> None:
    what = "cannot serve"
    if not settings.slack_bot_token:
        raise Problem(what, "SLACK_BOT_TOKEN is not set", "set it to the bot token of the Slack app", code=Exit.USAGE)
    if role.listens and not settings.slack_app_token and not settings.slack_signing_secret:
        do = "set SLACK_APP_TOKEN (Socket Mode), or SLACK_SIGNING_SECRET (HTTP)"
        raise Problem(what, "there is no way for Slack to come in", do, code=Exit.USAGE)
    if role is not Role.ALL and not settings.redis_url:
        why = f"as {role.value} it shares the work with other processes, and REDIS_URL is not set"
        raise Problem(what, why, "set REDIS_URL to the server they share, or serve as all", code=Exit.USAGE)


def _slack_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """No retries of the client's own: it would post twice."""
    token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else None
    url = settings.slack_api_url
    return AsyncWebClient(token=token, base_url=url, session=session, timeout=TIMEOUT_S, retry_handlers=[])


async def _must_be_let_in(client: AsyncWebClient) -> None:
    """Better known at the start than with the first command. A Slack that is away may come back."""
    try:
        answer = await client.auth_test()
    except SlackApiError as refused:
        if refused.response.status_code >= 429:
            return
        error = refused.response.get("error", "refused")
        do = "correct SLACK_BOT_TOKEN: install the app again and copy its bot token"
        raise Problem("cannot sign in to Slack", f"it answers {error}", do) from refused
    except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as lost:
        do = "check the network and SLACK_API_URL, then start again"
        raise Problem("cannot reach Slack", str(lost) or type(lost).__name__, do) from lost
    log.info("signed in to the workspace %s as %s", answer["team"], answer["user"])


def _bolt(settings: Settings, client: AsyncWebClient, listeners: Listeners) -> AsyncApp:
    secret = settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else ""
    # Slack hears that it has arrived once it is in the queue, not before.
    app = AsyncApp(client=client, signing_secret=secret, process_before_response=True)
    listeners.listen(app)
    return app


@asynccontextmanager
async def _socket(settings: Settings, bolt: AsyncApp, ready: Readiness) -> AsyncIterator[None]:
    """Socket Mode, where there is a token for it."""
    if not settings.slack_app_token:
        yield
        return
    handler = AsyncSocketModeHandler(bolt, settings.slack_app_token.get_secret_value())
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]
        ready.sockets.append(handler)
        yield
    except SlackApiError as refused:
        why = f"it answers {refused.response.get('error', 'refused')}"
        do = "correct SLACK_APP_TOKEN (xapp-…, with connections:write), and switch Socket Mode on in the app"
        raise Problem("cannot connect to Slack", why, do) from refused
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


def _areas() -> frozenset[str]:
    return frozenset(one.area for one in Graph.discover(handlers.evidence, handlers.diagnose).diagnostics)

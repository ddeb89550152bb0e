"""The process behind `aksbot serve`: builds and wires everything, the only place that does."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
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
from bot.policy.file import load as load_policy
from bot.settings import Settings
from bot.slack.calls import TIMEOUT_S, Calls
from bot.slack.desk import Desk
from bot.slack.fleet_desk import FleetDesk
from bot.slack.gate import Gate
from bot.slack.home import NoApprovals
from bot.slack.home_listeners import HomeListeners
from bot.slack.intake import Intake
from bot.slack.listeners import Listeners
from bot.slack.people import People
from bot.slack.remembering import Remembering
from bot.slack.replays import Replays
from bot.slack.replier import Replier
from bot.slack.sign_in import SignIn
from bot.slack.speaker import Speaker
from bot.slack.teller import SlackTeller
from bot.slack.triage_listeners import TriageListeners
from bot.slack.voice import Voice
from bot.store.connect import connected
from bot.store.recent import RecentChecks
from bot.store.running import RunningChecks
from bot.store.state import State
from handlers.clients.access import AzureAccess
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
    calls: Calls
    sockets: list[AsyncSocketModeHandler] = field(default_factory=list)

    async def why_not(self) -> str | None:
        if not await self.state.is_reachable():
            return "the state (REDIS_URL) cannot be reached"
        if any([not await one.client.is_connected() for one in self.sockets]):
            return "the connection to Slack (Socket Mode) is down"
        if refused := await self.calls.why_locked_out():
            return f"Slack refuses the bot's token ({refused}): install the app again and set SLACK_BOT_TOKEN"
        return None


async def serve(settings: Settings, *, host: str | None = None) -> None:
    """Run until told to stop, then drain."""
    stop = asyncio.create_task(told_to_stop(), name="told to stop")
    try:
        async with running(settings, host=host):
            # What is there by now stays. Looking through it again and again would hold up answers for 0.1 s each time.
            gc.collect()
            gc.freeze()
            await stop
            log.info("told to stop: running checks may end, nothing new is taken in")
    finally:
        stop.cancel()
        with suppress(asyncio.CancelledError):
            await stop
    log.info("stopped")


@asynccontextmanager
async def running(
    settings: Settings, *, host: str | None = None, azure: AzureAccess | None = None
) -> AsyncIterator[Bot]:
    """Everything, from the state up to the door, open while the context is. `azure` overrides the settings."""
    role = Role(settings.role)
    _must_be_complete(settings, role)
    library, metrics, look = load_library(settings), Metrics(), load_policy(settings.policy).look
    redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with (
        connected(redis_url, settings.data_dir) as connection,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session,
        clients(azure or azure_access(settings), kube_access(settings)) as opened,
    ):
        client = _slack_client(settings, session)
        sign_in = SignIn(client)
        await sign_in.at_the_start()
        calls, state, recent = Calls(client, session, metrics), State(connection.redis), RecentChecks(connection.redis)
        voice, people = Voice(calls), People(calls)
        speaker, gate = Speaker(voice, state), Gate(look, people)
        replier = Replier(voice, speaker)
        about_fleet = FleetDesk(
            voice, replier, gate, people, state, recent, NoApprovals(), library=library, arm=opened.arm
        )
        desk = Desk(voice, replier, RunningChecks(connection.redis), library, about_fleet, settings.data_dir)
        run = azure_runner(opened, library, settings.check_timeout_s)
        async with (
            SlackTeller(voice, speaker, library, metrics) as teller,
            jobs(
                connection, run, Remembering(teller, speaker, recent, library), role=role, other_kinds=(desk.kind,)
            ) as taken,
        ):
            ready = Readiness(state, calls)
            replays = Replays(state)
            bolt = _bolt(settings, client, sign_in, replays)
            intake = Intake(taken, gate, state)
            listeners = Listeners(intake, voice, library, _areas(), metrics)
            for one in (listeners, HomeListeners(intake, voice, metrics), TriageListeners(intake, metrics)):
                one.listen(bolt)
            listeners.listen_to_the_rest(bolt)
            over_http = bolt if role.listens and not settings.slack_app_token else None
            async with (
                serving(host, settings.http_port, ready.why_not, metrics, over_http, replays) as site,
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


def _bolt(settings: Settings, client: AsyncWebClient, sign_in: SignIn, replays: Replays) -> AsyncApp:
    secret = settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else ""
    # Slack hears that it has arrived once it is in the queue, not before.
    app = AsyncApp(client=client, authorize=sign_in, signing_secret=secret, process_before_response=True)
    app.middleware(replays.refuse)
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

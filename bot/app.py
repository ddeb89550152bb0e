"""The process behind `aksbot serve`: builds and wires everything, and is the only place that does."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.checks.clients import azure_access, clients, kube_access
from bot.checks.fleet.keeping import KeepingVerdicts
from bot.checks.library import load as load_library
from bot.checks.recording import azure_recorder
from bot.checks.remedies import remedy_names
from bot.checks.reporter import WithHooks
from bot.checks.runner import azure_runner
from bot.checks.service import DRAIN_S, Jobs, Options, Role
from bot.checks.store.recent import RecentChecks
from bot.checks.store.running import RunningChecks
from bot.checks.store.verdicts import Verdicts
from bot.checks.support.packets import SupportPackets, done_in
from bot.checks.words import areas
from bot.fixes.times import Times
from bot.fixes.writer_clients import writer_client_factory
from bot.http.alerts import AlertEndpoints
from bot.http.readiness import MEMORY_WITHIN_S, Readiness
from bot.http.server import Site, serving
from bot.http.slack import SlackEndpoint
from bot.incidents.history import Histories
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.log_redaction import redact_logs
from bot.metrics import Metrics
from bot.policy.file import load as load_policy
from bot.queue.stop_signal import stop_requested
from bot.render.links import Links, portal_of
from bot.settings import Settings
from bot.slack.api.calls import TIMEOUT_S, Body, Calls
from bot.slack.api.history import History
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.api.readers import ChannelReaders
from bot.slack.api.sign_in import SignIn
from bot.slack.api.sockets import Sockets
from bot.slack.api.sockets import connected as connected_to_slack
from bot.slack.api.text_files import TextFiles
from bot.slack.api.workspace import workspace
from bot.slack.changes.handlers import ChangeHandlers
from bot.slack.checks.recordings import SentRecordings
from bot.slack.checks.remembering import Remembering
from bot.slack.checks.reporter import SlackReporter
from bot.slack.checks.superseding import Superseding
from bot.slack.digest.clock import DigestClock
from bot.slack.digest.handlers import DigestHandlers
from bot.slack.fixes.listeners import FixListeners
from bot.slack.fixes.wiring import Fixing
from bot.slack.fleet.check_all import CheckAll
from bot.slack.fleet.handlers import FleetHandlers
from bot.slack.gaps.catch_up import BUSY, CatchUp, Hear, Installed, catching_up
from bot.slack.gaps.mentions import AcceptedMentions
from bot.slack.history.handlers import HistoryHandlers
from bot.slack.home.listeners import HomeListeners
from bot.slack.inbound import deadline
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.message_reader import Me
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.redacting import Redacts
from bot.slack.inbound.replays import Replays
from bot.slack.inbound.replier import Replier
from bot.slack.incidents.listeners import IncidentListeners
from bot.slack.incidents.reporter import IncidentHooks, seen_by_incidents
from bot.slack.listeners import Listeners
from bot.slack.reading_along import incident_wiring
from bot.slack.support.handlers import SupportHandlers
from bot.slack.talk.handlers import TalkHandlers
from bot.slack.tasks import TaskHandler
from bot.slack.triage.listeners import TriageListeners
from bot.store.connect import connected
from bot.store.gaps import Gaps
from bot.store.state import State
from handlers.clients.access import AzureAccess
from handlers.problem import Exit, Problem

log = logging.getLogger(__name__)


@dataclass
class Bot:
    """A running bot, for the code that watches it."""

    jobs: Jobs
    site: Site
    metrics: Metrics
    ready: Readiness
    over_http: bool
    """Slack comes through our own door."""

    async def stop_accepting(self, door_open_s: float) -> None:
        """Report not ready, so that load balancers stop sending; requests on their way are still served."""
        self.ready.leaving = True
        if self.over_http:
            await asyncio.sleep(door_open_s)


async def serve(settings: Settings) -> None:
    """Run until told to stop, then drain."""
    stop = asyncio.create_task(stop_requested(), name="told to stop")
    try:
        async with running(settings) as bot:
            # Freeze the objects made so far: collecting them again and again would delay answers by 0.1 s each time.
            gc.collect()
            gc.freeze()
            await stop
            log.info("told to stop: running checks may end, then nothing new is taken in")
            await bot.stop_accepting(settings.door_open_s)
    finally:
        stop.cancel()
        with suppress(asyncio.CancelledError):
            await stop
    log.info("stopped")


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    host: str | None = None,
    azure: AzureAccess | None = None,
    times: Times | None = None,
    spans: Spans = Spans(),  # noqa: B008 - frozen
    drain_s: float = DRAIN_S,
) -> AsyncIterator[Bot]:
    """The whole bot, from its store to its HTTP server, running while the context is open.

    `host` and `azure` override the settings; `times` is the clock of fixes, `spans` how long it waits where it reads
    along, `drain_s` how long what runs may still take at the end.
    """
    redact_logs()
    role = Role(settings.role)
    _must_be_complete(settings, role)
    library, metrics, policy = load_library(settings), Metrics(), load_policy(settings.policy, remedies=remedy_names())
    redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with (
        connected(redis_url, settings.data_dir) as connection,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session,
        clients(azure or azure_access(settings), kube_access(settings)) as opened,
        writer_client_factory(azure or azure_access(settings), kube_access(settings)) as bench,
    ):
        client = _slack_client(settings, session)
        sign_in = SignIn(client)
        await sign_in.at_the_start()
        calls, state, recent = Calls(client, session, metrics), State(connection.redis), RecentChecks(connection.redis)
        slack_messages, people = SlackMessages(calls), People(calls)
        message_poster, gate = Poster(slack_messages, state, draws=policy.pictures.show), Gate(policy.look, people)
        outside = Outside(policy.look, ChannelReaders(calls, state))
        replier = Replier(message_poster, outside)
        links = Links(portal_of(settings.azure_resource_manager), tuple(rule.template for rule in policy.links))
        superseding = Superseding(slack_messages, recent, people, gate, outside, library)
        verdicts = Verdicts(connection.redis)
        keeping = KeepingVerdicts(verdicts)
        looked = keeping.and_then(superseding.seen)
        run = azure_runner(opened, library, settings.check_timeout_s)
        # The workers queue further jobs, so this exists before them and is opened with them.
        taken = Jobs(connection, run, role=role, options=Options(drain_s=drain_s))
        reading = incident_wiring(
            connection,
            taken,
            calls=calls,
            state=state,
            slack_messages=slack_messages,
            message_poster=message_poster,
            replier=replier,
            people=people,
            gate=gate,
            outside=outside,
            policy=policy,
            library=library,
            arm=opened.arm,
            run=run,
            spans=spans,
            files=TextFiles(session, client.token or "", client.base_url, spans.files),
            looked=looked,
        )

        async def team() -> str:
            return (await workspace(sign_in)).team_id or ""

        async def installed() -> Installed:
            found = await workspace(sign_in)
            return Installed(found.team_id or "", Me(found.bot_user_id or "", found.bot_id or "", ""))

        seen = seen_by_incidents(reading.incident_service, team, looked)
        fixing = Fixing(
            policy.fixes,
            connection,
            taken,
            people,
            slack_messages,
            message_poster,
            replier,
            gate,
            outside,
            run,
            opened.arm,
            bench,
            seen,
            times,
        )
        about_fleet = FleetHandlers(
            slack_messages,
            replier,
            gate,
            people,
            state,
            recent,
            verdicts,
            fixing.lists,
            library=library,
            arm=opened.arm,
        )
        checks = RunningChecks(connection.redis)
        record = azure_recorder(
            azure or azure_access(settings), kube_access(settings), library, settings.check_timeout_s
        )
        packets = SupportPackets(
            azure or azure_access(settings), kube_access(settings), library, settings.check_timeout_s
        )
        support = SupportHandlers(packets, done_in(fixing.audit), gate, outside, message_poster, replier)
        talk = TalkHandlers(about_fleet.seen, taken.check, replier, library)
        check_all = CheckAll(about_fleet, message_poster, replier, outside, run, looked, library)
        changes = ChangeHandlers(state, replier, gate, opened.arm)
        histories = Histories(verdicts, Incidents(connection.redis), fixing.audit, library)
        history = HistoryHandlers(state, replier, gate, opened.arm, histories)
        digests = DigestHandlers(about_fleet, replier, run, looked, histories, policy, library, opened.arm)
        clock = DigestClock(policy.digests, team, state, taken.submit)
        others = {
            **fixing.work,
            **support.work,
            **check_all.work,
            **changes.work,
            **history.work,
            **digests.work,
            **talk.work,
        }
        desk = TaskHandler(
            slack_messages,
            replier,
            checks,
            library,
            about_fleet,
            settings.data_dir,
            record,
            SentRecordings(slack_messages, message_poster),
            others,
        )
        remembering, incidents = Remembering(message_poster, recent, library), IncidentHooks(reading.incident_service)
        async with (
            SlackReporter(slack_messages, message_poster, library, gate, outside, metrics, links) as reporter,
            aclosing(reading.places),
            taken.at_work(
                WithHooks(
                    reporter,
                    incidents.wanted,
                    fixing.offering.completed,
                    (remembering.note, keeping.note, superseding.note, incidents.observe),
                    incidents.before,
                    incidents.is_announced,
                ),
                (desk.kind, fixing.kind, reading.kind),
            ),
        ):
            ready = Readiness(taken.writes, calls, role, metrics)
            replays = Replays(state)
            bolt = _bolt(settings, client, sign_in, replays, AcceptedMentions(reading.turns))
            intake = Intake(taken, gate, state)
            along = IncidentListeners(intake, reading.turns, reading.queue, reading.spans, outside, metrics)
            listeners = Listeners(intake, slack_messages, library, areas(), metrics)
            more = HomeListeners(intake, slack_messages, metrics), TriageListeners(intake, metrics)
            # Bolt asks one listener after the other, and a person who typed a command waits: commands come first.
            along.listen_to_commands(bolt)
            listeners.listen_to_commands(bolt)
            for listener in (along, listeners, *more, FixListeners(intake, slack_messages, metrics)):
                listener.listen(bolt)
            listeners.listen_to_the_rest(bolt)
            catch_up = CatchUp(
                history=History(calls),
                gaps=Gaps(connection.redis),
                incidents=Incidents(connection.redis),
                turns=reading.turns,
                message_poster=message_poster,
                channels=policy.channels,
                installed=installed,
                hear=_dispatch(bolt),
                metrics=metrics,
                writable=lambda: taken.writes.now_ms(MEMORY_WITHIN_S),
            )
            over_http = role.listens and not settings.slack_app_token
            doors = [*AlertEndpoints(settings.alerts_token, reading.queue, sign_in).routes] if role.listens else []
            if over_http and settings.slack_signing_secret:
                doors += SlackEndpoint(bolt, settings.slack_signing_secret, replays).routes
            listens_on = host or settings.http_host, settings.http_port, settings.ops_port
            async with (
                serving(*listens_on, ready.standing, metrics, doors) as site,
                fixing.looked_after(works=role.works),
                clock.ticking(works=role.works),
                _socket(settings, bolt, ready, catch_up, spans) if role.listens else nullcontext(),
            ):
                log.info(
                    "aksbot serves as %s on %s, port %d, health on %d",
                    role.value,
                    listens_on[0],
                    site.port,
                    site.ops_port,
                )
                yield Bot(taken, site, metrics, ready, over_http)


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
    """No retries by the Slack client itself: it would post twice."""
    token = settings.slack_bot_token.get_secret_value() if settings.slack_bot_token else None
    url = settings.slack_api_url
    return AsyncWebClient(token=token, base_url=url, session=session, timeout=TIMEOUT_S, retry_handlers=[])


def _bolt(
    settings: Settings, client: AsyncWebClient, sign_in: SignIn, replays: Replays, mentions: AcceptedMentions
) -> AsyncApp:
    secret = settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else ""
    # Acknowledge only after the job is in the queue.
    app = AsyncApp(client=client, authorize=sign_in, signing_secret=secret, process_before_response=True)
    app.middleware(deadline.Starts())
    app.middleware(replays)
    app.middleware(mentions)
    app.middleware(Redacts())
    return app


@asynccontextmanager
async def _socket(
    settings: Settings, bolt: AsyncApp, ready: Readiness, catch_up: CatchUp, spans: Spans
) -> AsyncIterator[None]:
    """Socket Mode, if there is a token for it. Messages missed without a connection are read afterwards."""
    if not settings.slack_app_token:
        yield
        return
    token = settings.slack_app_token.get_secret_value()
    sockets = Sockets(bolt, token, catch_up.missed, spans.ping.total_seconds())
    async with connected_to_slack(sockets), catching_up(catch_up, sockets):
        ready.sockets = sockets
        yield


def _dispatch(bolt: AsyncApp) -> Hear:
    """Dispatch an event through all listeners, as if Slack had sent it."""

    async def hear(body: Body) -> bool:
        # In its own task: each event has its own deadline.
        answer = await asyncio.create_task(bolt.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=body)))
        return answer.status < BUSY

    return hear

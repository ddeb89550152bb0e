"""The part of the bot that reads along, put together."""

from __future__ import annotations

from dataclasses import dataclass

from bot.audit.store import Audit
from bot.checks.runner import Runner
from bot.checks.service import Jobs
from bot.checks.store.verdicts import Verdicts
from bot.incidents.history import Histories
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.incidents.watches import Watches
from bot.policy.model import Policy
from bot.queue.job import Kind
from bot.slack.api.calls import Calls
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.api.text_files import TextFiles
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.slack.incidents.alerts import AlertHandlers
from bot.slack.incidents.course import CourseHandlers
from bot.slack.incidents.handlers import IncidentHandlers
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.people import IncidentCommandHandlers
from bot.slack.incidents.places import Places
from bot.slack.incidents.queue import IncidentQueue, kind_of
from bot.slack.incidents.service import IncidentService, Looked
from bot.slack.incidents.tasks import Task
from bot.slack.kit import sentences
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.watch.handlers import WatchHandlers
from bot.store.connect import Connection
from bot.store.state import State
from bot.triage.recognise import Recogniser
from handlers.clients.arm.reader import ArmReader
from handlers.problem import Problem
from runbooks.library import Library


@dataclass(frozen=True)
class IncidentWiring:
    """What listeners and the queue need of it."""

    queue: IncidentQueue
    kind: Kind[Task]
    incident_service: IncidentService
    turns: Turns
    spans: Spans
    places: Places


def incident_wiring(
    connection: Connection,
    jobs: Jobs,
    *,
    calls: Calls,
    state: State,
    slack_messages: SlackMessages,
    message_poster: Poster,
    replier: Replier,
    people: People,
    gate: Gate,
    outside: Outside,
    policy: Policy,
    library: Library,
    arm: ArmReader,
    run: Runner,
    spans: Spans,
    files: TextFiles,
    looked: Looked,
) -> IncidentWiring:
    redis = connection.redis
    turns, incidents, places = Turns(redis), Incidents(redis), Places(calls, state, arm)
    telling = IncidentMessages(message_poster, places, people, outside, library, incidents, policy.look)

    async def report_given_up(task: Task, problem: Problem) -> None:
        ask = Ask(task.id, What.REPLY, task.place)
        await replier.privately(ask, AnswerMessages(Message(sentences.problem(problem)), ()))

    queue = IncidentQueue(jobs)
    incident_service = IncidentService(
        queue=queue,
        incidents=incidents,
        telling=telling,
        run=run,
        spans=spans,
        looked=looked,
        notify=policy.channels.notify,
    )
    desk = IncidentHandlers(
        incident_service=incident_service,
        turns=turns,
        incidents=incidents,
        recogniser=Recogniser(library),
        places=places,
        telling=telling,
        gate=gate,
        policy=policy,
        library=library,
        files=files,
        replier=replier,
    )
    about_people = IncidentCommandHandlers(
        desk=desk,
        telling=telling,
        incidents=incidents,
        turns=turns,
        places=places,
        slack_messages=slack_messages,
        replier=replier,
        gate=gate,
        policy=policy,
        library=library,
    )
    alerts = AlertHandlers(desk=desk, incident_service=incident_service, message_poster=message_poster, policy=policy)
    watching = WatchHandlers(
        queue=queue,
        incident_service=incident_service,
        watches=Watches(redis),
        message_poster=message_poster,
        replier=replier,
        gate=gate,
        run=run,
        arm=arm,
        library=library,
        spans=spans,
    )
    histories = Histories(Verdicts(redis), incidents, Audit(redis), library)
    courses = CourseHandlers(outside, incidents, histories, message_poster, arm, library)
    works = (desk.work, incident_service.work, about_people.work, alerts.work, watching.work, courses.work)
    return IncidentWiring(queue, kind_of(works, report_given_up), incident_service, turns, spans, places)

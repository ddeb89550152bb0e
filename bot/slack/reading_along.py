"""The part of the bot that reads along, put together."""

from __future__ import annotations

from dataclasses import dataclass

from bot.checks.runner import Runner
from bot.checks.service import Jobs
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.incidents.watches import Watches
from bot.policy.model import Policy
from bot.queue.job import Kind
from bot.slack.api.calls import Calls
from bot.slack.api.messages import Voice
from bot.slack.api.people import People
from bot.slack.api.poster import Speaker
from bot.slack.api.text_files import TextFiles
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.replier import Replier
from bot.slack.incidents.alerts import AlertsDesk
from bot.slack.incidents.handlers import IncidentDesk
from bot.slack.incidents.messages import IncidentTelling
from bot.slack.incidents.people import IncidentPeopleDesk
from bot.slack.incidents.places import Places
from bot.slack.incidents.queue import IncidentQueue, kind_of
from bot.slack.incidents.service import IncidentKeeper
from bot.slack.incidents.tasks import Task
from bot.slack.kit import sentences
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.watch.handlers import WatchDesk
from bot.store.connect import Connection
from bot.store.state import State
from bot.triage.recognise import Recogniser
from handlers.clients.arm.reader import ArmReader
from handlers.problem import Problem
from runbooks.library import Library


@dataclass(frozen=True)
class IncidentSide:
    """What listeners and the queue need of it."""

    queue: IncidentQueue
    kind: Kind[Task]
    keeper: IncidentKeeper
    turns: Turns
    spans: Spans


def incident_side(
    connection: Connection,
    jobs: Jobs,
    *,
    calls: Calls,
    state: State,
    voice: Voice,
    speaker: Speaker,
    replier: Replier,
    people: People,
    gate: Gate,
    policy: Policy,
    library: Library,
    arm: ArmReader,
    run: Runner,
    spans: Spans,
    files: TextFiles,
) -> IncidentSide:
    redis = connection.redis
    turns, incidents, places = Turns(redis), Incidents(redis), Places(calls, state, arm)
    telling = IncidentTelling(speaker, places, people, library)

    async def tell_given_up(task: Task, problem: Problem) -> None:
        ask = Ask(task.id, What.REPLY, task.place)
        await replier.privately(ask, AnswerMessages(Message(sentences.problem(problem)), ()))

    queue = IncidentQueue(jobs)
    keeper = IncidentKeeper(queue=queue, incidents=incidents, telling=telling, run=run, spans=spans)
    desk = IncidentDesk(
        keeper=keeper,
        turns=turns,
        incidents=incidents,
        recogniser=Recogniser(library),
        places=places,
        telling=telling,
        gate=gate,
        policy=policy,
        library=library,
        files=files,
    )
    about_people = IncidentPeopleDesk(
        desk=desk,
        telling=telling,
        incidents=incidents,
        turns=turns,
        places=places,
        voice=voice,
        replier=replier,
        gate=gate,
        policy=policy,
        library=library,
    )
    alerts = AlertsDesk(desk=desk, keeper=keeper, speaker=speaker, policy=policy)
    watching = WatchDesk(
        queue=queue,
        keeper=keeper,
        watches=Watches(redis),
        speaker=speaker,
        replier=replier,
        gate=gate,
        run=run,
        arm=arm,
        library=library,
        spans=spans,
    )
    works = (desk.work, keeper.work, about_people.work, alerts.work, watching.work)
    return IncidentSide(queue, kind_of(works, tell_given_up), keeper, turns, spans)

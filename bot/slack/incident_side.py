"""The part of the bot that reads along, put together."""

from __future__ import annotations

from dataclasses import dataclass

from bot.incidents.spans import Spans
from bot.jobs.queue import Kind
from bot.jobs.service import Jobs
from bot.jobs.watch import Runner
from bot.policy.model import Policy
from bot.slack import words
from bot.slack.asks import Ask, What
from bot.slack.blocks import AnswerMessages
from bot.slack.calls import Calls
from bot.slack.gate import Gate
from bot.slack.incident_alerts_desk import AlertsDesk
from bot.slack.incident_desk import IncidentDesk
from bot.slack.incident_keeper import IncidentKeeper
from bot.slack.incident_people_desk import IncidentPeopleDesk
from bot.slack.incident_places import Places
from bot.slack.incident_queue import IncidentQueue, kind_of
from bot.slack.incident_tasks import Task
from bot.slack.incident_telling import IncidentTelling
from bot.slack.message import Message
from bot.slack.people import People
from bot.slack.replier import Replier
from bot.slack.speaker import Speaker
from bot.slack.text_files import TextFiles
from bot.slack.voice import Voice
from bot.slack.watch_desk import WatchDesk
from bot.store.connect import Connection
from bot.store.incidents import Incidents
from bot.store.state import State
from bot.store.turns import Turns
from bot.store.watches import Watches
from bot.triage.recognise import Recogniser
from handlers.clients.arm import ArmReader
from handlers.problem import Problem
from runbooks.library import Library


@dataclass(frozen=True)
class IncidentSide:
    """What listeners and the queue need of it."""

    queue: IncidentQueue
    kind: Kind
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
        await replier.privately(ask, AnswerMessages(Message(words.problem(problem)), ()))

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

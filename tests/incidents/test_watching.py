"""Which problems are resolved and which are not, for users with a watch."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from bot.incidents.watches import Watches
from bot.incidents.watching import LONGEST, Look, Seen, Watch, pause, seen
from bot.store import keys
from bot.store.codec import decode, encode
from bot.store.connect import Connection
from handlers.model import Diagnosis
from tests.bot import diagnoses

ROOT = next(one.finding for one in diagnoses.found().findings if one.root)
WATCH = Watch(
    *("w-1", "T0CONTOSO", str(diagnoses.TARGET.id), "prod-weu", "C0INCIDENTS", "1.2", "U0REQUESTER"),
    began_ms=1,
    until_ms=2,
    state="",
    causes=(ROOT.key,),
)
UPGRADE = replace(WATCH, state="Upgrading", causes=())


@pytest.mark.parametrize(
    ("watch", "diagnosis", "state", "expected"),
    [
        (WATCH, diagnoses.found(), "Succeeded", Seen.LASTS),
        (WATCH, diagnoses.clear(), "Succeeded", Seen.OVER),
        (WATCH, diagnoses.clear(), "Updating", Seen.LASTS),
        (WATCH, diagnoses.clear(), None, Seen.OVER),
        (UPGRADE, diagnoses.clear(), "Upgrading", Seen.LASTS),
        (UPGRADE, diagnoses.clear(), "Failed", Seen.OVER),
        (UPGRADE, diagnoses.found(), "Succeeded", Seen.OVER),
        (UPGRADE, diagnoses.clear(), None, Seen.UNSURE),
    ],
)
def test_it_is_over_when_all_of_it_is_gone(
    watch: Watch, diagnosis: Diagnosis, state: str | None, expected: Seen
) -> None:
    assert seen(watch, Look(diagnosis, state)) is expected


def test_what_could_not_be_looked_for_is_not_gone() -> None:
    blind = diagnoses.blind()
    unsure = next(
        code for one in blind.checks if one.outcome.value in ("inconclusive", "crashed") for code in one.codes
    )
    watch = replace(WATCH, causes=((unsure, "somewhere"),))
    assert seen(watch, Look(blind, "Succeeded")) is Seen.UNSURE


def test_a_watch_comes_back_from_its_json_as_it_was() -> None:
    assert decode(Watch, encode(WATCH)) == WATCH


def test_the_pauses_grow_and_there_are_not_many_of_them() -> None:
    pauses = [pause(timedelta(minutes=1), number) for number in range(2000)]
    assert pauses == sorted(pauses)
    assert pauses[0] == timedelta(minutes=1)
    assert LONGEST / pauses[-1] < 100


async def test_a_watch_whose_end_nobody_could_say_takes_no_place_for_ever(connection: Connection) -> None:
    watches, hour_ms, team = Watches(connection.redis), 3_600_000, f"T{uuid4().hex}"
    now_ms = int(time.time() * 1000)
    ends = (("late", now_ms), ("lost", now_ms - 2 * hour_ms))
    for name, end in ends:
        await watches.put(replace(WATCH, id=name, team=team, until_ms=end))
    assert [one.id for one in await watches.all_of(team, now_ms)] == ["late"]
    assert await watches.get(team, "lost") is None


async def test_the_watches_of_a_workspace_are_forgotten_with_the_last_of_them(connection: Connection) -> None:
    watches, now_ms, hour_ms, team = Watches(connection.redis), int(time.time() * 1000), 3_600_000, f"T{uuid4().hex}"
    for name, hours in (("first", 2), ("last", 5), ("between", 3)):
        await watches.put(replace(WATCH, id=name, team=team, until_ms=now_ms + hours * hour_ms))
    assert await connection.redis.pexpiretime(keys.watches(team)) == now_ms + 6 * hour_ms

"""Data in Redis contains no secrets, ids and plans are unchanged, and text typed by users expires."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.address import Address
from bot.audit.chain import verify
from bot.audit.record import Actor, Entry, What
from bot.audit.store import Audit
from bot.checks.request import CheckRequest
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.checks.store.running import RunningChecks
from bot.fixes.offering import Offering
from bot.fixes.store.offers import OfferedPlans
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import RealTimes
from bot.incidents.model import Incident
from bot.incidents.mutes import Mute
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.policy.fixes import Fixes
from bot.store import keys
from bot.store.codec import decode, encode, kept, kept_aside
from bot.store.connect import Connection
from bot.store.state import State
from handlers.fleet.cluster_text import ClusterRef
from handlers.remedy.plan import Offer
from tests.fixes.plans import PLAN

TYPED = "password=hunter2-Zq9"
PLANTED = "hunter2-Zq9"
NOW_MS = int(time.time() * 1000)
HOUR_MS = 3_600_000


def _mute(code: str, cluster: str = "prod-weu", hours: int = 4) -> Mute:
    return Mute(code, cluster, NOW_MS + hours * HOUR_MS, "U1", f"a migration, {TYPED}")


async def _held(connection: Connection) -> str:
    redis, found = connection.redis, []
    async for name in redis.scan_iter(count=1000):
        dump = await redis.type(name)
        reads = {"string": redis.get, "hash": redis.hgetall}
        ranges = {"list": redis.lrange, "zset": redis.zrange}
        found.append(f"{name} {await (reads[dump](name) if dump in reads else ranges[dump](name, 0, -1))}")
    return "\n".join(found)


def test_json_is_kept_without_its_secrets_and_with_its_ids() -> None:
    signed = "https://hooks.slack.com/commands/T1/2/3?sig=abcdefgh12345678"
    request = CheckRequest("command-1", ClusterRef.of(TYPED), Address("T1", "C1", "U1", response_url=signed))
    again = decode(CheckRequest, kept(encode(request)))
    assert (again.id, again.place, again.cluster.text) == ("command-1", request.place, "password=[redacted:password]")


def test_what_holds_no_secret_is_kept_letter_by_letter() -> None:
    text = '{"b": 1,\t"a": "prod-weu", "id": "password=is-an-id"}'
    assert kept(text) == text


def test_what_is_kept_twice_is_kept_once() -> None:
    once = kept(json.dumps({"text": f"{TYPED} and Bearer abcdefghijklmnop1234", "inside": json.dumps([TYPED])}))
    assert PLANTED not in once
    assert kept(once) == once


def test_a_plan_is_never_touched() -> None:
    plan = json.dumps({"before": {"tag": TYPED}})
    assert json.loads(kept(json.dumps({"plan": plan, "reason": TYPED}))) == {
        "plan": plan,
        "reason": "password=[redacted:password]",
    }


@pytest.mark.parametrize("held", [TYPED, "tag=[redacted:password]"])
async def test_a_plan_that_holds_a_secret_or_its_mark_is_offered_to_nobody(connection: Connection, held: str) -> None:
    redis = connection.redis
    offering = Offering(Fixes(), Proposals(redis), OfferedPlans(redis), RealTimes())
    plan = replace(PLAN, before={**PLAN.before, "tag": held})
    fix = await offering.one(
        Offer("nodepool-failed", "general", plan.remedy, plan), "T1", Address(channel="C1"), "command-1"
    )
    assert fix.proposal == ""
    assert "looks like a secret" in fix.reasons[0].because
    assert await redis.keys("aksbot:proposal*") == []


async def test_a_large_text_is_kept_without_its_secrets_too() -> None:
    assert PLANTED not in await kept_aside(json.dumps([f"{number} {TYPED}" for number in range(10_000)]))


async def test_no_store_keeps_what_somebody_typed(connection: Connection) -> None:
    redis, request = (
        connection.redis,
        encode(CheckRequest("command-1", ClusterRef.of(TYPED), Address("T1", "C1", "U1"))),
    )
    running, incidents, now = RunningChecks(redis), Incidents(redis), datetime.now(UTC)
    await running.join("question", "command-1", request, "token")
    await running.answered("question", "command-1", await running.keep("question", json.dumps({"why": TYPED})))
    await running.join("question", "command-2", request, "token")
    await incidents.mute("T1", _mute("quota-exceeded"))
    await incidents.mute("T1", _mute("subnet-full", TYPED))
    await State(redis).set_default_cluster("T1", "C1", TYPED)
    await RecentChecks(redis).add("T1", RecentCheck("command-1", TYPED, "", TYPED, "U1", "C1", now))
    await Turns(redis).hear(("e", "m"), "turn", ("T1", "C1", "U1"), json.dumps({"text": TYPED}), timedelta(seconds=5))
    await Turns(redis).take_back(("e2", "m2"), "m", json.dumps({"text": TYPED}), "gone")
    held = await _held(connection)
    assert "[redacted:password]" in held
    assert PLANTED not in held


async def test_a_mute_ends_in_redis_when_it_ends_for_people(connection: Connection) -> None:
    incidents, redis = Incidents(connection.redis), connection.redis
    for hours, code in ((4, "quota-exceeded"), (30, "subnet-full"), (2, "drain-error")):
        await incidents.mute("T1", _mute(code, hours=hours))
    assert [one.code for one in await incidents.mutes("T1", NOW_MS)] == ["drain-error", "quota-exceeded", "subnet-full"]
    ends = {await redis.pexpiretime(name) async for name in redis.scan_iter("aksbot:mute:*")}
    assert ends == {NOW_MS + hours * HOUR_MS for hours in (2, 4, 30)}
    assert await redis.pexpiretime(keys.mutes("T1")) == NOW_MS + 30 * HOUR_MS


async def test_a_mute_that_is_over_is_forgotten_and_one_can_be_taken_back(connection: Connection) -> None:
    incidents = Incidents(connection.redis)
    await incidents.mute("T1", _mute("quota-exceeded", "Prod-WEU"))
    await incidents.mute("T1", _mute("subnet-full", hours=9))
    assert [one.code for one in await incidents.mutes("T1", NOW_MS + 5 * HOUR_MS)] == ["subnet-full"]
    assert await incidents.unmute("T1", "Quota-Exceeded", "prod-weu")
    assert not await incidents.unmute("T1", "quota-exceeded", "prod-weu")
    assert await incidents.unmute("T1", "subnet-full", "prod-weu")
    assert await incidents.mutes("T1", NOW_MS) == []


async def _kept_by_an_earlier_version(connection: Connection, *mutes: Mute) -> None:
    fields = {one.name: json.dumps(asdict(one)) for one in mutes}
    await connection.redis.hset("aksbot:mutes:T1", mapping={**fields, "unreadable x": TYPED})


async def test_the_mutes_of_an_earlier_version_hold_on_and_lose_their_secrets(connection: Connection) -> None:
    incidents, redis = Incidents(connection.redis), connection.redis
    over = _mute("drain-error", hours=-1)
    await _kept_by_an_earlier_version(connection, _mute("subnet-full", hours=9), _mute("quota-exceeded"), over)
    assert [one.code for one in await incidents.mutes("T1", NOW_MS)] == ["quota-exceeded", "subnet-full"]
    assert not await redis.exists("aksbot:mutes:T1")
    assert PLANTED not in await _held(connection)
    ends = {await redis.pexpiretime(name) async for name in redis.scan_iter("aksbot:mute*")}
    assert ends == {NOW_MS + hours * HOUR_MS for hours in (4, 9)}


async def test_a_mute_of_an_earlier_version_can_be_taken_back_and_stays_away(connection: Connection) -> None:
    incidents = Incidents(connection.redis)
    await _kept_by_an_earlier_version(connection, _mute("quota-exceeded"))
    assert await incidents.unmute("T1", "quota-exceeded", "prod-weu")
    assert await incidents.mutes("T1", NOW_MS) == []


async def test_a_mute_of_an_earlier_version_does_not_replace_a_later_one(connection: Connection) -> None:
    incidents = Incidents(connection.redis)
    await _kept_by_an_earlier_version(connection, _mute("quota-exceeded", hours=2))
    await incidents.mute("T1", _mute("quota-exceeded", hours=7))
    assert [one.until_ms for one in await incidents.mutes("T1", NOW_MS)] == [NOW_MS + 7 * HOUR_MS]


async def test_an_incident_is_kept_without_secrets_and_its_next_change_finds_it(connection: Connection) -> None:
    incidents, home = Incidents(connection.redis), Address(channel="C1", thread_ts="1.2")
    one = Incident("i-1", "prod-weu", ("quota-exceeded",), TYPED, home, "1.2", NOW_MS, NOW_MS)
    await incidents.change("T1", "prod-weu", lambda book: (book.put(one), None))
    await incidents.change("T1", "prod-weu", lambda book: (book.put(replace(book.incidents[0], count=2)), None))
    (found,) = (await incidents.book("T1", "prod-weu")).incidents
    assert (found.why, found.count) == ("password=[redacted:password]", 2)


async def test_a_reason_in_the_audit_holds_no_secret_and_the_chain_is_whole(connection: Connection) -> None:
    audit = Audit(connection.redis)
    for reason in ("a migration", TYPED, f"Bearer abcdefghijklmnop1234 {TYPED}"):
        details = {"approvals": [{"reason": reason}]}
        who = Actor("T1", "U1", "x")
        await audit.write(Entry(What.APPROVED, who, "c", "p", digest="d" * 64, reason=reason, details=details))
    lines = [json.dumps(one.as_dict()) async for one in audit.records()]
    assert PLANTED not in "".join(lines)
    assert (await audit.verify()).whole
    assert (await verify(audit.records(), await audit.tip())).records == 3

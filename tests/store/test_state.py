from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.address import Address
from bot.store import keys
from bot.store.away import StoreAway
from bot.store.connect import Connection
from bot.store.state import Posting, State
from tests.store.servers import ROOT

ASKED = datetime.now(UTC) + timedelta(days=1)  # after the server began, however long the tests before took


@pytest.fixture
def state(connection: Connection) -> State:
    return State(connection.redis)


async def test_of_many_who_see_a_signature_at_once_one_is_first(state: State) -> None:
    seen = await asyncio.gather(*(state.first_use("v0=1") for _ in range(50)))
    assert seen.count(True) == 1


async def test_a_signature_counts_as_seen_for_longer_than_it_is_good_for(state: State, connection: Connection) -> None:
    await state.first_use("v0=1")
    assert await connection.redis.ttl(keys.signature("v0=1")) == pytest.approx(11 * 60, abs=2)


async def test_a_signature_that_was_forgotten_is_new_again(state: State) -> None:
    await state.first_use("v0=1")
    await state.forget_use("v0=1")
    assert await state.first_use("v0=1")


async def test_a_message_is_posted_by_the_first_who_means_to(state: State) -> None:
    assert await state.posting("job", "head", ASKED) is Posting.NEW
    await state.record_posted("job", "head", Address(channel="C1", message_ts="1.2"))
    assert await state.posting("job", "head", ASKED) == Address(channel="C1", message_ts="1.2")


async def test_after_a_death_between_posting_and_recording_one_has_to_look(state: State) -> None:
    await state.posting("job", "head", ASKED)
    assert await state.posting("job", "head", ASKED) is Posting.UNSURE


async def test_who_asked_before_the_data_were_lost_has_perhaps_been_answered(state: State) -> None:
    before = datetime.now(UTC) - timedelta(minutes=1)
    assert await state.posting("job", "head", before) is Posting.UNSURE


async def test_a_refused_message_may_be_posted_again(state: State) -> None:
    await state.posting("job", "head", ASKED)
    await state.not_posted("job", "head")
    assert await state.posting("job", "head", ASKED) is Posting.NEW


async def test_who_records_second_learns_where_the_first_one_posted(state: State) -> None:
    await state.record_posted("job", "head", Address(channel="C1", message_ts="1.2"))
    assert await state.record_posted("job", "head", Address(channel="C1", message_ts="9.9")) == Address(
        channel="C1", message_ts="1.2"
    )
    assert await state.posted("job", "head") == Address(channel="C1", message_ts="1.2")


async def test_the_parts_of_a_job_stand_apart(state: State) -> None:
    await state.record_posted("job", "head", Address(channel="C1", message_ts="1.2"))
    assert await state.posted("job", "answer") is None


async def test_a_channel_has_a_default_cluster_until_it_is_taken_away(state: State) -> None:
    await state.set_default_cluster("T1", "C1", "prod-weu")
    assert await state.default_cluster("T1", "C1") == "prod-weu"
    assert await state.default_cluster("T2", "C1") is None
    await state.set_default_cluster("T1", "C1", None)
    assert await state.default_cluster("T1", "C1") is None


async def test_the_epoch_stays_until_the_data_are_lost(state: State, connection: Connection) -> None:
    first = await state.epoch()
    assert await state.epoch() == first
    await connection.redis.flushall()
    assert await state.epoch() != first


async def test_a_server_out_of_memory_is_told_as_away(state: State, connection: Connection) -> None:
    await connection.redis.config_set("maxmemory", 1)
    with pytest.raises(StoreAway, match="maxmemory"):
        await state.first_use("v0=1")


async def test_every_key_but_settings_ends_by_itself(state: State, connection: Connection) -> None:
    await state.first_use("v0=1")
    await state.posting("job", "head", ASKED)
    await state.set_default_cluster("T1", "C1", "prod-weu")
    await state.epoch()
    ttls = {key: await connection.redis.ttl(key) async for key in connection.redis.scan_iter()}
    assert {key for key, ttl in ttls.items() if ttl < 0} == {keys.EPOCH, keys.channel("T1", "C1")}


def test_nobody_else_spells_a_key() -> None:
    files = [file for file in (ROOT / "bot").rglob("*.py") if file != ROOT / "bot" / "store" / "keys.py"]
    assert [file.name for file in files if re.search(r"""f?["']aksbot:""", file.read_text("utf-8"))] == []


def test_a_key_is_short_whatever_it_is_made_of(tmp_path: Path) -> None:
    assert len(keys.running("x" * 100_000 + "\ud800")) < 80

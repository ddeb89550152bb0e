"""Which channel messages are processed and which are ignored."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from bot.address import Address
from bot.slack.inbound.message_reader import Ignored, Me, Utterance, asks_for_silence, latest, names, read, taken_back
from bot.store.codec import decode, encode
from tests.incidents.pasted import PASTED, TS, event

ME = Me("U0AKSBOT", "B0AKSBOT", "A0AKSBOT")
NOW = 1_800_000_000.0
UNFURL = {"from_url": "https://example.org", "title": "OperationNotAllowed", "text": "quota"}


def edited(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    plain = {"type": "message", "user": "U1", "ts": TS, "text": "it is down"}
    return event(subtype="message_changed", ts="1799999995.0", message=plain | after, previous_message=plain | before)


def test_a_person_speaks() -> None:
    said = read(event(), ME, NOW)
    assert isinstance(said, Utterance)
    assert (said.user, said.app, said.text, said.spot) == ("U1", "", "it is down", Address(channel="C1", thread_ts=TS))
    assert said.joins_consecutive_messages


def test_an_alert_card_is_complete_in_itself() -> None:
    card = {"title": "Node pool Failed", "fields": [{"title": "cluster", "value": "prod-weu"}]}
    told = event(text="", user=None, bot_id="B9", app_id="A9", subtype="bot_message", attachments=[card])
    said = read(told, ME, NOW)
    assert isinstance(said, Utterance)
    assert (said.app, said.user, said.joins_consecutive_messages) == ("A9", "", False)
    assert "prod-weu" in said.text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (event(channel_type="im"), Ignored.NO_CHANNEL),
        (event(subtype="channel_join"), Ignored.NOT_SAID),
        (event(subtype="message_deleted"), Ignored.NOT_SAID),
        (event(user="U0AKSBOT"), Ignored.OWN),
        (event(bot_id="B0AKSBOT"), Ignored.OWN),
        (event(bot_id="B9", app_id="A0AKSBOT"), Ignored.OWN),
        (event(text="<@U0AKSBOT> check prod-weu"), Ignored.TO_US),
        (event(ts="1799900000.0"), Ignored.OLD),
        (event(ts="soon"), Ignored.OLD),
        (event(text="  "), Ignored.EMPTY),
        (edited({}, {}), Ignored.NO_NEW_TEXT),
        (edited({}, {"attachments": [UNFURL]}), Ignored.NO_NEW_TEXT),
        (edited({}, {"reply_count": 3}), Ignored.NO_NEW_TEXT),
        (edited({}, {"text": "worse", "bot_id": "B0AKSBOT"}), Ignored.OWN),
    ],
)
def test_what_is_none_of_our_business_is_passed_over(body: dict[str, Any], why: Ignored) -> None:
    assert read(body, ME, NOW) is why


def test_what_comes_without_a_person_is_an_apps_whatever_it_lacks() -> None:
    nameless = {"subtype": "bot_message", "user": None, "username": "A0ALLOWED"}
    said = read(event(**nameless), ME, NOW)
    assert isinstance(said, Utterance)
    assert said.app == "named A0ALLOWED", "nobody passes for an allowed app by its id as a name"


def test_the_name_of_somebody_else_that_begins_like_ours_is_no_mention() -> None:
    assert isinstance(read(event(text=f"<@{ME.user}2> prod-weu is down"), ME, NOW), Utterance)
    assert read(event(text=f"<@{ME.user}|aksbot> prod-weu is down"), ME, NOW) is Ignored.TO_US


def test_of_a_message_its_last_version_counts_and_what_was_taken_back_is_gone() -> None:
    first = read(event(), ME, NOW)
    assert isinstance(first, Utterance)
    changed = replace(first, text="prod-weu is fine", edited="1800000001.1")
    gone = {"type": "message", "subtype": "message_deleted", "channel": first.channel, "deleted_ts": first.ts}
    deleted = taken_back({"team_id": first.team, "event": gone | {"ts": "1800000002.1"}})
    stone = {"type": "message", "subtype": "message_changed", "channel": first.channel, "ts": "1800000002.1"}
    left = taken_back({"team_id": first.team, "event": stone | {"message": {"subtype": "tombstone", "ts": first.ts}}})
    assert deleted == left
    assert deleted is not None
    assert latest([changed, first]) == [changed]
    assert latest([first, deleted, changed]) == []
    assert taken_back(event()) is None


def test_an_edit_with_new_words_is_the_same_message_and_another_turn() -> None:
    first, second = read(event(), ME, NOW), read(edited({}, {"text": "prod-weu is down"}), ME, NOW)
    assert isinstance(first, Utterance)
    assert isinstance(second, Utterance)
    assert first.id == second.id
    assert first.turn != second.turn
    assert decode(Utterance, encode(second)) == second


def test_a_redelivery_has_the_same_names() -> None:
    said = read(event(), ME, NOW)
    assert isinstance(said, Utterance)
    again = event() | {"event_id": "Ev2"}
    assert names(event(), said)[1] == names(again, said)[1]


@pytest.mark.parametrize("text", ["stop", "Stop!", "<@U0AKSBOT> stop", "aksbot, be quiet please", "please stop it"])
def test_who_wants_silence(text: str) -> None:
    assert asks_for_silence(text)


@pytest.mark.parametrize(
    "text", ["the node does not stop", "stop the upgrade of prod-weu", "az aks stop -n prod-weu", ""]
)
def test_who_speaks_of_stopping_something_else(text: str) -> None:
    assert not asks_for_silence(text)


@pytest.mark.parametrize("name", PASTED)
def test_whatever_is_pasted_is_read_within_bounds(name: str) -> None:
    began = time.perf_counter()
    said = read(PASTED[name], ME, NOW)
    assert time.perf_counter() - began < 5  # the bench holds it to milliseconds; what has no bounds takes minutes
    assert not isinstance(said, Utterance) or len(said.text) < 130_000

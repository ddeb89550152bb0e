"""What people type to mute, and what alert senders send."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.incidents.alerts import Alert, BadAlert, alertmanager, azure_monitor
from bot.incidents.mutes import Unreadable, read_mute
from bot.store.codec import decode, encode

NOW = datetime(2026, 11, 18, 3, 14, tzinfo=UTC)
KNOWN, LONGEST = {"quota-exceeded"}, timedelta(days=14)


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("4h", NOW + timedelta(hours=4)),
        ("2d", NOW + timedelta(days=2)),
        ("30 min", NOW + timedelta(minutes=30)),
        ("2026-11-20", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-11-20 08:30", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_mute_is_read(said: str, until: datetime) -> None:
    mute = read_mute(f"Quota-exceeded `prod-weu` until {said} moving house", NOW, KNOWN, LONGEST)
    assert (mute.code, mute.cluster, mute.reason) == ("quota-exceeded", "prod-weu", "moving house")
    assert mute.until_ms == until.timestamp() * 1000


@pytest.mark.parametrize(
    "said",
    [
        "quota-exceeded prod-weu 4h moving house",
        "quota-exceeded prod-weu for 4h: moving house",
        "prod-weu quota-exceeded for 4 h moving house",
        "4h prod-weu quota-exceeded moving house",
        "quota-exceeded on prod-weu for 4h moving house",
        "quota-exceeded 4h on prod-weu: moving house",
        "quota-exceeded prod-weu moving house 4h",
        "quota-exceeded prod-weu moving house until 4h",
        "moving house, quota-exceeded prod-weu 4h",
        "`quota-exceeded` `prod-weu` for 4h - moving house",
    ],
)
def test_a_mute_is_read_in_whatever_order_people_type(said: str) -> None:
    mute = read_mute(said, NOW, KNOWN, LONGEST, {"prod-weu"})
    assert (mute.code, mute.cluster, mute.reason) == ("quota-exceeded", "prod-weu", "moving house")
    assert mute.until_ms == (NOW + timedelta(hours=4)).timestamp() * 1000


def test_a_span_in_the_reason_is_not_the_end_of_a_mute() -> None:
    mute = read_mute("quota-exceeded prod-weu the vendor needs 6h, until 4h", NOW, KNOWN, LONGEST)
    assert mute.until_ms == (NOW + timedelta(hours=4)).timestamp() * 1000
    assert mute.reason == "the vendor needs 6h"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "the code is missing"),
        ("quota-exceeded", "the cluster is missing"),
        ("quota-exceeded prod-weu vendor outage", "it has no end"),
        ("no-such-code prod-weu until 4h x", "there is no runbook"),
        ("quota-exceeded prod-weu until 4h", "the reason is missing"),
        ("quota-exceeded prod-weu until 2026-11-01 x", "that moment is over"),
        ("quota-exceeded prod-weu until 2026-13-41 x", "no such date"),
        ("quota-exceeded prod-weu until 90d x", "longer than 336 h"),
        ("quota-exceeded prod-weu until later x", "neither a date"),
    ],
)
def test_a_mute_that_cannot_be_read_says_why(said: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_mute(said, NOW, KNOWN, LONGEST)


def fired(**more: Any) -> dict[str, Any]:
    essentials = {"alertId": "a", "alertRule": "rule", "monitorCondition": "Fired", "firedDateTime": "t1"}
    return {"data": {"essentials": essentials | more, "alertContext": {"properties": {"cause": "OperationNotAllowed"}}}}


def test_an_azure_alert_is_the_same_when_sent_again_and_another_when_it_fires_again() -> None:
    (one,) = azure_monitor(fired(description="prod-weu"))
    assert "OperationNotAllowed" in one.text
    assert one.text.startswith("prod-weu")
    assert azure_monitor(fired(description="prod-weu")) == [one]
    assert azure_monitor(fired(firedDateTime="t2"))[0].id != one.id
    over = azure_monitor(fired(monitorCondition="Resolved", resolvedDateTime="t3"))[0]
    assert over.over
    assert over.id != one.id
    assert decode(Alert, encode(one)) == one


def test_a_group_of_as_many_alerts_as_fit_is_read_in_no_time() -> None:
    common = {f"note{number}": [["x"] * 400] * 3 for number in range(100)}
    began = time.perf_counter()
    alerts = alertmanager({"commonAnnotations": common, "alerts": [{"labels": {"a": str(one)}} for one in range(200)]})
    assert time.perf_counter() - began < 5  # where all of it is read for each of them, it takes three times as long
    assert len(alerts) == 200


def test_the_words_that_somebody_wrote_stand_by_themselves_without_secrets() -> None:
    key = "AccountKey=" + "Zm9vYmFyYmF6cXV4" * 5 + "Zg=="
    (one,) = azure_monitor(fired(description=f"prod-weu is full {key}"))
    assert one.chosen.splitlines()[0] == one.title
    assert "prod-weu is full" in one.chosen
    assert "Zm9v" not in f"{one.chosen}{one.text}"


def test_each_alert_of_a_group_stands_by_itself() -> None:
    group = {
        "commonLabels": {"cluster": "prod-weu"},
        "alerts": [
            {"status": "firing", "labels": {"alertname": "One"}, "startsAt": "t"},
            {"status": "resolved", "labels": {"alertname": "Two"}, "startsAt": "t", "annotations": {"summary": "2 is"}},
        ],
    }
    first, second = alertmanager(group)
    assert (first.title, first.over, second.title, second.over) == ("One", False, "2 is", True)
    assert "prod-weu" in first.text


@pytest.mark.parametrize(
    "body", [None, [], "x", {}, {"data": []}, {"data": {"essentials": 3}}, {"alerts": {}}, {"alerts": [1]}]
)
def test_what_is_no_alert_is_refused_with_the_reason(body: Any) -> None:
    for read in (azure_monitor, alertmanager):
        with pytest.raises(BadAlert):
            read(body)

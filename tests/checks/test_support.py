"""What a support packet says aksbot did, and under which findings one is offered."""

from __future__ import annotations

import json

import pytest

from bot.audit.record import Actor, Entry, Record, What, seal
from bot.checks.support.done import done_of
from bot.render.packet.offered import is_offered
from handlers.model import Finding
from tests.bot.diagnoses import CLUSTER, POOL
from tests.checking import LIBRARY

AT_MS = 1_763_609_400_000


def record(what: What, cluster: str = CLUSTER, **details: str) -> Record:
    entry = Entry(what, Actor("T1", "U1", "Somebody"), cluster, remedy="reconcile-pool", target=POOL, details=details)
    return seal(1, AT_MS, "", entry.as_json())


def test_it_is_told_with_its_time_its_target_who_did_it_and_the_request_id() -> None:
    (done,) = done_of([record(What.CALLED, method="PUT", path=POOL, request_id="r-1")], CLUSTER.upper())
    assert f"{done.at:%Y-%m-%dT%H:%M:%SZ}" == "2025-11-20T03:30:00Z"
    assert (done.source, done.what, done.about) == ("aksbot", "reconcile-pool called", POOL)
    assert all(part in done.says for part in ("by Somebody", "PUT", "request id r-1"))
    assert not done.failed


@pytest.mark.parametrize(("end", "failed"), [("fixed", False), ("not-fixed", True), ("unverified", True)])
def test_an_end_that_is_no_success_is_marked(end: str, failed: bool) -> None:
    (done,) = done_of([record(What.ENDED, end=end)], CLUSTER)
    assert done.failed is failed


def test_what_was_done_to_others_and_what_cannot_be_read_is_left_out() -> None:
    broken = Record(2, AT_MS, "", json.dumps(["no entry"]), "")
    assert done_of([record(What.ENDED, cluster=f"{CLUSTER}-two"), broken], CLUSTER) == ()


def finding(code: str, **facts: object) -> Finding:
    return Finding(code, CLUSTER, ("it is so",), facts=facts)


def test_a_packet_is_offered_where_the_page_sends_people_to_support_with_this_very_finding() -> None:
    page = LIBRARY["scheduler-unavailable"]
    facts = {"scheduler": "default-scheduler", "workload": "shop/Deployment/web"}
    assert is_offered(finding("scheduler-unavailable", own=False, **facts), page)
    assert not is_offered(finding("scheduler-unavailable", own=True, **facts), page)
    assert not is_offered(finding("subnet-full"), LIBRARY["subnet-full"])
    assert not is_offered(finding("of-a-team"), None)

"""Incidents in every visible state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bot.address import Address
from bot.incidents.model import Cause, Incident, State, Verdict
from bot.slack.inbound import replies
from bot.slack.incidents import text as said
from bot.slack.incidents import view as incidents_view
from handlers.fleet.clusters import FleetMember
from tests.checking import LIBRARY
from tests.slack.surfaces_watch import WATCHES

Surface = partial[Any]

SUSPECTED = Incident(
    "i-1",
    "prod-weu",
    ("quota-exceeded", "nodepool-failed"),
    "“ErrCode_InsufficientVCPUQuota” (AKS error codes)",
    Address(channel="C0INCIDENTS", thread_ts="1.000001"),
    "1.000001",
    0,
    0,
)
CAUSE = Cause(
    "quota-exceeded",
    "westeurope",
    "standardDSv5Family in westeurope: 196 of 200 cores are used, 8 are needed",
    "`prod-weu` cannot add nodes: vCPU quota standardDSv5Family is full (196 of 200 used, 8 more needed)",
    "Ask for 204 (now 200), or scale down `batch`",
)
OPEN = replace(SUSPECTED, state=State.OPEN, verdict=Verdict.CONFIRMED, causes=(CAUSE,), known=("quota-exceeded",))
SEEN_ELSEWHERE = replace(
    OPEN,
    count=7,
    elsewhere=(Address(channel="C0ALERTS", thread_ts="2.000001"), Address(channel="C0PAYMENTS", thread_ts="3.000001")),
)
UNPROVED = replace(OPEN, causes=(), known=())
BESIDE_UNPROVED = replace(
    OPEN,
    codes=("service-principal-expired", "quota-exceeded"),
    why="“AADSTS7000215” (error code)",
    signs=(("service-principal-expired", "“AADSTS7000215” (error code)"), ("quota-exceeded", SUSPECTED.why)),
)
LATER = replace(
    OPEN, id="i-2", home=Address(channel="C0ALERTS", thread_ts="2.000001"), state=State.CLOSED, merged_into="i-1"
)


def address(spot: Address) -> str:
    return f"https://contoso.slack.com/archives/{spot.channel}/p{spot.thread_ts.replace('.', '')}"


def card(incident: Incident, **more: Any) -> Surface:
    return partial(incidents_view.card, incident, LIBRARY, address, **more)


def member(name: str) -> FleetMember:
    provider = "Microsoft.ContainerService/managedClusters"
    id_ = f"/subscriptions/s/resourceGroups/rg-{name}/providers/{provider}/{name}"
    return FleetMember(name, id_, provider, "westeurope", "s")


FLEET = [member("prod-weu"), member("dev-shared")]
UNTIL = datetime(2026, 11, 18, 7, 14, tzinfo=UTC)
TITLE = incidents_view.title_of(LIBRARY, "quota-exceeded")

INCIDENTS: dict[str, Surface] = {
    "incident-suspected": card(SUSPECTED),
    "incident-confirmed": card(OPEN),
    "incident-confirmed-outside": partial(incidents_view.card_outside, OPEN, LIBRARY),
    "incident-seen-elsewhere": card(SEEN_ELSEWHERE),
    "incident-not-confirmed": card(replace(UNPROVED, verdict=Verdict.NOT_CONFIRMED)),
    "incident-found-instead": card(
        replace(
            OPEN, verdict=Verdict.NOT_CONFIRMED, causes=(Cause("subnet-full", "nodes", "3 of 27 addresses are left"),)
        )
    ),
    "incident-could-not-check": card(replace(UNPROVED, verdict=Verdict.COULD_NOT_CHECK)),
    "incident-no-check": card(replace(UNPROVED, verdict=Verdict.NO_CHECK)),
    "incident-silenced": card(replace(OPEN, silenced=True)),
    "incident-closed": card(replace(SEEN_ELSEWHERE, state=State.CLOSED)),
    "incident-closed-by-somebody": card(
        replace(SEEN_ELSEWHERE, state=State.CLOSED, closed_ms=4_980_000, closed_by="U0APPROVER")
    ),
    "incident-closed-by-a-look": card(replace(SEEN_ELSEWHERE, state=State.CLOSED, closed_ms=4_980_000)),
    "incident-reported-by-a-person": card(replace(OPEN, user="U0REQUESTER")),
    "incident-reported-too": partial(incidents_view.reported_by, ["U0REQUESTER", "U0APPROVER"]),
    "incident-found-since": partial(incidents_view.found_since, replace(OPEN, user="U0REQUESTER"), CAUSE, LIBRARY),
    "incident-found-since-outside": partial(
        incidents_view.found_since, replace(OPEN, user="U0REQUESTER"), CAUSE, LIBRARY, proof=False
    ),
    "incident-closed-other-cause": card(
        replace(
            SUSPECTED,
            codes=("cluster-failed-infra", "quota-exceeded"),
            state=State.CLOSED,
            verdict=Verdict.NOT_CONFIRMED,
            causes=(CAUSE,),
        )
    ),
    "incident-confirmed-second-suspect": card(
        replace(
            OPEN,
            codes=("cluster-failed-infra", "quota-exceeded"),
            why="“InternalError” (error code)",
            signs=(("cluster-failed-infra", "“InternalError” (error code)"), ("quota-exceeded", SUSPECTED.why)),
        )
    ),
    "incident-confirmed-beside-unproved": card(BESIDE_UNPROVED),
    "incident-not-confirmed-beside-unproved": card(
        replace(BESIDE_UNPROVED, verdict=Verdict.NOT_CONFIRMED, causes=(), known=())
    ),
    "incident-merged": card(LATER, home=OPEN),
    "incident-merged-not-confirmed": card(replace(LATER, verdict=Verdict.NOT_CONFIRMED), home=OPEN),
    "incident-offer": partial(incidents_view.offer, TITLE, "quota-exceeded", "s-1", ["prod-weu"]),
    "incident-offer-several": partial(
        incidents_view.offer, TITLE, "quota-exceeded", "s-1", ["edge-nexus-01", "edge-nexus-02"]
    ),
    "incident-which": partial(incidents_view.which, TITLE, "quota-exceeded", "s-1", FLEET, checked=True),
    "incident-which-outside": partial(incidents_view.which, TITLE, "quota-exceeded", "s-1", (), checked=True),
    "incident-which-outside-menu": partial(
        incidents_view.which, TITLE, "quota-exceeded", "s-1", FLEET, checked=True, thread_ts="1.000001"
    ),
    "incident-which-no-check": partial(incidents_view.which, TITLE, "quota-exceeded", "s-1", FLEET, checked=False),
    "incident-allow-app": partial(incidents_view.ask_about, "A0123ABCD", "Datadog <!here>", "t-1"),
    "incident-known-elsewhere": partial(
        incidents_view.pointing, said.known_elsewhere(TITLE, "prod-weu"), SUSPECTED.home, address
    ),
    "incident-checked-elsewhere": partial(
        incidents_view.pointing, said.checked_elsewhere("prod-weu"), SUSPECTED.home, address
    ),
    "incident-apart": partial(incidents_view.pointing, said.apart("prod-eus2"), SUSPECTED.home, address),
    "incident-merged-line": partial(incidents_view.pointing, said.MERGED_LINE, SUSPECTED.home, lambda spot: ""),
    "incident-app-allowed": partial(incidents_view.done_by, said.allowed("Datadog"), "U0APPROVER"),
    "incident-app-refused": partial(incidents_view.done_by, said.refused(""), "U0APPROVER"),
    "incident-snoozed": partial(
        incidents_view.done_by, said.snoozed(["quota-exceeded"], "prod-weu", UNTIL), "U0APPROVER"
    ),
    "incident-muted": partial(
        incidents_view.done_by, said.is_muted("quota-exceeded", "prod-weu", UNTIL, "a *migration*"), "U0APPROVER"
    ),
    **WATCHES,
    **{
        name: partial(replies.only, line)
        for name, line in {
            "incident-arrived": said.arrived(auto_check=True),
            "incident-arrived-without-auto-check": said.arrived(auto_check=False),
            "incident-silenced-line": said.SILENCED,
            "incident-closed-line": said.closed_line("prod-weu", proved=True),
            "incident-closed-unproved-line": said.closed_line("prod-weu", proved=False),
            "incident-back-line": said.back_line("prod-weu", 2),
            "incident-no-fleet": said.no_fleet("cannot list the clusters", "no answer within 30 s", "try again"),
            "incident-nothing-muted": said.NOTHING_MUTED,
            "incident-cannot-mute": said.cannot_mute("the reason is missing, and others will ask for it"),
        }.items()
    },
}

"""The fleet, what changed, what was before and the digest, in every visible state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bot.checks.digest import ClusterNews, Digest
from bot.checks.fleet_lines import FleetRow, rows
from bot.checks.store.verdicts import PastVerdict
from bot.report.past import History, Past, PastKind
from bot.slack.changes import text as changes_text
from bot.slack.changes import view as changes_view
from bot.slack.digest import text as digest_text
from bot.slack.digest import view as digest_view
from bot.slack.fleet import text as fleet_text
from bot.slack.fleet import view as fleet_view
from bot.slack.history import text as history_text
from bot.slack.history import view as history_view
from bot.slack.inbound import replies
from handlers.changes.change import Change, Changes, Part, Result
from handlers.fleet.clusters import FleetMember
from handlers.model import State, Unavailable, Why
from handlers.problem import Problem
from tests.checking import LIBRARY

Surface = partial[Any]

NOW = datetime(2026, 11, 18, 3, 14, tzinfo=UTC)
_AT = NOW - timedelta(hours=1)
_WRITE = Change(
    _AT, Part.CLUSTER, "node pool apps", "created or updated", Result.SUCCEEDED, "kim.lee", "/pools/apps", "x/write",
    until=_AT + timedelta(minutes=7), details=("count 6",), below=1,
)  # fmt: skip
CHANGES = (
    replace(_WRITE, at=NOW - timedelta(minutes=12), result=Result.RUNNING, until=None, details=(), below=0),
    replace(
        _WRITE, subject="node pool batch", action="node image upgrade", result=Result.FAILED, details=(), below=0,
        until=_AT + timedelta(minutes=35), why="ScopeLocked: The scope cannot perform write operation.",
    ),
    replace(
        _WRITE, part=Part.NODES, subject="scale set aks-apps-1-vmss", result=Result.DENIED, details=(), below=0,
        why="policy Cost centre on everything", caller="AKS",
    ),
    _WRITE,
    replace(
        _WRITE, part=Part.RULES, subject="lock keep", action="set on resource group rg-prod-weu", until=_AT,
        details=("CanNotDelete",), below=0,
    ),
    replace(
        _WRITE, part=Part.NODES, subject="scale set aks-apps-1-vmss", action="instances deleted", details=(), below=0,
        caller="the cluster's identity", times=3, since=_AT - timedelta(minutes=40),
    ),
)  # fmt: skip
_DENIED = Unavailable(
    "the activity log", Why.DENIED, "the client has no permission", "Microsoft.Insights/eventtypes/values/read"
)


def changed(*changes: Change, gaps: tuple[Unavailable, ...] = (), groups: Sequence[str] = ("rg-a", "MC_a")) -> Changes:
    return Changes("prod-weu", NOW - timedelta(hours=2), NOW, changes, tuple(groups), gaps, cut=len(changes) > 100)


def _verdict(member: FleetMember, state: State, severity: str = "", *codes: str) -> PastVerdict:
    roots = tuple((code, "x") for code in codes)
    return PastVerdict(member.name, member.id, NOW - timedelta(hours=3), state, severity, roots)


def _known(fleet: Sequence[FleetMember]) -> dict[str, PastVerdict]:
    found = (
        _verdict(fleet[0], State.FOUND, "error", "quota-exceeded", "subnet-full"),
        _verdict(fleet[1], State.CLEAR),
        _verdict(fleet[2], State.INCONCLUSIVE),
        _verdict(fleet[3], State.FOUND, "warning", "pdb-blocks-drain"),
        replace(_verdict(fleet[5], State.INCONCLUSIVE), checked=False),
    )
    return {one.id.lower(): one for one in found}


_PAST = (
    Past(_AT, PastKind.FIX, "reconcile-pool ended fixed", good=True),
    Past(_AT - timedelta(hours=1), PastKind.INCIDENT, "A core quota is used up, still open", bad=True),
    Past(
        _AT - timedelta(hours=9), PastKind.VERDICT, "unhealthy: A core quota is used up", bad=True, until=_AT, times=4
    ),
    Past(_AT - timedelta(days=2), PastKind.VERDICT, "healthy", good=True),
)


def _digest(*news: ClusterNews, **more: tuple[str, ...]) -> Digest:
    return Digest(NOW - timedelta(hours=24), NOW, news, **more)


def fleet_surfaces(fleet: Sequence[FleetMember], many: Sequence[FleetMember]) -> dict[str, Surface]:
    listed, known = rows(fleet, _known(fleet)), _known(fleet)
    ended: dict[str, FleetRow | Problem] = {
        member.id: FleetRow(member, known[member.id.lower()]) for member in fleet[:3]
    }
    failed = {**ended, fleet[4].id: Problem("cannot check payments-prod", "no answer within 120 s", "try again")}
    return {
        "clusters": partial(fleet_view.clusters, listed, LIBRARY, NOW),
        "clusters-none": partial(fleet_view.clusters, [], LIBRARY, NOW),
        "clusters-too-many": partial(fleet_view.clusters, rows(many, {}), LIBRARY, NOW),
        "check-all-begun": partial(fleet_view.checking, {}, fleet, LIBRARY),
        "check-all-half": partial(fleet_view.checking, failed, fleet, LIBRARY),
        "check-all-ended": partial(fleet_view.checking, ended, fleet[:3], LIBRARY, 12),
        "changes": partial(changes_view.answer, changed(*CHANGES)),
        "changes-none": partial(changes_view.answer, changed()),
        "changes-denied": partial(changes_view.answer, changed(gaps=(_DENIED,), groups=())),
        "changes-half-seen": partial(changes_view.answer, changed(_WRITE, gaps=(_DENIED,), groups=("rg-a",))),
        "changes-too-many": partial(changes_view.answer, changed(*CHANGES * 20)),
        "history": partial(history_view.answer, History("prod-weu", _PAST)),
        "history-none": partial(history_view.answer, History("prod-weu", ())),
        "history-too-many": partial(history_view.answer, History("prod-weu", _PAST * 20, ("The audit is gone.",))),
        "digest": partial(
            digest_view.digest,
            _digest(
                ClusterNews("prod-weu", new=("quota-exceeded",), lasting=("subnet-full",)),
                ClusterNews("staging-neu", mended=("dns-broken",)),
                ClusterNews("dev-shared", lasting=("pdb-blocks-drain",), first=True),
                ClusterNews("edge-nexus-01", open_checks=3),
                ClusterNews("payments-prod", failed=True),
                ending=(digest_text.mute_ends("subnet-full", "prod-weu", "18:28 UTC"),),
                fixes=(digest_text.fix_ended("staging-neu", "reconcile-pool ended fixed"),),
            ),
            LIBRARY,
        ),
        "digest-nothing": partial(digest_view.digest, _digest(ClusterNews("a"), ClusterNews("b")), LIBRARY),
        **{
            name: partial(replies.only, said)
            for name, said in {
                "changes-looking": changes_text.LOOKING,
                "changes-which": changes_text.FORM,
                "history-looking": history_text.LOOKING,
                "history-which": history_text.FORM,
                "digest-looking": digest_text.LOOKING,
                "digest-no-cluster": digest_text.NOTHING_TO_CHECK,
                "check-all-looking": fleet_text.CHECKING,
                "check-all-no-cluster": fleet_text.NOTHING_TO_CHECK,
            }.items()
        },
    }

"""A plan to approve or reject."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.address import Address
from bot.fixes.proposal import Person, Proposal, Rules
from handlers.remedy.plan import Plan, Risk, Step, Verb, Verify

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg-prod-weu"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu"
POOL = f"{CLUSTER}/agentPools/apps"

REQUESTER = Person("T1", "U1", "requester")
APPROVER = Person("T1", "U2", "approver")
SECOND = Person("T1", "U3", "second")

PLAN = Plan(
    remedy="reconcile-pool",
    title="Reconcile node pool apps",
    cluster=CLUSTER,
    target=POOL,
    steps=(
        Step(
            Verb.PUT_POOL_AS_READ,
            POOL,
            "Send node pool apps to Azure again as it is",
            f"PUT {POOL}, the body as read",
            f"az resource update --ids {POOL}",
            {"etag": "e1"},
        ),
    ),
    before={"state of pool apps": "Failed", "eTag of pool apps": "e1"},
    undo="There is nothing to undo.",
    verify=Verify("nodepool-failed", POOL),
    risk=Risk.MEDIUM,
    could_go_wrong=("Azure may refuse it again.",),
    eta=timedelta(minutes=5),
    limit=timedelta(minutes=40),
)

RISKY = replace(PLAN, remedy="abort-operation", risk=Risk.HIGH)


def rules(needed: int = 1, *, requester_counts: bool = True, reason_needed: bool = False) -> Rules:
    return Rules(needed, requester_counts, reason_needed, 60_000)


def proposal(given: Rules | None = None) -> Proposal:
    return Proposal("p1", PLAN, "T1", Address(channel="C1", thread_ts="1.1"), given or rules(), 1_000, 61_000)

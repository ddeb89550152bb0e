"""Fixes in every visible state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bot.address import Address
from bot.audit.aside import SetAside, account_of
from bot.audit.record import Actor, Entry, Record, What, seal
from bot.checks.offered_fix import Fix
from bot.fixes import reasons
from bot.fixes.may import Barrier, Called, NotAllowed
from bot.fixes.moves import NotMoved, Why
from bot.fixes.proposal import Approval, End, Person, Proposal, Rules, State
from bot.policy.fixes import Freeze
from bot.render.verdict import label, summary
from bot.slack.fixes import plan_view
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.buttons import PressedFix
from bot.slack.fixes.lists import text as lists_text
from bot.slack.fixes.lists import view as lists_view
from bot.slack.fixes.lists.view import AuditPage, AuditState, OpenApproval
from bot.slack.fixes.view import Shown
from bot.slack.inbound import replies
from handlers.remedy.execution import Call, Execution, Note, Outcome, Phase, StepEnd
from handlers.remedy.plan import Forbidden, Offer, Plan, Risk, Step, Verb, Verify
from tests.bot import diagnoses

Surface = partial[Any]

GROUP = "/subscriptions/3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90/resourceGroups/rg-prod-weu"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu"
POOL = f"{CLUSTER}/agentPools/apps"
MOMENT = datetime(2026, 11, 18, 3, 14, 9, tzinfo=UTC)
REQUESTER, APPROVER = Person("T0CONTOSO", "U0REQUESTER", "requester"), Person("T0CONTOSO", "U0APPROVER", "approver")

PLAN = Plan(
    remedy="reconcile-pool",
    title="Reconcile node pool apps",
    cluster=CLUSTER,
    target=POOL,
    steps=(
        Step(
            Verb.PUT_POOL_AS_READ,
            POOL,
            "Reconcile node pool apps of prod-weu (no configuration change)",
            f"PUT {POOL}, the body as read, If-Match e1",
            f"az resource update --ids {POOL}",
            {"etag": "e1"},
        ),
    ),
    before={
        "eTag of pool apps": "e1",
        "state of pool apps": "Failed",
        "versions of the nodes of pool apps": ["1.35.6"],
        "rule of budget web": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    },
    undo="nothing is changed, so there is nothing to undo; `az aks nodepool operation-abort` ends it half way",
    verify=Verify("nodepool-failed", POOL),
    risk=Risk.LOW,
    could_go_wrong=("it may fail again for the same reason", "Azure may add nodes that are missing"),
    eta=timedelta(minutes=5),
    limit=timedelta(hours=1),
    warnings=("not every cause could be ruled out; still open: subnet-full",),
    effect="Azure reconciles node pool apps of prod-weu (3 nodes): no configuration change, no node is replaced, "
    "missing nodes are added",
)
_STEP = PLAN.steps[0]
LONG = replace(
    PLAN,
    remedy="update-instances",
    title="Update the 30 failed instances of aks-apps-12345678-vmss",
    risk=Risk.HIGH,
    steps=tuple(
        replace(_STEP, says=f"Update instance {number} of the scale set; " + "x" * 300) for number in range(30)
    ),
    before={f"state of instance {number}": "Failed" for number in range(60)},
)


_SAYS = (
    "Allow one pod of shop/web",
    "Reconcile node pool apps",
    "Reconcile cluster prod-weu",
    "Restore budget shop/web",
)
SEVERAL = replace(PLAN, steps=tuple(replace(_STEP, says=says, always=says.startswith("Restore")) for says in _SAYS))


def proposal(plan: Plan = PLAN, **more: Any) -> Proposal:
    at_ms = int(MOMENT.timestamp() * 1000)
    rules = Rules(more.pop("needed", 1), False, False, 1_800_000)
    made = Proposal(
        "p-1",
        plan,
        "T0CONTOSO",
        Address(channel="C0INCIDENTS", thread_ts="1.000001"),
        rules,
        at_ms,
        at_ms + 1_800_000,
        requester=REQUESTER,
    )
    return made.moved(**{"reason": "the pool cannot scale", **more})


def word(who: Person = APPROVER, reason: str = "", *, broke_glass: bool = False) -> Approval:
    return Approval(who, int(MOMENT.timestamp() * 1000), PLAN.digest, reason, broke_glass)


def here(plan: Plan = PLAN, **more: Any) -> Execution:
    notes = (
        Note(MOMENT, "Reconcile node pool apps of prod-weu (no configuration change)"),
        Note(MOMENT + timedelta(seconds=10), "Azure says: ScalingAgentPool: 0/1 nodes completed"),
    )
    return Execution("p-1", plan, MOMENT, phase=Phase.RUNNING, notes=notes, **more)


def ended(end: End, why: str = "", **more: Any) -> Shown:
    outcome = more.pop("outcome", Outcome.DONE)
    one = proposal(state=State.ENDED, end=end, why=why, approvals=(word(),), **more)
    return Shown(one, replace(here().past(StepEnd.DONE, 1), outcome=outcome), now=MOMENT)


ASKED = Shown(proposal(), called=Called(("S0APPROVERS", "T0CONTOSO:U0APPROVER")), now=MOMENT)
NOW = MOMENT + timedelta(seconds=80)
VERDICT = f"{label(diagnoses.clear())[0]}, {summary(diagnoses.clear())}"
ASK = "Look at apps in the portal (Activity log, request id 0f3c…). If it is well, nothing is left to do"

STATES: dict[str, Shown] = {
    "asked": ASKED,
    "asked-two-needed": replace(ASKED, proposal=proposal(needed=2, approvals=(word(),)), glass=("T0CONTOSO:U0ONCALL",)),
    "asked-and-escalated": replace(ASKED, called=Called(("S0APPROVERS", "S0LEADS"))),
    "asked-and-others-called": replace(ASKED, called=Called(others=("S0ONCALL",), quiet=("S0LEADS",))),
    "asked-and-frozen-since": Shown(
        proposal(), now=MOMENT, barred=NotAllowed(Barrier.FROZEN, 1, freeze=Freeze(name="peak-hours"))
    ),
    "asked-and-the-rule-is-gone": Shown(proposal(), now=MOMENT, barred=NotAllowed(Barrier.NO_RULE)),
    "asked-high-risk": replace(ASKED, proposal=proposal(LONG)),
    "approved": Shown(proposal(state=State.APPROVED, approvals=(word(),)), now=MOMENT),
    "running": Shown(proposal(state=State.RUNNING, approvals=(word(),)), here(), now=NOW),
    "running-stopping": Shown(proposal(state=State.RUNNING, approvals=(word(),), cancel_by=REQUESTER), here(), now=NOW),
    "running-looking-again": Shown(
        proposal(state=State.RUNNING, approvals=(word(),)), replace(here(), step=1, outcome=Outcome.DONE), now=NOW
    ),
    "running-many-steps": Shown(proposal(LONG, state=State.RUNNING), replace(here(LONG), step=7), now=NOW),
    "running-broken-glass": Shown(
        proposal(state=State.RUNNING, approvals=(word(reason="payments are down", broke_glass=True),)), here(), now=NOW
    ),
    "fixed": ended(End.FIXED, reasons.fixed(PLAN, VERDICT)),
    "not-fixed": ended(End.NOT_FIXED, reasons.still_there(PLAN, "UNHEALTHY, 1 cause")),
    "answered": ended(
        End.ANSWERED,
        reasons.acts_failed(
            reasons.looked("https://10.0.0.1/ no answer within 10 s\nhttps://prod-weu.azmk8s.io/ 401: the way is open"),
            "UNHEALTHY, 1 cause",
        ),
    ),
    "unverified": ended(
        End.UNVERIFIED,
        reasons.not_known("the worker died before the request was answered, and it is never sent twice", ASK),
        outcome=Outcome.UNKNOWN,
    ),
    "failed": replace(
        ended(
            End.FAILED,
            reasons.acts_failed("Azure began and ended with Failed: no capacity", "UNHEALTHY, 1 cause"),
        ),
        execution=replace(here().past(StepEnd.FAILED, 1), failed_as=Outcome.FAILED, outcome=Outcome.FAILED),
    ),
    "stale": Shown(
        proposal(
            state=State.ENDED,
            end=End.STALE,
            why=reasons.stale(("state of pool apps: was Failed, is Updating",)),
        )
    ),
    "expired": Shown(proposal(state=State.ENDED, end=End.EXPIRED)),
    "stopped-in-step-2": Shown(
        proposal(
            SEVERAL, state=State.ENDED, end=End.CANCELLED, cancel_by=REQUESTER, why="cancelled before step 3 of 4"
        ),
        replace(
            here(SEVERAL).past(StepEnd.DONE, 2).past(StepEnd.SKIPPED, 3).past(StepEnd.DONE, 4),
            failed_as=Outcome.CANCELLED,
            outcome=Outcome.CANCELLED,
        ),
        now=MOMENT,
    ),
    "declined": Shown(
        proposal(state=State.ENDED, end=End.DENIED, ended_by=APPROVER, why="batch runs until 5, ask again then")
    ),
    "declined-by-an-earlier-version": Shown(proposal(state=State.ENDED, end=End.DENIED, ended_by=APPROVER)),
    "withdrawn": Shown(proposal(state=State.ENDED, end=End.CANCELLED, ended_by=REQUESTER)),
}

OFFER = Offer("nodepool-failed", POOL, "reconcile-pool", PLAN)
FIX = Fix(OFFER, "p-2")
NO_FIX = Fix(
    replace(OFFER, plan=None),
    reasons=(
        Forbidden("an operation is running: pool apps is Updating", "wait until it has ended, then check again"),
        fixes_text.barred(NotAllowed(Barrier.NO_RULE), "prod-weu", "reconcile-pool"),
    ),
)
PRESSED = PressedFix("p-1", PLAN.digest, "prod-weu", "C0INCIDENTS", "1.000001")
FREEZE = Freeze(name="peak-hours")


def _record(number: int, what: What, **more: Any) -> Record:
    actor = Actor("T0CONTOSO", "U0APPROVER", "approver")
    entry = Entry(what, actor, CLUSTER, "p-1", "reconcile-pool", POOL, PLAN.digest, **more)
    return seal(number, int(MOMENT.timestamp() * 1000), "0" * 64, entry.as_json())


CALL = Call("PUT", POOL, "0f3c", "200", "c0")
RECORDS = (
    _record(3, What.ENDED, reason=reasons.fixed(PLAN, VERDICT), details={"end": "fixed"}),
    _record(2, What.CALLED, details={"method": CALL.method, "result": CALL.result}),
    replace(_record(1, What.APPROVED), body="{broken"),
)
ASIDE = SetAside(
    "aksbot:audit:aside:1", "3f" * 32, 7, 4, "record 4 was changed", "the disk was full", "somebody (root@host)", 1_000
)
OPEN = OpenApproval(PLAN.title, "prod-weu", REQUESTER.user, MOMENT, "https://contoso.slack.com/archives/x")

WINDOWS: dict[str, Surface] = {
    "plan": partial(plan_view.asking, proposal(), PRESSED, Called(("S0APPROVERS",)), alone=False, reason_needed=True),
    "plan-alone": partial(plan_view.asking, proposal(), PRESSED, Called(), alone=True, reason_needed=False),
    "plan-long": partial(
        plan_view.asking, proposal(LONG), PRESSED, Called(("S0APPROVERS",)), alone=False, reason_needed=False
    ),
    "plan-shown": partial(plan_view.shown, PLAN),
    "plan-not-possible": partial(plan_view.not_possible, PLAN, [fixes_text.NO_PLACE]),
    "plan-told": partial(plan_view.told, fixes_text.not_moved(NotMoved(Why.UNKNOWN))),
    "break-glass": partial(plan_view.breaking_glass, PRESSED),
    "decline": partial(plan_view.declining, PRESSED),
}

INSTEAD = NotAllowed(Barrier.PERSON, 1, ("S0APPROVERS", "T0CONTOSO:U0APPROVER"), glass=("T0CONTOSO:U0ONCALL",))
REFUSALS: dict[str, str] = {
    **{
        f"not-moved-{why.name.lower().replace('_', '-')}": fixes_text.not_moved(NotMoved(why, proposal()))
        for why in Why
    },
    **{
        f"barred-{one.name.lower().replace('_', '-')}": fixes_text.refused(
            fixes_text.barred(NotAllowed(one, 2, freeze=FREEZE), "prod-weu", "reconcile-pool")
        )
        for one in Barrier
    },
    "audit-broken": fixes_text.refused(fixes_text.audit_broken("record 4 was changed after it was written")),
    "held-by-another": fixes_text.refused(fixes_text.held_by_another("prod-weu")),
    "cannot-tell-who": fixes_text.refused(fixes_text.cannot_tell_who("users.info: fatal_error")),
    "alone": fixes_text.refused(fixes_text.ALONE),
    "read-outside": fixes_text.refused(fixes_text.READ_OUTSIDE),
    "escalate": fixes_text.refused(reasons.escalate(3, PLAN.title)),
    "memory-away": fixes_text.refused(reasons.MEMORY_AWAY),
}

FIXES: dict[str, Surface] = {
    **{f"fix/{name}": partial(fixes_view.message, shown) for name, shown in STATES.items()},
    "fix/outcome-fixed": partial(fixes_view.outcome, STATES["fixed"].proposal),
    "fix/outcome-stale": partial(fixes_view.outcome, STATES["stale"].proposal, (FIX,)),
    "fix/outcome-answered": partial(fixes_view.outcome, STATES["answered"].proposal),
    "fix/outcome-not-fixed": partial(fixes_view.outcome, STATES["not-fixed"].proposal, (NO_FIX,)),
    "fix/escalated": partial(
        fixes_view.escalated,
        proposal(asked_ms=int(MOMENT.timestamp() * 1000)),
        Called(("S0LEADS", "T0CONTOSO:U0APPROVER")),
        MOMENT + timedelta(minutes=10),
    ),
    "fix/glass-broken": partial(fixes_view.broke_glass, proposal(), APPROVER, "payments are down, <!channel>"),
    "fix/refused-person": partial(
        fixes_view.refused,
        fixes_text.refused(fixes_text.barred(INSTEAD, "prod-weu", "reconcile-pool")),
        fixes_text.who_instead(INSTEAD),
    ),
    "fix/list": partial(lists_view.fixes, "prod-weu", (FIX, NO_FIX), (OPEN, replace(OPEN, state=State.RUNNING))),
    "fix/list-none-possible": partial(lists_view.fixes, "prod-weu", (NO_FIX,), (replace(OPEN, state=State.APPROVED),)),
    "fix/list-outside": partial(lists_view.fixes_outside, "prod-weu", (FIX, NO_FIX), (OPEN,)),
    "fix/list-empty": partial(lists_view.fixes, "prod-weu", (), ()),
    "fix/audit": partial(
        lists_view.audit, AuditState(lists_text.audit_state(3, "")), AuditPage(RECORDS, "1-0"), direct=False
    ),
    "fix/audit-broken": partial(
        lists_view.audit,
        AuditState(lists_text.audit_state(0, "record 1 was changed")),
        AuditPage(()),
        direct=True,
    ),
    "fix/audit-set-aside": partial(
        lists_view.audit,
        AuditState(lists_text.audit_state(3, ""), (account_of(ASIDE),)),
        AuditPage((), "1-0", 5000),
        direct=True,
    ),
    **{f"fix/window-{name}": surface for name, surface in WINDOWS.items()},
    **{f"fix/said-{name}": partial(replies.only, said) for name, said in REFUSALS.items()},
}

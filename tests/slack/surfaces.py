"""Every surface of the bot in every state, built by the production functions, for the golden files.

A surface is a `partial`; its function counts as covered. `test_surfaces.py` finds functions without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bot.checks import words
from bot.checks.reporter import Answer
from bot.checks.store.recent import RecentCheck
from bot.policy.look import Refused, Why
from bot.policy.model import Look
from bot.render.links import Links, LinkTemplate
from bot.report.events import Report, Selection
from bot.report.progress import Progress
from bot.slack.api import pictures
from bot.slack.checks import cases_text, steps, wrong_answer_view
from bot.slack.checks import view as checks_view
from bot.slack.checks.superseded_view import outside, superseded
from bot.slack.checks.wrong_answer_view import CalledWrong
from bot.slack.fixes.lists.view import OpenApproval
from bot.slack.home import text as home_text
from bot.slack.home import view as home_view
from bot.slack.inbound import channel_text, commands, gate_text, replies, triage_text
from bot.slack.inbound.gate import refusal
from bot.slack.kit import sentences
from bot.slack.kit.message import Pressed, section
from bot.slack.kit.modal import modal
from bot.slack.kit.naming import addressed, calling
from bot.slack.talk import text as talk_text
from bot.slack.talk import view as talk_view
from bot.slack.triage.view import triaged
from bot.triage.explain import explain
from handlers.evidence.detectors import Detector, Detectors
from handlers.fleet.clusters import FleetMember
from handlers.fleet.names import NoSuchCluster
from handlers.model import Check, Diagnosis, Finding, Outcome, Ranked, Unavailable
from handlers.model import Why as Denial
from handlers.problem import Problem
from handlers.question import read_question
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, TARGET, library
from tests.checking import LIBRARY
from tests.slack.surfaces_fixes import FIXES
from tests.slack.surfaces_fleet import fleet_surfaces
from tests.slack.surfaces_incidents import INCIDENTS
from tests.slack.surfaces_support import SUPPORT

Surface = partial[Any]

PRESSED = Pressed("request-1", CLUSTER)
IN_NETWORK, ONE_CODE = replace(PRESSED, scope=Selection("network")), Selection(only="cluster-failed")
DETECTED = replace(PRESSED, scope=Selection(detectors=True))
SUBSCRIPTION = "3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90"
ERROR = (
    "ERROR: (ReconcileVMSSAgentPoolFailed) Code=OperationNotAllowed Message=Operation could not be completed as it "
    "results in exceeding approved standardDSv5Family Cores quota. Additional details - Deployment Model: Resource "
    "Manager, Location: westeurope, Current Limit: 200, Current Usage: 196, Additional Required: 8"
)


MOMENT = datetime(2026, 11, 18, 3, 14, 9, tzinfo=UTC)


def dated(diagnosis: Diagnosis) -> Diagnosis:
    return replace(diagnosis, target=replace(diagnosis.target, asked_at=MOMENT))


def answer(diagnosis: Diagnosis, *, age: timedelta = timedelta(), durable: bool = True, kube_calls: int = 3) -> Answer:
    return Answer(Report(diagnosis, diagnosis.took_ms, 12, kube_calls), age, durable)


def with_detectors(diagnosis: Diagnosis) -> Answer:
    """With results of Azure's own detectors: the same problem, a new one, none."""
    ran = (
        Detector(
            "a", "Node Pool Put and Scale Issues", "Critical", ("QuotaExceeded in pool apps",), ("quota-exceeded",)
        ),
        Detector("b", "Cluster Load Balancer", "Warning", ("The load balancer has no healthy backend.",), ()),
        Detector("c", "Cluster DNS", "Success", ("No issues were found.",), ("dns-broken",)),
    )
    told = Detectors(source="detectors", taken_at=TARGET.asked_at, ran=ran, offered=119)
    return replace(answer(diagnosis), report=replace(answer(diagnosis).report, detectors=told))


def detectors_denied(diagnosis: Diagnosis) -> Answer:
    grant = "Microsoft.ContainerService/managedClusters/detectors/read"
    told = Unavailable("Azure's detectors", Denial.DENIED, f"403 AuthorizationFailed: no {grant}", grant)
    return replace(answer(diagnosis), report=replace(answer(diagnosis).report, detectors=told))


def many(number: int, text: str = "the pool has no room", *, roots: bool = True) -> Diagnosis:
    """A diagnosis with this many findings, each on another pool."""
    findings = [
        Finding("nodepool-failed", f"{CLUSTER}/agentPools/pool{n}", (text, "it is Failed")) for n in range(number)
    ]
    ranked = [Ranked(one, () if roots or not n else (findings[0].key,)) for n, one in enumerate(findings)]
    check = Check("nodepool-failed", ("nodepool-failed",), Outcome.FOUND, text, 0.4, tuple(findings))
    return Diagnosis(TARGET, tuple(ranked), (check,), (), 900.0)


def two_causes() -> Diagnosis:
    """A lock and a quota as roots: each consequence names its cause."""
    found, warned = diagnoses.found(), diagnoses.warned()
    return replace(found, findings=(*found.findings[:1], *warned.findings, *found.findings[1:]))


def member(name: str, state: str | None = "Succeeded", kind: str = "managedClusters", where: str = "westeurope") -> Any:
    provider = "Microsoft.Kubernetes" if kind == "connectedClusters" else "Microsoft.ContainerService"
    id_ = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-{name}/providers/{provider}/{kind}/{name}"
    return FleetMember(name, id_, f"{provider}/{kind}", where, SUBSCRIPTION, state)


FLEET: Sequence[FleetMember] = (
    member("prod-weu", "Failed"),
    member("prod-eus2", where="eastus2"),
    member("staging-neu", "Updating", where="northeurope"),
    member("dev-shared"),
    member("payments-prod"),
    member("edge-nexus-01", kind="connectedClusters", where="eastus"),
    member("edge-nexus-02", None, kind="connectedClusters", where="eastus"),
)


def typed(command: str) -> Surface:
    """The immediate response to `/aks …`."""
    return partial(replies.at_once, commands.read_command(command), LIBRARY)


CHECK: dict[str, Surface] = {
    "starting": partial(checks_view.started, "prod-weu"),
    "starting-without-memory": partial(checks_view.started, "prod-weu", durable=False),
    "joined": partial(checks_view.started, "prod-weu", timedelta(seconds=12)),
    "looking": partial(checks_view.progress, Progress("prod-weu")),
    "progress": partial(
        checks_view.progress, Progress("prod-weu", (7, 19), (4, 22), ("quota-exceeded",), ("resource locks",))
    ),
    "progress-in-words": partial(checks_view.progress, Progress("prod-weu", (7, 19), (4, 22)), plan=False),
    "found": partial(checks_view.answer, answer(diagnoses.found()), PRESSED, library()),
    "found-called": partial(
        checks_view.calling, checks_view.answer(answer(diagnoses.found()), PRESSED, library()), ["U0REQUESTER"]
    ),
    "found-with-links": partial(
        checks_view.answer,
        answer(diagnoses.found()),
        PRESSED,
        library(),
        links=Links("https://portal.azure.com", (LinkTemplate("Grafana", "https://grafana.example.com/?c={cluster}"),)),
    ),
    "found-a-while-ago": partial(
        checks_view.answer, answer(diagnoses.found(), age=timedelta(seconds=40)), PRESSED, library()
    ),
    "found-two-causes": partial(checks_view.answer, answer(two_causes()), PRESSED, LIBRARY),
    "found-with-detectors": partial(checks_view.answer, with_detectors(diagnoses.found()), DETECTED, library()),
    "found-for-a-reporter": partial(
        addressed, checks_view.answer(answer(diagnoses.found()), PRESSED, library()).head, "U0REQUESTER"
    ),
    "found-for-those-on-call": partial(
        calling,
        checks_view.answer(answer(diagnoses.found()), PRESSED, library()).head,
        ["S0ONCALL", "T0123ABCD:U0APPROVER"],
    ),
    "clear-with-detectors": partial(checks_view.answer, with_detectors(diagnoses.clear()), DETECTED, library()),
    "detectors-denied": partial(checks_view.answer, detectors_denied(diagnoses.clear()), DETECTED, library()),
    "clear": partial(checks_view.answer, answer(diagnoses.clear()), PRESSED, library()),
    "clear-with-problems-without-a-check": partial(
        checks_view.answer, answer(diagnoses.clear()), PRESSED, diagnoses.wider_library()
    ),
    "clear-in-network": partial(checks_view.answer, answer(diagnoses.clear_in_network()), IN_NETWORK, library()),
    "clear-for-one-code": partial(
        checks_view.answer, answer(diagnoses.clear_for_one_code()), replace(PRESSED, scope=ONE_CODE), library()
    ),
    "open-in-network": partial(checks_view.answer, answer(diagnoses.open_in_network()), IN_NETWORK, library()),
    "blind": partial(checks_view.answer, answer(diagnoses.blind(), kube_calls=0), PRESSED, library()),
    "warned": partial(checks_view.answer, answer(diagnoses.warned()), PRESSED, LIBRARY),
    "walked": partial(checks_view.answer, answer(diagnoses.walked()), PRESSED, library()),
    "not-checked": partial(checks_view.answer, answer(diagnoses.beside()), PRESSED, library()),
    "nothing-asked": partial(checks_view.answer, answer(diagnoses.beside_the_point()), PRESSED, library()),
    "without-memory": partial(checks_view.answer, answer(diagnoses.clear(), durable=False), PRESSED, library()),
    "too-many": partial(checks_view.answer, answer(many(30)), PRESSED, LIBRARY),
    "too-many-consequences": partial(checks_view.answer, answer(many(30, roots=False)), PRESSED, LIBRARY),
    "too-long": partial(
        checks_view.answer,
        answer(many(1, "Azure said: " + "Internal server error, try later. " * 60)),
        PRESSED,
        library(),
    ),
    "all-checks": partial(checks_view.checks, answer(dated(diagnoses.found())), library()),
    "all-checks-clear": partial(checks_view.checks, answer(dated(diagnoses.clear())), diagnoses.wider_library()),
    "all-checks-in-network": partial(checks_view.checks, answer(dated(diagnoses.clear_in_network())), library()),
    "all-checks-blind": partial(checks_view.checks, answer(dated(diagnoses.blind())), library()),
    "picture": partial(
        pictures.picture_message, "F0123456789", "prod-weu: memory by node. node-0: from 47 % to 103 %."
    ),
    "failed": partial(
        checks_view.failed,
        Problem("cannot find prod-wue", "no cluster has that name", "perhaps you mean prod-weu"),
        PRESSED,
    ),
    "found-outside": partial(checks_view.outside, answer(diagnoses.found()), library()),
    "clear-outside": partial(checks_view.outside, answer(diagnoses.clear()), library()),
    "failed-outside": partial(checks_view.failed_outside, "prod-weu"),
    "found-for-whoever-asked-outside": partial(
        checks_view.for_one, checks_view.answer(answer(diagnoses.found()), PRESSED, library())
    ),
    "gave-up": partial(
        checks_view.failed,
        Problem("cannot finish: the last try has failed", "Slack did not answer", "ask again"),
        PRESSED,
        gave_up=True,
    ),
}

COMMANDS: dict[str, Surface] = {
    "explain": typed(f"explain {ERROR}"),
    "explain-nothing": typed("explain"),
    "explain-unknown": typed("explain the weather is nice"),
    "explained": partial(replies.explained, ERROR, LIBRARY),
    "recognised-briefly": partial(replies.recognised, explain(ERROR, LIBRARY), briefly=True),
    "runbooks": partial(replies.runbook, "", LIBRARY),
    "runbook": partial(replies.runbook, "quota-exceeded", LIBRARY),
    "runbook-unknown": partial(replies.runbook, "quota-exeded", LIBRARY),
    "word-unknown": partial(replies.misspelt, commands.read_command("chek prod-weu")),
    "help": partial(replies.helped),
    "help-all": typed("help all"),
    "window-wrong-answer": partial(wrong_answer_view.window, CalledWrong(PRESSED.dump(), "C1", "1.1")),
    "talk-explained": partial(talk_view.explained, explain(ERROR, LIBRARY), ["prod-weu"]),
    "talk-which": partial(talk_view.which, ["prod-weu", "prod-neu"]),
    "talk-not-understood": partial(talk_view.not_understood),
    "talk-no-fleet": partial(talk_view.not_understood, talk_text.no_fleet("cannot list the clusters", "403")),
    "no-such-cluster": partial(
        checks_view.no_such_cluster,
        NoSuchCluster("prod-wue", "no cluster in 2 subscriptions has that name", "look", ("prod-weu",)),
        ["prod-weu"],
        PRESSED.scope,
    ),
    "no-such-cluster-nor-one-near": partial(
        checks_view.no_such_cluster,
        NoSuchCluster(
            "xyz", "no cluster in 2 subscriptions has that name; 1 of the lists could not be read", "look", ()
        ),
        [],
        PRESSED.scope,
    ),
    "picker": partial(replies.picker, FLEET, None),
    "picker-too-many": partial(replies.picker, [member(f"edge-{number:03}") for number in range(200)], "network"),
}


def misread(typed: str) -> str:
    """The response to a check command that cannot be parsed."""
    try:
        words.read_check(typed.split(), words.areas())
    except Problem as misuse:
        return sentences.misuse(misuse)
    raise AssertionError(f"{typed} can be read")


SENTENCES: dict[str, Surface] = {
    name: partial(replies.only, said)
    for name, said in {
        "said-looking-at": sentences.looking_at("prod-weu"),
        "said-looking-for-clusters": sentences.LOOKING_FOR_CLUSTERS,
        "said-misuse": misread("prod-weu network quota nodes"),
        "said-misuse-question": misread("prod-weu path shop/web shop/cart"),
        "said-question-without-cluster": sentences.misuse(words.no_cluster(read_question(["from", "203.0.113.9"]))),
        "said-listener-failed": sentences.LISTENER_FAILED,
        "said-invited": sentences.INVITED,
        "said-not-invited": sentences.NOT_INVITED,
        "said-report-gone": sentences.REPORT_GONE,
        "said-kept-case": cases_text.kept(
            "request-1.json", "prod-weu-2026-11-18T0314Z.zip", "/var/lib/aksbot/wrong-answers"
        ),
        "said-recording": cases_text.here_is("prod-weu", "prod-weu-2026-11-18T0314Z.zip"),
        "said-kept-without-recording": cases_text.kept_without_recording(
            "request-1.json", "/var/lib/aksbot/wrong-answers", Problem("cannot find prod-weu", "it is gone", "wait")
        ),
        "said-file-refused": sentences.file_refused("not_in_channel"),
        "said-memory-away": sentences.away(Problem("cannot reach the bot's memory", "Redis is away", "try again soon")),
        "said-cannot-list": sentences.problem(
            Problem(sentences.CANNOT_LIST, sentences.no_answer_within(30), sentences.TRY_AGAIN),
        ),
        "default-none": channel_text.NONE_SET,
        "default-is": channel_text.is_set("prod-weu"),
        "default-set": channel_text.was_set("prod-weu", "dev-shared"),
        "default-cleared": channel_text.was_cleared("prod-weu"),
        "default-already": channel_text.already("prod-weu"),
        "default-checked": channel_text.looking_at_default("prod-weu"),
        "policy-nothing-for-you": gate_text.NOTHING_FOR_YOU,
        "policy-cannot-tell": gate_text.cannot_tell("ratelimited", "prod-weu"),
        "policy-try-again": gate_text.try_again("#platform-on-call"),
        "triage-looking-at": triage_text.looking_at("prod-weu"),
    }.items()
}

WINDOWS: dict[str, Surface] = {
    "window-one-moment": partial(modal, [section(sentences.ONE_MOMENT)]),
    "window-steps": partial(steps.steps, library()["quota-exceeded"], diagnoses.found().findings[0].finding, MOMENT),
    "window-steps-unfilled": partial(
        steps.steps, LIBRARY["quota-exceeded"], Finding("quota-exceeded", CLUSTER, ("x",))
    ),
}

LATELY = (
    RecentCheck(
        "r-1",
        "prod-weu",
        "UNHEALTHY",
        "cannot add nodes: vCPU quota standardDSv5Family is full",
        "U0REQUESTER",
        "C0INCIDENTS",
        MOMENT,
        "1.000001",
    ),
    RecentCheck("r-2", "dev-shared", "HEALTHY", "", "U0APPROVER", "D0DIRECT", MOMENT),
    RecentCheck("r-4", "prod-weu", "HEALTHY", "", "U0APPROVER", "C0INCIDENTS", MOMENT, "1.000004", area="network"),
    RecentCheck("r-3", "prod-wue", "", "no cluster has that name", "U0REQUESTER", "C0INCIDENTS", MOMENT, "1.000003"),
)
LINK = "https://contoso.slack.com/archives/C0INCIDENTS/p1000009"
OLD = replace(LATELY[0], id=str(TARGET.id))
LATER = MOMENT + timedelta(minutes=23)
OLDER: dict[str, Surface] = {
    "older-over": partial(superseded, OLD, True, diagnoses.clear(), LIBRARY, LATER, "U0APPROVER", LINK),
    "older-over-by-a-look": partial(superseded, OLD, True, diagnoses.clear(), LIBRARY, LATER, "", ""),
    "older-over-outside": partial(outside, OLD, True, diagnoses.clear(), LIBRARY, LATER),
    "older-checked-again-outside": partial(outside, OLD, False, diagnoses.found(), library(), LATER),
    "older-checked-again": partial(
        superseded, OLD, False, diagnoses.found(), library(), LATER, "U0APPROVER", LINK, PRESSED
    ),
}
APPROVAL = OpenApproval(
    "reconcile pool apps", "prod-weu", "U0REQUESTER", MOMENT, "https://contoso.slack.com/archives/x"
)
UNREACHABLE = Problem(sentences.CANNOT_LIST, sentences.no_answer_within(30), sentences.TRY_AGAIN)
HOME_OF = "D0DIRECT"


def home_page(fleet: Any, recent: Any = LATELY, **more: Any) -> Surface:
    return partial(home_view.page, home_view.Shown(tuple(fleet), MOMENT, recent, **more), HOME_OF)


HOME: dict[str, Surface] = {
    "home-loading": partial(home_view.loading, HOME_OF),
    "home": home_page(FLEET, address="https://contoso.slack.com/"),
    "home-with-an-approval": home_page(FLEET[:2], approvals=(APPROVAL,), note=home_text.checking("prod-weu")),
    "home-all-well": home_page([member("prod-eus2")], recent=()),
    "home-empty": home_page((), recent=()),
    "home-too-many": home_page([member(f"edge-{n:03}", "Failed" if n % 4 == 0 else "Succeeded") for n in range(200)]),
    "home-without-memory": home_page(FLEET[:1], recent=None),
    "home-approvals-not-told": home_page(FLEET[:1], approvals=replies.only(gate_text.cannot_tell("500", None))),
    "home-azure-away": partial(home_view.page, home_view.Shown(UNREACHABLE, MOMENT, LATELY[:1]), HOME_OF),
    "home-refused": partial(home_view.refused, refusal(Look(), Refused(Why.GUEST), None), HOME_OF),
}

POLICY: dict[str, Surface] = {
    f"refused-{why.name.lower()}": partial(
        refusal, Look(ask="#platform-on-call"), Refused(why, ("C0PAYMENTS",)), "prod-weu"
    )
    for why in Why
}

TRIAGE: dict[str, Surface] = {
    "triaged": partial(triaged, f"Alert on prod-weu and dev-shared: {ERROR}", LIBRARY, FLEET, "1.000001"),
    "triaged-no-cluster": partial(triaged, ERROR, LIBRARY, FLEET, "1.000001"),
    "triaged-unknown": partial(triaged, "lunch?", LIBRARY, FLEET, "1.000001"),
    "triaged-no-text": partial(triaged, " ", LIBRARY, FLEET, "1.000001"),
    "triaged-azure-away": partial(triaged, ERROR, LIBRARY, UNREACHABLE, "1.000001"),
    "triaged-for-a-guest": partial(triaged, ERROR, LIBRARY, refusal(Look(), Refused(Why.GUEST), None), "1.000001"),
}

FLEETS = fleet_surfaces(FLEET, [member(f"edge-{number:03}") for number in range(200)])

SURFACES: dict[str, Surface] = (
    FLEETS | CHECK | COMMANDS | SENTENCES | WINDOWS | OLDER | HOME | POLICY | TRIAGE | INCIDENTS | FIXES | SUPPORT
)
"""Surfaces by the name of their golden file."""

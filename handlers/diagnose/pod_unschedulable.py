"""Why does a pod get no node, and what is the smallest change that would give it one?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from handlers.counted import counted
from handlers.diagnose.scheduling.alike import judge_all
from handlers.diagnose.scheduling.change import facts_of
from handlers.diagnose.scheduling.verdict import Verdict, table, together
from handlers.diagnose.scheduling.words import UNSEEN_BY_US, about_volumes, being_made, shortened, told_causes
from handlers.diagnose.volume_claims import unbound_claims
from handlers.diagnose.workload_findings import WITHOUT_AZURE
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import ApiServer
from handlers.evidence.scheduling.collect import Scheduling, Surroundings, waited_since, with_surroundings
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.scale_up import ScaleUps
from handlers.evidence.system_namespaces import ALWAYS_THE_SYSTEMS
from handlers.evidence.workloads.owners import Owners
from handlers.evidence.workloads.pods import WorkloadPods
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.storage import Claims, StorageClasses, Volumes
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.unwell import EmptyServices, ShortWorkloads
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why

CODE = "pod-unschedulable"
PATIENCE = timedelta(seconds=20)
"""A pod that waits for another one to end, as in a rollout, waits for some seconds."""
AUTOSCALER_LOOKS = timedelta(minutes=1)
"""It looks every 10 s, and says for every pod what it makes of it."""
NODE_COMES = timedelta(minutes=15)
"""How long the cluster autoscaler waits for a node that it asked for (max-node-provision-time)."""
MACHINE_COMES = timedelta(minutes=5)
"""Node auto-provisioning (Karpenter) has a machine in two minutes or so, and says of a pod only that it has seen it."""
VOLUME_COMES = timedelta(minutes=3)
"""Azure makes a disk or a share in less; what fails meanwhile is told by an event of the claim."""
MOST_NAMED = 5
ROWS = 6
"""More kinds of nodes than these nobody reads on a phone."""

WHO_CALLS = (ApiServer, Owners, Services, ShortWorkloads, EmptyServices, WarningEvents)
"""What `Calls` is made of: it only tells who else is harmed."""
ITS_VOLUMES = (WorkloadPods, Claims, Volumes, StorageClasses, Symptoms)
"""Asked of a pod that waits for its volume: without them that is left open."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=ClearWithout(
        (*WITHOUT_AZURE.kinds, Surroundings, ScaleUps, AutoscalerStatus, *WHO_CALLS, *ITS_VOLUMES),
        "every pod that waits is compared with every node; the rest tells what the autoscaler makes of it",
    ),
)
def pod_unschedulable(
    cluster: ManagedCluster,
    waits: Scheduling,
    around: Surroundings | Unavailable | NotApplicable,
    pools: AgentPools | Unavailable,
    ups: ScaleUps | Unavailable | NotApplicable,
    autoscaler: AutoscalerStatus | Unavailable | NotApplicable,
    calls: Calls | Unavailable,
    pods: WorkloadPods | Unavailable | NotApplicable,
    claims: Claims | Unavailable | NotApplicable,
    volumes: Volumes | Unavailable | NotApplicable,
    classes: StorageClasses | Unavailable | NotApplicable,
    symptoms: Symptoms | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """A pod waits, and no node will do."""
    waits = with_surroundings(waits, around)
    found: list[list[Verdict]] = []
    of_volumes = _of_volumes(pods, claims, volumes, classes, symptoms, waits, calls)
    for group in _groups(waits):
        judged = [(verdict, _judged(cluster, verdict, waits, ups, of_volumes)) for verdict in group]
        stuck = [verdict for verdict, seen in judged if seen is None]
        if stuck:
            found.append(stuck)
        yield from _else([seen for _, seen in judged if seen], stuck)
    more = [rest[0].demand.owner_id for rest in found[MOST_NAMED:]]
    for stuck in found[:MOST_NAMED]:
        said = _said([verdict.demand for verdict in stuck], ups, autoscaler)
        yield _finding(cluster, waits, stuck, said, pools, calls, more)
    if waits.complete and not found:
        yield Clear(
            f"{counted(len(waits.waiting), 'pod')} waiting for a node, none for long"
            if waits.waiting
            else "no pod is waiting for a node"
        )


def _groups(waits: Scheduling) -> list[list[Verdict]]:
    """The pods that have waited for a while, by workload; those of AKS first, then the oldest. Every one is judged: of
    a daemon set each is for another node, of a stateful set each has its own disks."""
    owners: dict[str, list[Verdict]] = {}
    ordered = sorted(waits.waiting, key=lambda demand: (str(waited_since(demand)), demand.name))
    patient = [demand for demand in ordered if _waited(demand, waits) >= PATIENCE and not demand.nominated]
    for verdict in judge_all(patient, waits):
        owners.setdefault(verdict.demand.owner_id, []).append(verdict)
    return sorted(owners.values(), key=lambda group: group[0].demand.namespace not in ALWAYS_THE_SYSTEMS)


def _else(judged: Sequence[Judgement], stuck: Sequence[Verdict]) -> Iterator[Judgement]:
    """What the other pods of a workload come to: the first that is open, or the first that is clear if all are."""
    still_open = [seen for seen in judged if isinstance(seen, Unavailable)]
    yield from still_open[:1] or ([] if stuck else judged[:1])


def _by_cause(stuck: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """The pods of a workload by what keeps them off their nodes, the most first."""
    causes: dict[str, list[Verdict]] = {}
    for verdict in stuck:
        causes.setdefault(_cause(verdict), []).append(verdict)
    return sorted(causes.items(), key=lambda item: -len(item[1]))


def _cause(verdict: Verdict) -> str:
    told = told_causes(verdict.demand.said)
    return next((item for item in told if item in UNSEEN_BY_US), "") if verdict.fits else verdict.cause


def _waited(demand: Demand, waits: Scheduling) -> timedelta:
    since = waited_since(demand)
    return waits.taken_at - since if since else timedelta.max


@dataclass(frozen=True, slots=True)
class OfVolumes:
    """What volume-unbound says, for the pods that wait for their volume."""

    pods: frozenset[str] = frozenset()
    """Of whose volumes it says what is wrong (`namespace/Pod/name`)."""
    unseen: Unavailable | None = None


def _of_volumes(
    pods: WorkloadPods | Unavailable | NotApplicable,
    claims: Claims | Unavailable | NotApplicable,
    volumes: Volumes | Unavailable | NotApplicable,
    classes: StorageClasses | Unavailable | NotApplicable,
    symptoms: Symptoms | Unavailable | NotApplicable,
    waits: Scheduling,
    calls: Calls | Unavailable,
) -> OfVolumes:
    unseen = next((seen for seen in (pods, claims, symptoms, volumes, classes) if isinstance(seen, Unavailable)), None)
    if not (isinstance(pods, WorkloadPods) and isinstance(claims, Claims) and isinstance(symptoms, Symptoms)):
        return OfVolumes(unseen=unseen)
    found = unbound_claims(pods, claims, volumes, classes, symptoms, waits, calls)
    return OfVolumes(frozenset(subject for finding in found for subject in finding.affects), unseen)


def _waits_for_volume(demand: Demand, waits: Scheduling, of_volumes: OfVolumes) -> Judgement | None:
    """What is to be said of a pod that waits for its volume; None where it is for nodes, too."""
    who, said = f"{demand.namespace}/{demand.name}", shortened(demand.said)
    if f"{demand.namespace}/Pod/{demand.name}" in of_volumes.pods:
        return Clear(f"{who} waits for its volume: {said}")
    if told_causes(demand.said):
        return None
    if being_made(demand.said) and _waited(demand, waits) < VOLUME_COMES:
        return Clear(f"{who} waits for its volume, which is being made: {said}")
    open_question = Unavailable(f"the volume of {who}", Why.ABSENT, f"no claim shows why; the scheduler says {said}")
    return of_volumes.unseen or open_question


def _judged(
    cluster: ManagedCluster,
    verdict: Verdict,
    waits: Scheduling,
    ups: ScaleUps | Unavailable | NotApplicable,
    of_volumes: OfVolumes,
) -> Judgement | None:
    """What else it is, where it is no finding; None where it is one."""
    demand = verdict.demand
    who = f"{demand.namespace}/{demand.name}"
    volume = _waits_for_volume(demand, waits, of_volumes) if about_volumes(demand.said) else None
    if volume:
        return volume
    if waits.truncated:
        return Unavailable(f"the node for {who}", Why.FAILED, "the list of nodes or pods was cut")
    if isinstance(ups, ScaleUps) and _on_its_way(demand, waits, ups):
        return Clear(f"{who} waits for a node that the cluster autoscaler makes")
    if cluster.makes_own_nodes and _waited(demand, waits) < MACHINE_COMES:
        return Clear(f"{who} waits for a node that node auto-provisioning makes")
    passing = verdict.waits_for
    if passing:
        why = next(obstacle.why for obstacle in passing.lasting if obstacle.passing)
        return Clear(f"{who} waits for {passing.room.name}, which {why}: a matter of that node")
    if (verdict.fits or not verdict.answers) and not set(told_causes(demand.said)) & UNSEEN_BY_US:
        return _disagree(verdict, waits, who)
    return None


def _on_its_way(demand: Demand, waits: Scheduling, ups: ScaleUps) -> bool:
    said = ups.said.get(f"{demand.namespace}/{demand.name}")
    if said is None:
        return _waited(demand, waits) < AUTOSCALER_LOOKS
    return said.scales and waits.taken_at - said.at < NODE_COMES


def _disagree(verdict: Verdict, waits: Scheduling, who: str) -> Unavailable:
    """The scheduler says no, and no reason for it is in what was seen."""
    demand = verdict.demand
    if waits.gaps and (demand.volume_claims or not demand.sees_namespaces(waits.namespaces)):
        return waits.gaps[0]
    room = f"{verdict.fits[0].name} looks free for it" if verdict.fits else "no node was seen"
    return Unavailable(f"the node for {who}", Why.ABSENT, f"{room}; the scheduler says {shortened(demand.said)}")


def _said(
    group: Sequence[Demand],
    ups: ScaleUps | Unavailable | NotApplicable,
    autoscaler: AutoscalerStatus | Unavailable | NotApplicable,
) -> Iterator[str]:
    """The autoscaler's own verdict."""
    if isinstance(ups, ScaleUps):
        told = (ups.said.get(f"{demand.namespace}/{demand.name}") for demand in group)
        yield from (
            f"cluster autoscaler: {each_message.message}"
            for each_message in [message for message in told if message][:1]
        )
    if isinstance(autoscaler, AutoscalerStatus):
        yield from (str(backoff) for backoff in autoscaler.backed_off[:2])


def _finding(
    cluster: ManagedCluster,
    waits: Scheduling,
    stuck: list[Verdict],
    autoscaler: Iterator[str],
    pools: AgentPools | Unavailable,
    calls: Calls | Unavailable,
    more: list[str],
) -> Finding:
    (cause, most), *rest = _by_cause(stuck)
    verdict, group = together(most), [verdict.demand for verdict in stuck]
    demand, nodes = verdict.demand, len(together(stuck).answers)
    lines = list(table(verdict))[:ROWS]
    harmed = calls.harmed_by(demand.owner_id) if isinstance(calls, Calls) else (demand.owner_id,)
    return Finding(
        code=CODE,
        subject=demand.owner_id,
        affects=(*(f"{demand.namespace}/Pod/{demand.name}" for demand in group), *harmed),
        because=(
            _headline(group, nodes, waits),
            *lines,
            *(f"{_names(others)}: {next(table(others[0]), other)}" for other, others in rest[:ROWS]),
            f"scheduler: {shortened(demand.said)}",
            *autoscaler,
            *([f"{len(more)} more workloads wait for a node: {', '.join(more[:ROWS])}"] if more else []),
        ),
        facts=facts_of(cluster, waits, verdict, group, cause, pools) | {"table": lines, "nodes": nodes},
        began=waited_since(group[0]),
    )


def _names(verdicts: Sequence[Verdict]) -> str:
    first = verdicts[0].demand.name
    return first if len(verdicts) == 1 else f"{len(verdicts)} pods like {first}"


def _headline(group: list[Demand], nodes: int, waits: Scheduling) -> str:
    demand = group[0]
    minutes = int(_waited(demand, waits).total_seconds()) // 60
    since = f" for {minutes} min" if minutes and waited_since(demand) else ""
    pods = demand.name if len(group) == 1 else f"{len(group)} pods of {demand.workload}"
    wait = "waits" if len(group) == 1 else "wait"
    return f"{pods} {wait} for a node{since}: none of {nodes} will do"

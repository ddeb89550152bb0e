"""What is wrong with workloads now, in one value that all questions share. What has passed is no symptom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import MANY_RESTARTS, Nodes
from handlers.evidence.workloads.containers import Container, State
from handlers.evidence.workloads.owners import JOB, Owner, Owners
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.unwell import RECENT
from handlers.evidence.workloads.warnings import Warned, WarningEvents
from handlers.model import Evidence, Unavailable

LATELY = timedelta(minutes=10)
"""A container that has run for so long starts anew in the kubelet's count of restarts."""
SETTLED = timedelta(minutes=2)
"""A container that is Ready again for so long has got over its first ends: what it waited for has come."""
STARTING = timedelta(minutes=2)
"""Pulling an image and starting takes most containers less."""
PROBES_FAILED = 3
"""The kubelet's own default: one failed probe is nothing, and at the start some always fail."""
STILL_FAILING = timedelta(minutes=2)
"""A probe that fails is repeated every ten seconds by default; its event is renewed with it."""
_NO_TROUBLE = frozenset({"", "ContainerCreating", "PodInitializing", "CrashLoopBackOff"})
PROXIES = frozenset({"istio-proxy", "linkerd-proxy", "istio-init", "istio-validation"})
_REFUSALS = frozenset({"FailedCreate", "FailedDaemonPod"})
_STUCK = frozenset({"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedMapVolume"})


class Sign(StrEnum):
    """How a workload is unwell."""

    REFUSED = "refused"
    """Its pods cannot be created."""
    WAITING = "waiting"
    """The kubelet says why a container does not start."""
    STUCK = "stuck"
    """A container waits, and events say what for."""
    CRASHING = "crashing"
    """A container ends and is started again."""
    NOT_READY = "not-ready"
    """A container runs and is not Ready."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Who is unwell, how, since when, and what was said of it last."""

    owner: str
    """The subject of the workload: `shop/Deployment/web`."""
    sign: Sign
    reason: str
    message: str
    since: datetime | None
    last: datetime | None
    count: int
    """How often it was seen: events, restarts."""
    pods: tuple[WorkloadPod, ...] = ()
    container: Container | None = None

    @property
    def namespace(self) -> str:
        return self.owner.partition("/")[0]

    @property
    def pod(self) -> WorkloadPod | None:
        return self.pods[0] if self.pods else None

    @property
    def state(self) -> State:
        return (self.container.state if self.container else None) or State()


@dataclass(frozen=True, kw_only=True)
class Symptoms(Evidence):
    """What is wrong with workloads now, worst first."""

    symptoms: tuple[Symptom, ...]
    warnings: tuple[Warned, ...]
    """The events that are recent enough to count."""

    def of(self, *signs: Sign) -> tuple[Symptom, ...]:
        return tuple(symptom for symptom in self.symptoms if symptom.sign in signs)

    def about(self, pod: WorkloadPod, *reasons: str) -> tuple[Warned, ...]:
        """What was said of one pod, the last first."""
        told = (
            warning
            for warning in self.warnings
            if warning.subject == pod.subject and (not reasons or warning.reason in reasons)
        )
        return tuple(sorted(told, key=lambda warned: warned.last, reverse=True))


@collector(reads=())
async def symptoms(
    cluster: ManagedCluster, pods: WorkloadPods, owners: Owners, nodes: Nodes, warnings: WarningEvents | Unavailable
) -> Symptoms:
    """what is wrong with workloads now"""
    told = warnings.events if isinstance(warnings, WarningEvents) else ()
    recent = tuple(warned for warned in told if warned.last >= pods.taken_at - RECENT)
    lost = {node.name for node in nodes.nodes if not node.is_ready}
    ours = cluster.all_system_namespaces
    standing = [
        pod
        for pod in pods.pods
        if not pod.done and not pod.deleting and pod.node not in lost and pod.namespace not in ours
    ]
    found = [
        *_refused([owner for owner in owners.owners if owner.namespace not in ours], recent, pods.taken_at),
        *_unwell(standing, recent, pods.taken_at),
    ]
    return Symptoms(
        source=pods.source,
        taken_at=pods.taken_at,
        truncated=pods.truncated or owners.truncated,
        gaps=(*pods.gaps, *owners.gaps, *((warnings,) if isinstance(warnings, Unavailable) else ())),
        symptoms=tuple(sorted(found, key=lambda symptom: (list(Sign).index(symptom.sign), symptom.owner))),
        warnings=recent,
    )


def _refused(owners: Sequence[Owner], recent: Sequence[Warned], at: datetime) -> Iterator[Symptom]:
    """Owners that lack pods and were told why."""
    for owner in owners:
        told = [warned for warned in recent if warned.subject == owner.subject and warned.reason in _REFUSALS]
        refused = owner.refused
        lacks = owner.lacks or (owner.kind == JOB and not owner.standing)
        if not lacks or not (refused or told):
            continue
        last = max(told, key=lambda warned: warned.last, default=None)
        since = refused.since if refused else last.first if last else None
        message = (last.message if last else "") or (refused.message if refused else "")
        yield Symptom(
            owner=owner.workload,
            sign=Sign.REFUSED,
            reason="FailedCreate",
            message=message.removeprefix("Error creating: "),
            since=since,
            last=last.last if last else at,
            count=sum(warned.count for warned in told) or 1,
        )


def _unwell(pods: Sequence[WorkloadPod], recent: Sequence[Warned], at: datetime) -> Iterator[Symptom]:
    """One symptom for each workload, container and sign; its pods together."""
    grouped: dict[tuple[str, str, Sign, str], list[tuple[WorkloadPod, Container, Warned | None]]] = defaultdict(list)
    about: dict[str, list[Warned]] = defaultdict(list)
    for warned in recent:
        about[warned.subject].append(warned)
    for pod in pods:
        for container in pod.containers:
            found = _sign(pod, container, about[pod.subject], at)
            if found:
                sign, reason, told = found
                grouped[pod.owned_by, container.name, sign, reason].append((pod, container, told))
    for (owner, _, sign, reason), rows in grouped.items():
        yield _symptom(owner, sign, reason, rows)


def _symptom(owner: str, sign: Sign, reason: str, rows: list[tuple[WorkloadPod, Container, Warned | None]]) -> Symptom:
    first, container, _ = rows[0]
    told = [row for _, _, row in rows if row]
    last = max(told, key=lambda warned: warned.last, default=None)
    state = container.state or State()
    ready = first.condition("Ready")
    return Symptom(
        owner=owner,
        sign=sign,
        reason=reason,
        message=(last.message if last else "") if sign in (Sign.STUCK, Sign.NOT_READY) else state.message,
        since=ready.since if ready else first.created,
        last=last.last if last else None,
        count=max(state.restarts, sum(warned.count for warned in told)),
        pods=tuple(pod for pod, _, _ in rows),
        container=container,
    )


def _sign(
    pod: WorkloadPod, container: Container, about: list[Warned], at: datetime
) -> tuple[Sign, str, Warned | None] | None:
    state = container.state
    # A proxy is injected, and waits for the same as the containers that people wrote.
    if (
        state is None
        or container.name in PROXIES
        or (container.init and not container.sidecar and state.ended and not state.ended.exit_code)
    ):
        return None
    if state.waiting not in _NO_TROUBLE:
        return Sign.WAITING, state.waiting, None
    if state.waiting == "CrashLoopBackOff" or _ended_lately(state, at):
        return Sign.CRASHING, _why_ended(state), None
    if state.waiting:
        stuck = max(
            (warned for warned in about if warned.reason in _STUCK), key=lambda warned: warned.last, default=None
        )
        return (Sign.STUCK, stuck.reason, stuck) if stuck and stuck.last >= at - STILL_STUCK else None
    if state.running_since and not state.ready and not container.init:
        return _not_ready(pod, container, about, at)
    return _liveness(container, about, at)


STILL_STUCK = timedelta(minutes=5)
"""The kubelet tries a mount again after two minutes at most."""


def _not_ready(
    pod: WorkloadPod, container: Container, about: list[Warned], at: datetime
) -> tuple[Sign, str, Warned | None] | None:
    """A container that has had the time to become Ready, or whose probe has failed as often as counts."""
    failed = [
        warned
        for warned in about
        if warned.reason == "Unhealthy" and _of(warned, container) and "Liveness" not in warned.message
    ]
    told = max(failed, key=lambda warned: warned.last, default=None)
    since = container.state.running_since if container.state else None
    failing = (
        told is not None and told.last >= at - STILL_FAILING and sum(warned.count for warned in failed) >= PROBES_FAILED
    )
    if failing or (since and since <= at - STARTING - _initial_delay(container)):
        return Sign.NOT_READY, "Unhealthy" if told else "NotReady", told
    return None


def _liveness(container: Container, about: list[Warned], at: datetime) -> tuple[Sign, str, Warned | None] | None:
    """A container that is Ready, and whose liveness probe fails: the next restart is a matter of seconds."""
    failed = [
        warned
        for warned in about
        if warned.reason == "Unhealthy" and _of(warned, container) and "Liveness" in warned.message
    ]
    told = max(failed, key=lambda warned: warned.last, default=None)
    restarts = container.state.restarts if container.state else 0
    if (
        told
        and restarts
        and told.last >= at - STILL_FAILING
        and sum(warned.count for warned in failed) >= PROBES_FAILED
    ):
        return Sign.CRASHING, "Unhealthy", told
    return None


def _ended_lately(state: State, at: datetime) -> bool:
    """Ended by itself, or started again, within the last minutes. The first restart may have been bad luck."""
    end = state.last_end
    if end is None or not (end.exit_code or end.reason == "OOMKilled") or end.at is None:
        return False
    if state.ready and state.running_since and state.running_since <= at - SETTLED and state.restarts < MANY_RESTARTS:
        return False
    again = state.restarts > 1 or state.ended is not None or end.reason == "OOMKilled"
    return again and end.at >= at - LATELY


def _why_ended(state: State) -> str:
    return state.last_end.reason if state.last_end else "Error"


def _of(event: Warned, container: Container) -> bool:
    return event.container in ("", container.name)


def _initial_delay(container: Container) -> timedelta:
    probes = [probe.initial_delay_s for probe in container.probes]
    return timedelta(seconds=max(probes, default=0))

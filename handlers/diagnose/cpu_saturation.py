"""Does a container that serves others use all the CPU that it may have?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.containers import Container
from handlers.evidence.workloads.cpu import CpuUse
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.symptoms import PROXIES, Symptoms
from handlers.evidence.workloads.unwell import LATELY
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable
from runbooks.linear import compile_linear

CODE = "cpu-saturation"
AT_LIMIT = Decimal("0.9")
"""The kernel throttles a container in every tenth of a second in which it has used up its share. Measured over 15 s or
more, a container that is throttled most of the time shows as a little less than its limit."""
STARTED = timedelta(minutes=5)
"""Runtimes that compile while they run, and caches that fill, take all they get in the first minutes."""
PROBES, CALLERS, ROLLOUT = "probes", "callers", "rollout"
_TOO_SLOW = compile_linear(
    r"context deadline exceeded|Client\.Timeout exceeded|i/o timeout|timed out|timeout: failed to connect"
)
"""What the kubelet says of a probe that was not answered in time."""


@dataclass(frozen=True, slots=True)
class Throttled:
    """One container of a workload, in the pods in which its use was measured."""

    owner: str
    container: str
    limit: Decimal
    used: tuple[tuple[WorkloadPod, Decimal], ...]
    """Each pod with the cores that this container uses there, most first."""

    @property
    def at_limit(self) -> tuple[tuple[WorkloadPod, Decimal], ...]:
        return tuple((pod, cores) for pod, cores in self.used if cores >= self.limit * AT_LIMIT)

    @property
    def all_of_them(self) -> bool:
        """Whether the workload as a whole is at its limit: another pod has no room for what waits."""
        return sum(cores for _, cores in self.used) >= self.limit * AT_LIMIT * len(self.used)


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no workload that fails uses all the CPU its limit allows",
)
def cpu_saturation(
    pods: WorkloadPods,
    use: CpuUse | NotApplicable,
    symptoms: Symptoms,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable,
) -> Iterator[Judgement]:
    """A container uses all the CPU that its limit allows, and what it serves is too slow."""
    if isinstance(use, NotApplicable):
        yield use
        return
    yield from named(_findings(pods, use, symptoms, calls, tails))
    for missing in (calls, tails):
        if isinstance(missing, Unavailable):
            yield missing


def _findings(
    pods: WorkloadPods, use: CpuUse, symptoms: Symptoms, calls: Calls | Unavailable, tails: LogTails | Unavailable
) -> Iterator[Finding]:
    for throttled in _throttled(pods, use):
        cause, line = _symptom(throttled, symptoms, calls, tails)
        if cause:
            yield _finding(throttled, cause, line, calls)


def _throttled(pods: WorkloadPods, use: CpuUse) -> Iterator[Throttled]:
    """The containers that are at their limit in some pod. What runs to an end, a job, may use all that it gets."""
    grouped: dict[tuple[str, str, Decimal], list[tuple[WorkloadPod, Decimal]]] = {}
    for pod in pods.pods:
        for container in () if pod.done or pod.deleting or pod.owner_kind == "Job" else pod.containers:
            limit, cores = container.limits.get("cpu"), use.of(pod, container.name)
            if limit and cores is not None and _serves(container):
                grouped.setdefault((pod.owned_by, container.name, limit), []).append((pod, cores))
    for (owner, name, limit), used in grouped.items():
        used.sort(key=lambda row: (-row[1], row[0].name))
        throttled = Throttled(owner, name, limit, tuple(used))
        if throttled.at_limit:
            yield throttled


def _serves(container: Container) -> bool:
    return not container.init and container.name not in PROXIES


def _symptom(
    throttled: Throttled, symptoms: Symptoms, calls: Calls | Unavailable, tails: LogTails | Unavailable
) -> tuple[str, str]:
    """What shows that it is too slow, and the line that says so; nothing where nobody is harmed."""
    for pod, _ in throttled.at_limit:
        for warned in symptoms.about(pod, "Unhealthy"):
            if warned.last >= symptoms.taken_at - STARTED and _TOO_SLOW.search(warned.message):
                return PROBES, warned.message[:300]
    fronts = calls.fronts.get(throttled.owner, ()) if isinstance(calls, Calls) else ()
    if not fronts or not throttled.all_of_them:
        return "", ""
    line = _of_a_caller(fronts, calls, tails)
    if line:
        return CALLERS, line
    return (ROLLOUT, "") if _rolled_out(throttled, symptoms.taken_at) else ("", "")


def _of_a_caller(fronts: Sequence[str], calls: Calls | Unavailable, tails: LogTails | Unavailable) -> str:
    """A caller that names this service in a line about an answer that did not come in time."""
    if isinstance(calls, Unavailable) or isinstance(tails, Unavailable):
        return ""
    for front in fronts:
        name = front.rpartition("/")[2]
        for tail in tails.tails:
            words = said(tail.lines) if tail.owner in calls.callers.get(front, ()) else None
            if words and words.cause is Cause.TIMEOUT and words.host.partition(".")[0] == name:
                return f"{tail.owner.partition('/')[2]} says: {words.line}"
    return ""


def _rolled_out(throttled: Throttled, at: datetime) -> bool:
    """It was started within the last hour, and has had the time to start: the release needs more than it may have."""
    for pod, _ in throttled.at_limit:
        state = next((item.state for item in pod.containers if item.name == throttled.container), None)
        since = state.running_since if state else None
        if pod.created and pod.created >= at - LATELY and since and since <= at - STARTED:
            return True
    return False


def _finding(throttled: Throttled, cause: str, line: str, calls: Calls | Unavailable) -> Finding:
    pods = [pod for pod, _ in throttled.at_limit]
    most = throttled.at_limit[0][1]
    return Finding(
        code=CODE,
        subject=throttled.owner,
        severity=Severity.WARNING if cause == ROLLOUT else Severity.ERROR,
        affects=harmed(throttled.owner, pods, calls),
        because=tuple(_because(throttled, cause, line, calls)),
        facts=workload_facts(throttled.owner, pods, throttled.container)
        | {
            "cause": cause,
            "limit": cores_of(throttled.limit),
            "used": cores_of(most),
            "percent": _percent(most, throttled.limit),
            "pods_at_limit": len(pods),
            "pods_measured": len(throttled.used),
            "line": line,
        },
    )


def _because(throttled: Throttled, cause: str, line: str, calls: Calls | Unavailable) -> Iterator[str]:
    workload = throttled.owner.partition("/")[2]
    pod, most = throttled.at_limit[0]
    share = f"{cores_of(most)} of {cores_of(throttled.limit)} CPU ({_percent(most, throttled.limit)} %)"
    yield f"container {throttled.container} of {workload} uses {share} in {pod.name}: the kernel throttles it"
    if len(throttled.used) > 1:
        yield f"{len(throttled.at_limit)} of {len(throttled.used)} pods are at this limit"
    if cause == PROBES:
        yield f"its probe is not answered in time: {line}"
    elif cause == CALLERS:
        yield line
    else:
        services = calls.fronts.get(throttled.owner, ()) if isinstance(calls, Calls) else ()
        behind = ", ".join(service.rpartition("/")[2] for service in services)
        yield f"its pods were started within the last hour and are behind service {behind}: requests wait for CPU"


def cores_of(cores: Decimal) -> str:
    """As `kubectl top` and a limit write it: `190m`, `2`."""
    return f"{cores.normalize():f}" if cores == cores.to_integral_value() else f"{round(cores * 1000)}m"


def _percent(used: Decimal, limit: Decimal) -> int:
    return round(100 * used / limit)

"""Do containers end again and again, by themselves or because of their memory limit?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from handlers.ages import ago
from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, pods_of, tail_of
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.containers import End
from handlers.evidence.workloads.log_families import Said, said
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable

CRASHING, OOM_KILLED = "container-crashing", "container-oom-killed"
OOM = "OOMKilled"
KILLED = frozenset({137, 143})
"""128 + SIGKILL, 128 + SIGTERM: somebody ended it, such as the kubelet whose liveness probe had failed."""
_TOO_SMALL = "OOM-killed"
"""runc: `container init was OOM-killed (memory limit too low?)`, before the process itself has begun."""
_LAST_LINES = 3
_SIGNALS = {139: "a segmentation fault", 134: "an abort", 126: "its command cannot be run", 127: "no such command"}


@diagnostic(
    codes=(OOM_KILLED,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no container was killed at its memory limit",
)
def container_oom_killed(symptoms: Symptoms, calls: Calls | Unavailable) -> Iterator[Judgement]:
    """A container is killed because it needs more memory than its limit."""
    found = {
        symptom.owner: symptom
        for symptom in symptoms.of(Sign.WAITING, Sign.STUCK, Sign.CRASHING)
        if _out_of_memory(symptom)
    }
    yield from named(_oom_killed(symptom, calls) for symptom in found.values())


@diagnostic(
    codes=(CRASHING,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no container keeps ending by itself",
)
def container_crashing(
    symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """A container's process keeps exiting."""
    found: dict[tuple[str, str], Symptom] = {}
    for symptom in symptoms.of(Sign.CRASHING, Sign.WAITING):
        if _crashes(symptom) and symptom.container:
            found.setdefault((symptom.owner, symptom.container.name), symptom)
    yield from named(
        _crashing(symptom, tail_of(symptom, tails), symptoms.taken_at, calls) for symptom in found.values()
    )


def _out_of_memory(symptom: Symptom) -> bool:
    end = symptom.state.last_end
    return (end is not None and end.reason == OOM) or _TOO_SMALL in symptom.message


def _crashes(symptom: Symptom) -> bool:
    """By itself: not killed for its memory, and not by a liveness probe."""
    if symptom.reason == "RunContainerError" or symptom.reason == "CreateContainerError":
        return not _out_of_memory(symptom)
    end = symptom.state.last_end
    return symptom.sign is Sign.CRASHING and end is not None and end.reason != OOM and end.exit_code not in KILLED


def _oom_killed(symptom: Symptom, calls: Calls | Unavailable) -> Finding:
    container, end = symptom.container, symptom.state.last_end
    limit = format_bytes(container.limits.get("memory")) if container else ""
    workload = symptom.owner.partition("/")[2]
    name = container.name if container else ""
    bound = f"its limit of {limit}" if limit else "the memory that its pod may use"
    because = [f"container {name} of {workload} was killed at {bound}"]
    if end and end.reason == OOM:
        because.append(f"{_first(symptom)}: {OOM}, exit code {end.exit_code}, restarted {symptom.state.restarts} times")
    else:
        because.append(f"{_first(symptom)}: {symptom.message}")
    return Finding(
        code=OOM_KILLED,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=tuple(because),
        facts=facts_of(symptom) | {"limit": limit, "restarts": symptom.state.restarts},
        began=symptom.since,
    )


def _crashing(symptom: Symptom, tail: Tail | None, at: datetime, calls: Calls | Unavailable) -> Finding:
    end = symptom.state.last_end
    words = said(tail.lines) if tail else None
    lines = last_lines(tail, words)
    workload = symptom.owner.partition("/")[2]
    name = symptom.container.name if symptom.container else ""
    exit_code = end.exit_code if end else 0
    because = [_ended(name, workload, symptom, end, at), *(f"its last lines: {line}" for line in lines)]
    if not lines and end and end.message:
        because.append(f"it left the message: {end.message[:300]}")
    return Finding(
        code=CRASHING,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=tuple(because),
        facts=facts_of(symptom)
        | {
            "exit_code": exit_code,
            "meaning": _SIGNALS.get(exit_code, ""),
            "reason": end.reason if end else symptom.reason,
            "restarts": symptom.state.restarts,
            "lines": list(lines),
            "cause": str(words.cause) if words else "",
        },
        began=symptom.since,
    )


def _ended(name: str, workload: str, symptom: Symptom, end: End | None, at: datetime) -> str:
    if end is None:
        return f"container {name} of {workload} cannot be started: {symptom.reason}: {symptom.message}"
    last = f", last {ago(end.at, at)}" if end.at else ""
    meaning = f" ({_SIGNALS[end.exit_code]})" if end.exit_code in _SIGNALS else ""
    times = f"restarted {symptom.state.restarts} times{last}"
    return f"container {name} of {workload} ends with exit code {end.exit_code}{meaning}, {times}"


def last_lines(tail: Tail | None, words: Said | None) -> tuple[str, ...]:
    """The line that says why, where one does; else the very last ones, without the steps of a stack."""
    if words:
        return (words.line,)
    plain = [line.strip() for line in (tail.lines if tail else ()) if not line.lstrip().startswith("at ")]
    return tuple(plain[-_LAST_LINES:])


def _first(symptom: Symptom) -> str:
    pod = symptom.pod
    return f"{pods_of(len(symptom.pods))}, {pod.name}" if pod else symptom.owner


def format_bytes(size: object) -> str:
    """A limit as people write it."""
    if size is None:
        return ""
    value = int(str(size).partition(".")[0])
    for unit, factor in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return str(value)

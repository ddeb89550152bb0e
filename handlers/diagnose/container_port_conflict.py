"""Do two containers of a pod want the same port?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, tail_of
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.containers import Container
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "container-port-conflict"
_PORT = compile_linear(r"(?i)port:? ([0-9]{2,5})|:([0-9]{2,5})(?:[^0-9]|$)")


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no container failed over a port that another one of its pod holds",
)
def container_port_conflict(
    symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """Containers of one pod want the same port: all but the first of them end."""
    found: dict[str, Finding] = {}
    for symptom in symptoms.of(Sign.CRASHING, Sign.NOT_READY):
        finding = _conflict(symptom, tails, calls)
        if finding:
            found.setdefault(symptom.owner, finding)
    yield from named(found.values())


def _conflict(symptom: Symptom, tails: LogTails | Unavailable, calls: Calls | Unavailable) -> Finding | None:
    tail, pod, container = tail_of(symptom, tails), symptom.pod, symptom.container
    words = said(tail.lines) if tail else None
    if not pod or not container or not words or words.cause is not Cause.IN_USE:
        return None
    port = _port(words.line, container)
    others = [
        each_container.name
        for each_container in pod.containers
        if each_container.name != container.name and not each_container.init
    ]
    if not others and not pod.spec.scheduling.host_network:
        return None  # alone in its pod it is in its own way: its own bug, and container-crashing names it
    rivals = [
        each_container.name
        for each_container in pod.containers
        if each_container.name != container.name and port and each_container.port_of(str(port))
    ]
    who = ", ".join(rivals or others) or "another process of the node (hostNetwork)"
    workload = symptom.owner.partition("/")[2]
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=(
            f"container {container.name} of {workload} wants port {port or 'that is in use'}, and {who} has it already",
            f"its last lines: {words.line}",
        ),
        facts=facts_of(symptom) | {"port": port, "rivals": rivals or others, "line": words.line},
        began=symptom.since,
    )


def _port(line: str, container: Container) -> int:
    found = _PORT.search(line)
    if found:
        return int(found[1] or found[2])
    return container.ports[0].number if container.ports else 0

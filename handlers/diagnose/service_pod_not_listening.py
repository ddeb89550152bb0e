"""The service and its pods agree on the port: does anybody listen there?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.counted import counted
from handlers.diagnose.workload_findings import WITHOUT_AZURE, named
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.pod_ports import Asked, PodPorts, Suspect
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, NotApplicable, Unavailable, Why

CODE = "service-pod-not-listening"
SETTING = "AKSBOT_POD_PROXY"


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=WITHOUT_AZURE,
    clear_says="nothing that is unwell is refused by a service whose pods are Ready",
)
def service_pod_not_listening(ports: PodPorts | NotApplicable, calls: Calls | Unavailable) -> Iterator[Judgement]:
    """A service's pods are Ready, and nothing listens at the port that it sends to."""
    if isinstance(ports, NotApplicable):
        return
    refusing: dict[str, list[Asked]] = {}
    for asked in ports.asked:
        if asked.refuses:
            refusing.setdefault(asked.suspect.service.subject, []).append(asked)
        elif asked.refused_at:
            yield Unavailable(_whether(asked.suspect), Why.FAILED, f"another address refused: {asked.told}")
    yield from named(_finding(rows, ports, calls) for rows in refusing.values())
    yield from (_not_asked(suspect) for suspect in ports.not_asked[:1])


def _whether(suspect: Suspect) -> str:
    return f"whether pod {suspect.pod.namespace}/{suspect.pod.name} listens on {suspect.number}"


def _not_asked(suspect: Suspect) -> Unavailable:
    """What would tell, for somebody who may do it by hand."""
    caller = suspect.caller.partition("/")[2]
    why = f"{caller} is refused by service {suspect.service.name}, and {SETTING} does not name its namespace"
    detail = f"{why}; this tells: kubectl get --raw '{suspect.path}'"
    return Unavailable(_whether(suspect), Why.DENIED, detail, f"get pods/proxy (namespace {suspect.pod.namespace})")


def _finding(rows: list[Asked], ports: PodPorts, calls: Calls | Unavailable) -> Finding:
    first = rows[0].suspect
    service, pod = first.service, first.pod
    of_it = [asked for asked in ports.asked if asked.suspect.service.subject == service.subject]
    harmed = calls.harmed_by(service.subject)[1:] if isinstance(calls, Calls) else (first.caller,)
    return Finding(
        code=CODE,
        subject=service.subject,
        affects=tuple(dict.fromkeys((first.caller, *harmed, *(asked.suspect.pod.subject for asked in rows)))),
        because=(
            f"service {service.name} sends port {first.port.number} to port {first.number} of its Ready pods",
            f"{len(rows)} of {counted(len(of_it), 'pod')} that {'was' if len(of_it) == 1 else 'were'} asked: refused",
            *(f"API server about {asked.suspect.pod.name}: {asked.told}" for asked in rows),
            f"{first.caller.partition('/')[2]} says: {first.line}",
        ),
        facts={
            "namespace": pod.namespace,
            "service": service.name,
            "workload": pod.workload,
            "pod": pod.name,
            "port": first.number,
            "address": f"{pod.address}:{first.number}",
            "caller": first.caller,
            "refusing": len(rows),
            "asked": len(of_it),
        },
    )

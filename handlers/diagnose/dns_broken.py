"""Can the cluster's pods resolve names?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.dns_servers import asked_elsewhere
from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.system import SystemWorkload, SystemWorkloads
from handlers.evidence.workloads.log_families import Cause, Said, said
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.addresses import named_service, service_name
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, NotApplicable, Unavailable

CODE = "dns-broken"
COREDNS = "coredns"


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="nothing is wrong with CoreDNS, and no failing workload logs that a name does not resolve",
)
def dns_broken(
    cluster: ManagedCluster,
    system: SystemWorkloads | Unavailable | NotApplicable,
    tails: LogTails,
    services: Services | Unavailable,
    symptoms: Symptoms,
    calls: Calls | Unavailable,
) -> Iterator[Judgement]:
    """Names are not resolved: CoreDNS has no ready pod, or a workload asks another DNS server."""
    coredns = system.named(COREDNS) if isinstance(system, SystemWorkloads) else ()
    for workload in coredns:
        if not workload.ready:
            yield _no_coredns(workload, symptoms, tails)
    asking = list(_own_servers(cluster, tails, services, calls))
    yield from named(item for item in asking if isinstance(item, Finding))
    yield from (item for item in asking if isinstance(item, Unavailable))
    if isinstance(system, Unavailable):
        yield system


def _no_coredns(workload: SystemWorkload, symptoms: Symptoms, tails: LogTails) -> Finding:
    unresolved = [(tail, words) for tail in tails.tails if (words := said(tail.lines)) and words.cause is Cause.DNS]
    said_so = [f"{tail.owner.partition('/')[2]} says: {words.line}" for tail, words in unresolved[:2]]
    return Finding(
        code=CODE,
        subject=workload.owner,
        affects=(workload.owner, *(symptom.owner for symptom in symptoms.symptoms)),
        because=(f"CoreDNS has {workload.ready} of {workload.wanted} pods Ready: no pod resolves a name", *said_so),
        facts=_facts(workload.owner, "", "coredns", (), "") | {"wanted": workload.wanted, "ready": workload.ready},
    )


def _own_servers(
    cluster: ManagedCluster, tails: LogTails, services: Services | Unavailable, calls: Calls | Unavailable
) -> Iterator[Finding | Unavailable]:
    """A workload that cannot resolve a name of the cluster, and asks servers of its own."""
    for tail in tails.tails:
        words = said(tail.lines)
        if not tail.unwell or not words or words.cause is not Cause.DNS:
            continue
        if not _is_of_cluster(words.host, tail, services):
            continue
        elsewhere = asked_elsewhere(tail.pod.spec, cluster)
        if isinstance(elsewhere, Unavailable):
            yield elsewhere
        elif elsewhere:
            yield _asks_elsewhere(tail, words, elsewhere, calls)


def _is_of_cluster(host: str, tail: Tail, services: Services | Unavailable) -> bool:
    if isinstance(services, Unavailable):
        return service_name(host, tail.pod.namespace) is not None
    return named_service(host, tail.pod.namespace, services) is not None


def _asks_elsewhere(tail: Tail, words: Said, servers: str, calls: Calls | Unavailable) -> Finding:
    spec, workload = tail.pod.spec, tail.pod.workload
    return Finding(
        code=CODE,
        subject=tail.owner,
        affects=harmed(tail.owner, (tail.pod,), calls),
        because=(
            f"{workload} does not ask the cluster's DNS: dnsPolicy {spec.dns_policy}, it asks {servers}",
            f"its last lines: {words.line}",
        ),
        facts=_facts(tail.owner, tail.pod.name, spec.dns_policy, (servers,), words.host),
    )


def _facts(owner: str, pod: str, cause: str, servers: tuple[str, ...], host: str) -> dict[str, object]:
    return workload_facts(owner) | {"pod": pod, "cause": cause, "nameservers": list(servers), "host": host}

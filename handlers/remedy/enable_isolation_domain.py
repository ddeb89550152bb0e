"""Enable an isolation domain of a Nexus site."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.evidence.nexus.clusters import NexusCluster
from handlers.evidence.nexus.fabric import IsolationDomain, IsolationDomains
from handlers.evidence.nexus.locks import FabricLocks
from handlers.evidence.nexus.writer import FabricWriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import set_read_only
from handlers.remedy.titles import titled

ETA, LIMIT = timedelta(minutes=10), timedelta(minutes=60)
"""The fabric configures every switch of the site."""
ACTIONS = {
    "L2": "Microsoft.ManagedNetworkFabric/l2IsolationDomains/updateAdministrativeState/action",
    "L3": "Microsoft.ManagedNetworkFabric/l3IsolationDomains/updateAdministrativeState/action",
}


@remedy(codes=("isolation-domain-disabled",), writes=tuple(ACTIONS.values()))
def enable_isolation_domain(
    finding: Finding,
    cluster: NexusCluster,
    domains: IsolationDomains,
    locks: FabricLocks | Unavailable,
    may: FabricWriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Enable the isolation domain that a network of the cluster stands on."""
    domain = domains.named(finding.subject)
    if domain is None:
        yield Forbidden(f"{finding.facts['isolation_domain']} could not be seen", "check again")
        return
    yield from _in_the_way(domain, locks, may)
    above = f"--subscription {domain.id.split('/')[2]} --resource-group {domain.group}"
    command = f"az networkfabric {domain.layer.lower()}domain update-admin-state {above} --resource-name {domain.name}"
    yield Plan(
        remedy="enable-isolation-domain",
        title=titled("Enable isolation domain {}", domain.name),
        cluster=cluster.id,
        target=domain.id,
        steps=(
            Step(
                verb=Verb.ENABLE_ISOLATION_DOMAIN,
                target=domain.id,
                says=f"Enable {domain.in_words}",
                request=f"POST {domain.id}/updateAdministrativeState, state Enable",
                command=f"{command} --state Enable",
            ),
        ),
        before={"administrativeState": domain.administrative, "provisioningState": domain.state},
        undo=f"{command} --state Disable",
        verify=Verify("isolation-domain-disabled", finding.subject),
        risk=Risk.MEDIUM,
        could_go_wrong=(
            "someone may have disabled it on purpose: every network on it carries traffic again",
            "networks that failed meanwhile stay Failed: they must be deleted and made again",
        ),
        eta=ETA,
        limit=LIMIT,
        warnings=(*_doubts(locks), *([f"could not see {may}"] if isinstance(may, Unavailable) else [])),
        effect=f"{_capital(domain.in_words)} is enabled: every network on it carries traffic again",
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _doubts(locks: FabricLocks | Unavailable) -> list[str]:
    if isinstance(locks, Unavailable):
        return [f"could not see {locks}"]
    return [] if locks.complete else ["could not see all locks"]


def _in_the_way(
    domain: IsolationDomain, locks: FabricLocks | Unavailable, may: FabricWriterMay | Unavailable
) -> Iterator[Forbidden]:
    if domain.busy:
        yield Forbidden(f"{domain.in_words} is {domain.state}", "wait until that has ended, then check again")
    if domain.layer == "L3" and not domain.internal:
        yield Forbidden(f"{domain.in_words} shows no internal network", "add one first: see isolation-domain-missing")
    if isinstance(locks, FabricLocks):
        yield from set_read_only(domain.id, locks)
    action = ACTIONS[domain.layer]
    if isinstance(may, FabricWriterMay) and may.do(action, domain.id) is False:
        yield Forbidden(
            f"the writer may not do {action} on {domain.name}",
            f"grant {action} on {domain.id} to the writer's identity",
        )

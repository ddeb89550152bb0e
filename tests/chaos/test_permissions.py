"""Removes each declared permission in turn, and fails on declared permissions that are never used."""

from collections.abc import Collection

import pytest

from handlers.evidence.aso.groups import EVERY_KIND
from handlers.model import Diagnosis, Evidence, Outcome, Why
from sandbox.scenario import Scenario
from tests.checking import (
    GRAPH,
    azure,
    check,
    cluster_id,
    collectors_that,
    may_be_clear_without,
    needing,
    touched,
    wrongly_clear,
)

ACTIONS = sorted({action for collector in GRAPH.wanted for action in collector.reads})
ONE_OF_ITS_GROUPS = "list *.storage.azure.com"
"""Of the groups of Azure Service Operator, each of which is read alike, one stands for all."""
SIGHTS = sorted({sight for collector in GRAPH.wanted for sight in collector.sees} - {*EVERY_KIND} | {ONE_OF_ITS_GROUPS})
UNWELL = ("pod-unschedulable", "network-policy-blocking", "gateway-misroute")
"""For workload evidence: prod-eus2 has pods that are not running."""
OF_OTHER_ENGINES = {
    "list ciliumclusterwidenetworkpolicies.cilium.io",
    "list ciliumnetworkpolicies.cilium.io",
    "list globalnetworkpolicies.crd.projectcalico.org",
}
"""Policies of engines that prod-eus2 does not have."""
OF_WORKLOADS = sorted(
    {
        sight
        for collector in GRAPH.wanted
        if collector.makes.__module__.startswith(("handlers.evidence.workloads", "handlers.evidence.scheduling"))
        for sight in collector.sees
    }
    - OF_OTHER_ENGINES
)
PRIVATE = ("healthy-fleet", "payments-prod")
RANGED = ("api-server-unreachable-ip-ranges", "staging-neu")
NEVER_IN_HEALTH = {
    *(("api-server-unreachable-ip-ranges", kind) for kind in ("ApiServer", "Nodes")),
    ("hybrid-cluster-failed", "SiteActivityLog"),
}
"""Excused only in a question about one address (`from <ip>`), and only where something of the site has failed."""
MONITORED = ("unusual-references", "prod-weu")
ELSEWHERE = {
    "get configmaps:cluster-autoscaler-status in kube-system": ("healthy-fleet", "prod-weu"),
    ONE_OF_ITS_GROUPS: ("aso-creation-failed", "prod-eus2"),
    "list aksnodeclasses.karpenter.azure.com": ("unusual-nodes", "dev-shared"),
    "list nodeclaims.karpenter.sh": ("unusual-nodes", "dev-shared"),
    "list pods.metrics.k8s.io": ("memory-saturation", "prod-eus2"),
}
"""For evidence that prod-eus2 does not have: an autoscaled pool, node auto-provisioning, a node that is short
of memory."""
ON_SITE = {
    "handlers.evidence.arc": ("arc-bridge-offline-providers", "arc-bridge-hq"),
    "handlers.evidence.nexus": ("healthy-fleet", "edge-nexus-01"),
    "handlers.evidence.nexus.memory": ("hybrid-memory-saturation", "edge-aks-01"),
}
"""For evidence about resource bridges, Nexus sites, and what is inside the clusters there."""
USING_ALL = (
    *("arc-bridge-offline-providers", "hybrid-cluster-offline", "default-cni-prefix-overlap"),
    *("healthy-fleet", "quota-blocks-upgrade", "node-vm-failed-availability-set"),
    *("request-disallowed-by-policy", "unusual-references", "outbound-nat-gateway", "memory-saturation"),
)
"""Together, checks of these scenarios read every kind of evidence."""
FORBIDDEN = 403
NOT_A_COLLECTORS = {"Microsoft.ResourceGraph/resources/read"}


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_missing_permission_is_named_and_nothing_unseen_is_clear(action: str) -> None:
    world = Scenario.load("healthy-fleet").world
    for name in ("prod-eus2", "dev-shared"):
        async with azure(world) as server:
            server.deny("reader", action)
            diagnosis = await check(server, name)
            asked = any(request.action == action for request in server.log)
        if asked:
            assert action in {one.grant for one in diagnosis.unseen}
        judge(diagnosis, lost_without(action) if asked else frozenset())


@pytest.mark.parametrize("sight", SIGHTS)
async def test_a_missing_right_in_the_cluster_is_named_and_nothing_unseen_is_clear(sight: str) -> None:
    scenario, name = ELSEWHERE.get(sight, ("healthy-fleet", "prod-eus2"))
    world = Scenario.load(scenario).world
    async with azure(world) as server:
        inside = server.kube[cluster_id(world, name).key]
        inside.deny("reader", *of_one_group(sight))
        diagnosis = await check(server, name)
        refused = any(request.status == FORBIDDEN for request in inside.log)
    # Requests made only for unhealthy resources are not made here, so they lose nothing.
    lost = denied(diagnosis) & frozenset(collectors_that(lambda collector: sight in collector.sees))
    assert bool(lost) == refused
    judge(diagnosis, lost, {one.code for one in Scenario.load(scenario).expect[name]})


@pytest.mark.parametrize("sight", OF_WORKLOADS)
async def test_where_something_is_unwell_what_is_refused_is_named_and_nothing_unseen_is_clear(sight: str) -> None:
    refused = []
    for scenario in UNWELL:
        world = Scenario.load(scenario).world
        async with azure(world) as server:
            inside = server.kube[cluster_id(world, "prod-eus2").key]
            inside.deny("reader", *of_one_group(sight))
            diagnosis = await check(server, "prod-eus2")
            refused.append(any(request.status == FORBIDDEN for request in inside.log))
        lost = denied(diagnosis) & frozenset(collectors_that(lambda collector: sight in collector.sees))
        assert bool(lost) == refused[-1], scenario
        assert wrongly_clear(diagnosis, lost, in_health=False) == {}, scenario
        assert Outcome.CRASHED not in {one.outcome for one in diagnosis.checks}
    assert any(refused), "no scenario asks for it: add one"


async def test_nothing_is_excused_that_need_not_be() -> None:
    """Diagnostics may be clear without exactly the kinds they declare, and no others."""
    clear: set[tuple[str, str]] = set()
    asked: set[str] = set()
    for wanted in GRAPH.wanted:
        if not wanted.reads and not wanted.sees:
            continue
        looked = touched({wanted.makes})
        places = [
            *places_on_site(wanted.fetch.__module__),
            next((ELSEWHERE[sight] for sight in wanted.sees if sight in ELSEWHERE), ("healthy-fleet", "prod-eus2")),
            *([PRIVATE] if {"private-cluster-unreachable", "private-dns-zone"} & looked else []),
            *([RANGED] if "api-server-unreachable-ip-ranges" in looked else []),
            *([MONITORED] if "log-analytics-workspace-missing" in looked else []),
        ]
        for scenario, name in places:
            world = Scenario.load(scenario).world
            async with azure(world) as server:
                for action in wanted.reads if not wanted.sees else ():
                    server.deny("reader", action)
                for sight in wanted.sees:
                    server.kube[cluster_id(world, name).key].deny("reader", *of_one_group(sight))
                diagnosis = await check(server, name)
                refused = any(one.status == FORBIDDEN for one in server.log)
            if not (wanted.makes in denied(diagnosis) if wanted.sees else refused):
                continue
            asked.add(wanted.name)
            clear |= {
                (one.id, wanted.name) for one in diagnosis.checks if one.id in looked and one.outcome is Outcome.CLEAR
            }
    excused = {
        (one.id, kind.__name__)
        for one in GRAPH.diagnostics
        for kind in may_be_clear_without(one.id, in_health=True)
        if kind.__name__ in asked
    } - NEVER_IN_HEALTH
    assert excused == clear
    assert all(one.clear_without.because for one in GRAPH.diagnostics if one.clear_without)


async def test_what_is_declared_is_used_and_what_is_used_is_declared() -> None:
    used = set()
    for scenario in USING_ALL:
        world = Scenario.load(scenario).world
        names = [body["name"] for key, body in world.resources.items() if is_cluster(key)]
        async with azure(world) as server:
            for name in names:
                await check(server, name)
            used |= {request.action for request in server.log if request.principal == "reader" and request.action}
    assert used - NOT_A_COLLECTORS == set(ACTIONS)


async def test_nobody_sees_nothing_and_is_told_what_to_grant() -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        for action in ACTIONS:
            server.deny("reader", action)
        diagnosis = await check(server, "prod-weu")
    assert {one.outcome for one in diagnosis.checks} <= {Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE}
    beside = [one for one in diagnosis.checks if one.outcome is Outcome.NOT_APPLICABLE]
    assert all("prod-weu is an AKS cluster" in one.why for one in beside)
    assert "Microsoft.ContainerService/managedClusters/read" in {one.grant for one in diagnosis.unseen}


def places_on_site(module: str) -> list[tuple[str, str]]:
    """The one that says most of a module."""
    fitting = [above for above in ON_SITE if module.startswith(above)]
    return [ON_SITE[above] for above in sorted(fitting, key=len)[-1:]]


def lost_without(action: str) -> frozenset[type[Evidence]]:
    """Without the cluster's credential, all evidence from inside it is lost."""
    if action.lower().endswith("listclusterusercredential/action"):
        return frozenset(collectors_that(lambda collector: bool(set(collector.sees) - set(ELSEWHERE))))
    return frozenset(collectors_that(lambda collector: action in collector.reads))


def judge(diagnosis: Diagnosis, lost: frozenset[type[Evidence]], expected: Collection[str] = ()) -> None:
    assert wrongly_clear(diagnosis, lost, in_health=True) == {}
    outcomes = {one.id: one.outcome for one in diagnosis.checks}
    assert not [one for one in needing(set(lost)) if outcomes[one] is Outcome.CLEAR]
    assert Outcome.CRASHED not in outcomes.values()
    assert {one.finding.code for one in diagnosis.findings} == set(expected)


def denied(diagnosis: Diagnosis) -> frozenset[type[Evidence]]:
    """What the check reports as forbidden."""
    titles = {one.wanted for one in diagnosis.unseen if one.why is Why.DENIED}
    return frozenset(collectors_that(lambda collector: collector.title in titles))


def of_one_group(sight: str) -> tuple[str, str]:
    """The pattern for the sandbox's `deny`: `list pods.metrics.k8s.io` leaves the pods themselves."""
    verb, resource = sight.split(" ")[:2]
    return verb, resource.partition(":")[0]


def verb_and_resource(sight: str) -> tuple[str, str]:
    """`get configmaps:its-name in kube-system`, `list nodeclaims.karpenter.sh`: the verb and the bare resource."""
    verb, resource = sight.split(" ")[:2]
    return verb, resource.partition(":")[0].partition(".")[0]


def is_cluster(key: str) -> bool:
    kinds = ("managedclusters", "kubernetesclusters", "appliances", "connectedclusters")
    return key.count("/") == 8 and key.split("/")[7] in kinds

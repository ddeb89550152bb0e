"""Which finding is the root where several of the document's problems are there at once.

What names the blocking object is the root: a rule, a policy, a lock, a quota, a subnet, a budget or a zone stands above
the way out that is lost, that above the script that failed, that above the node and the pool, those above the cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import combinations

import pytest

from handlers.model import Diagnosis, Outcome
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NODE_GROUP_ID, at, event, pool_id, usage
from tests.handlers.diagnose.test_allocation_failed import full as without_machines
from tests.handlers.diagnose.test_cse_error import script
from tests.handlers.diagnose.test_drains import failed as not_drained
from tests.handlers.diagnose.test_memory_saturation import short as short_of_memory
from tests.handlers.diagnose.test_node_vm_failed import CSE, fail
from tests.handlers.diagnose.test_outbound_conn_fail import DENY, EXIT_50, own_network
from tests.handlers.diagnose.test_private_dns_zone import NO_NAME, linked, private
from tests.handlers.diagnose.test_request_disallowed_by_policy import of_pool as denied_by_policy
from tests.handlers.diagnose.test_subnet_full import NAMED as SUBNET_IS_FULL
from tests.handlers.diagnose.test_subnet_full import flat
from tests.handlers.diagnose.test_vnet_blocked import public, with_servers
from tests.handlers.diagnose.wire import LIBRARY, Azure, diagnosed

AN_HOUR = timedelta(hours=1)


def failed(code: str, message: str, **pool: object) -> Azure:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed", **pool)  # type: ignore[arg-type]
    azure.pools["apps"]["status"] = {"provisioningError": {"code": code, "message": message}}
    return azure


def rule() -> Azure:
    azure = own_network(EXIT_50)
    azure.rules = [DENY]
    fail(azure, 2, CSE)
    return azure


def lock() -> Azure:
    azure = failed("ScopeLocked", "The scope(s) are locked. Please remove the lock and try again.")
    azure.lock(NODE_GROUP_ID)["systemData"] = {"createdAt": at(timedelta(days=1))}
    return azure


def quota() -> Azure:
    azure = failed("QuotaExceeded", "it exceeds approved standardDSv5Family cores quota", count=5, machines=3)
    azure.usages[2] = usage("standardDSv5Family", 98, 100)
    return azure


def subnet() -> Azure:
    return flat("10.1.0.0/24", 5 * 31, count=8, machines=5, provisioningState="Failed", status=SUBNET_IS_FULL)


def zone() -> Azure:
    """The zone of a private cluster is linked to no network: its nodes find no API server."""
    azure = private(NO_NAME)
    linked(azure)
    fail(azure, 2, script(52))
    return azure


def name_servers() -> Azure:
    azure = with_servers(public(NO_NAME), "10.0.9.4")
    fail(azure, 2, script(52))
    return azure


def only_the_script() -> Azure:
    azure = failed("VMExtensionProvisioningError", script(31))
    fail(azure, 2, script(31))
    return azure


def memory() -> Azure:
    azure = short_of_memory()
    ready = azure.nodes["node-0"]["status"]["conditions"][0]
    ready |= {"status": "False", "message": "PLEG is not healthy", "lastTransitionTime": at(timedelta(minutes=5))}
    return azure


_SCRIPT = ("node-vm-failed", "node-not-ready")
_FAILED = ("nodepool-failed", "cluster-failed")
SCENES: dict[Callable[[], Azure], tuple[str, ...]] = {
    rule: ("outbound-conn-fail", *_SCRIPT, *_FAILED),
    denied_by_policy: ("request-disallowed-by-policy", *_FAILED),
    lock: ("resource-lock", *_FAILED),
    quota: ("quota-exceeded", *_FAILED),
    subnet: ("subnet-full", *_FAILED),
    not_drained: ("pdb-blocks-drain", "drain-error", *_FAILED),
    zone: ("private-dns-zone", "cse-error", *_SCRIPT, *_FAILED),
    without_machines: ("allocation-failed", *_FAILED),
    name_servers: ("vnet-blocked", "cse-error", *_SCRIPT, *_FAILED),
    only_the_script: ("cse-error", *_SCRIPT, *_FAILED),
    memory: ("memory-saturation", "node-not-ready"),
}
"""What is broken, with the resulting findings: the root first, each of the others explained by those before it."""
SIDE_BY_SIDE = {"node-vm-failed", "node-not-ready", "nodepool-failed"}
"""Codes with separate subjects, which the document does not order."""
ORDER = {
    "outbound-conn-fail": {"cse-error"},
    "vnet-blocked": {"cse-error"},
    "private-dns-zone": {"outbound-conn-fail", "vnet-blocked", "cse-error"},
    "cse-error": {"node-not-ready", "nodepool-failed"},
    "node-not-ready": {"nodepool-failed"},
    "node-vm-failed": {"node-not-ready", "nodepool-failed"},
    "nodepool-failed": {"cluster-failed"},
    "pdb-blocks-drain": {"drain-error", "nodepool-failed"},
    "drain-error": {"nodepool-failed"},
    "kube-proxy-broken": {"kube-system-not-running"},
    "cni-or-route-broken": {"kube-system-not-running"},
    "memory-saturation": {"node-not-ready"},
    "subnet-full": {"pod-ip-exhaustion", "nodepool-failed"},
    "overconstrained-allocation": {"allocation-failed"},
} | {
    blocker: {"nodepool-failed"}
    for blocker in (
        *("request-disallowed-by-policy", "resource-lock", "quota-exceeded", "allocation-failed"),
        *("public-ip-count-limit", "log-analytics-workspace-missing", "invalid-resource-reference"),
        *("subscription-not-registered", "read-only-disabled-subscription"),
    )
}
"""Which code is directly above which."""


def whole(scene: Callable[[], Azure]) -> Azure:
    """The cluster failed with its pool, by the same operation; a machine that failed has a node that is not Ready."""
    azure = scene()
    if not azure.nodes:
        for number, machine in enumerate(azure.machines["apps"]):
            broken = machine["properties"]["provisioningState"] == "Failed"
            (azure.not_ready if broken else azure.node)(f"node-{number}", machine=number)
    status = azure.pools["apps"].get("status")
    if status:
        azure.cluster |= {"provisioningState": "Failed", "status": status}
        azure.events[GROUP] += [event(CLUSTER, "Failed", AN_HOUR), event(pool_id("apps"), "Failed", AN_HOUR)]
    return azure


def above(diagnosis: Diagnosis, code: str) -> set[str]:
    """Every code that explains one, directly or through others."""
    found: set[str] = set()
    waiting = [code]
    while waiting:
        name = waiting.pop()
        causes = {cause for one in diagnosis.findings if one.finding.code == name for cause, _ in one.explained_by}
        waiting += causes - found
        found |= causes
    return found


@pytest.mark.parametrize(
    ("cause", "effect"), [(cause, effect) for cause, below in ORDER.items() for effect in sorted(below)]
)
def test_the_runbooks_hold_the_order_and_never_the_other_way_round(cause: str, effect: str) -> None:
    assert effect in LIBRARY.explains[cause]
    assert cause not in LIBRARY.explains[effect]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: SCENES[scene][0])
async def test_one_diagnosis_has_one_root_and_it_names_the_blocker(scene: Callable[[], Azure]) -> None:
    diagnosis = await diagnosed(whole(scene))
    assert [one.finding.code for one in diagnosis.findings if one.root] == [SCENES[scene][0]]
    found = {one.finding.code for one in diagnosis.findings}
    assert found >= set(SCENES[scene])
    for cause, effect in combinations(SCENES[scene], 2):
        if {cause, effect} <= SIDE_BY_SIDE:
            continue
        if effect == "cluster-failed" and cause in ("node-vm-failed", "node-not-ready"):
            continue  # the machines that failed are no cause of what the operation met
        assert cause in above(diagnosis, effect), f"{cause} does not stand above {effect}"
        assert effect not in above(diagnosis, cause)


@pytest.mark.parametrize(
    ("scene", "message"), [(rule, CSE), (zone, script(52)), (name_servers, script(52))], ids=["rule", "zone", "servers"]
)
async def test_so_it_is_where_several_machines_of_a_pool_fail_that_is_not_failed_itself(
    scene: Callable[[], Azure], message: str
) -> None:
    """The autoscaler added them: no operation of a pool failed, and what several machines share is told of the pool."""

    def scaled() -> Azure:
        azure = scene()
        fail(azure, 1, message)
        del azure.pools["apps"]["status"]
        azure.pools["apps"]["provisioningState"] = "Succeeded"
        return azure

    diagnosis = await diagnosed(whole(scaled))
    assert [one.finding.code for one in diagnosis.findings if one.root] == [SCENES[scene][0]]
    machines = next(one for one in diagnosis.findings if one.finding.code == "node-vm-failed")
    assert machines.finding.subject == pool_id("apps")


async def test_a_zone_that_is_right_leaves_the_script_as_the_root() -> None:
    """The same exit code, and only the link of the zone is another."""
    azure = private(NO_NAME)
    fail(azure, 2, script(52))
    diagnosis = await diagnosed(whole(lambda: azure))
    assert [one.finding.code for one in diagnosis.findings if one.root] == ["cse-error"]


@pytest.mark.parametrize(
    "scene", [one for one in SCENES if one not in (memory, not_drained)], ids=lambda scene: SCENES[scene][0]
)
async def test_without_the_blockers_evidence_azures_own_error_stays_the_root(scene: Callable[[], Azure]) -> None:
    """Everything that could prove the blocker is refused: the failure is told with the error, never as clear."""
    azure = whole(scene)
    azure.denied = {"/Microsoft.Authorization/", "/usages", "/skus", "/Microsoft.Network/", "/virtualMachines"}
    diagnosis = await diagnosed(azure)
    failure = next(one.finding for one in diagnosis.findings if one.finding.code == "nodepool-failed")
    assert failure.facts["message"]
    checks = {check.id: check.outcome for check in diagnosis.checks}
    assert checks[SCENES[scene][0]] in (Outcome.FOUND, Outcome.INCONCLUSIVE)

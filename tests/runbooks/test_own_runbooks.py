"""The package's own runbooks, filled in with the facts of real findings: what a person would copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest

from handlers.model import Finding
from runbooks.library import CHECK, FIX, MEANING, NOT_THIS, SECTIONS, Library
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, SUB, SUBNET, VNET, event, pool_id, usage
from tests.handlers.diagnose.wire import Azure, found

LIBRARY = Library.load()
PODS = f"{VNET}/subnets/pods"
AZ = re.compile(r"(?:^|[}(])(az [a-z][^|)]*)")


def az_lines() -> Iterator[tuple[str, str]]:
    """Every line of az in a fenced block, as it is written."""
    for code, runbook in LIBRARY.items():
        for section in SECTIONS:
            for number, block in enumerate(runbook.sections[section].split("```")):
                if number % 2:
                    yield from ((code, one[1]) for line in block.split("\n") for one in AZ.finditer(line))


def text(finding: Finding, section: str) -> str:
    return LIBRARY[finding.code].render(section, finding.facts)


def command(finding: Finding, section: str, begins: str) -> str:
    lines = [line for line in text(finding, section).split("\n") if line.startswith(begins)]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize(("code", "line"), list(az_lines()))
def test_every_az_line_says_which_subscription_it_means(code: str, line: str) -> None:
    """A person on call is signed in to many; the default one is rarely the cluster's."""
    assert "--subscription " in line or "--ids " in line, code
    if "activity-log list" in line:
        assert "--offset 14d" in line  # az looks back six hours by itself
    if "policy assignment list" in line:
        assert "--disable-scope-strict-match" in line  # else those of the subscription are left out


def in_progress(subject: str) -> Azure:
    azure = Azure()
    azure.pool("apps", count=3)
    body = azure.cluster if subject == CLUSTER else azure.pools["apps"]
    body["provisioningState"] = "Upgrading"
    azure.events[GROUP] = [event(subject, "Started", timedelta(hours=9), correlation="now")]
    return azure


async def test_a_cluster_that_is_busy_for_long_is_aborted_as_a_cluster() -> None:
    finding = await found("provisioning-in-progress", in_progress(CLUSTER))
    assert text(finding, MEANING).startswith("`one` is Upgrading since")
    abort = f"az aks operation-abort --subscription {SUB} --resource-group rg-one --name one"
    assert command(finding, FIX, "az ") == abort
    assert "kubectl get nodes\nkubectl get pdb" in text(finding, FIX)


async def test_a_pool_that_is_busy_for_long_is_named_and_aborted_as_a_pool() -> None:
    finding = await found("provisioning-in-progress", in_progress(pool_id("apps")))
    assert text(finding, MEANING).startswith("Pool `apps` of `one` is Upgrading since")
    abort = "az aks nodepool operation-abort"
    wanted = f"{abort} --subscription {SUB} --resource-group rg-one --cluster-name one --name apps"
    assert command(finding, FIX, "az ") == wanted
    assert "kubectl get nodes --selector agentpool=apps\nkubectl get pdb" in text(finding, FIX)
    assert "leaves pool `apps` Canceled" in text(finding, FIX)


def full(**pool: object) -> Azure:
    azure = Azure()
    azure.cluster["networkProfile"] = {"networkPlugin": "azure"}
    azure.subnet("10.1.0.0/25", 3 * 31)
    azure.pool("apps", vnetSubnetID=SUBNET, **pool)  # type: ignore[arg-type]
    return azure


async def test_the_pool_in_the_larger_subnet_is_like_the_one_it_replaces() -> None:
    azure = full(osType="Windows", availabilityZones=["1", "2"], maxPods=50, scaleSetPriority="Spot", machines=2)
    azure.pools["apps"]["vmSize"] = "Standard_E4s_v5"
    add = command(await found("subnet-full", azure), FIX, "az aks nodepool add")
    for option in (
        "--mode User",
        "--os-type Windows",
        "--max-pods 50",
        "--zones 1 2",
        "--node-vm-size Standard_E4s_v5",
        "--priority Spot",
        f"--vnet-subnet-id {SUBNET}-large",
    ):
        assert option in add
    assert "--pod-subnet-id" not in add


async def test_the_new_subnet_keeps_its_ways_out_and_the_check_counts_what_is_not_there() -> None:
    finding = await found("subnet-full", full())
    create = command(finding, FIX, "az network vnet subnet create")
    assert "--route-table" in create
    assert "--network-security-group" in create
    assert "routes: routeTable.id" in command(finding, FIX, "az network vnet subnet show")
    check = command(finding, CHECK, "az network vnet subnet show")
    assert f"--ids {SUBNET}" in check
    assert "length(ipConfigurations || `[]`)" in check


async def test_a_full_pod_subnet_is_told_and_fixed_as_one() -> None:
    azure = full()
    azure.subnet("10.1.0.0/24", 3)
    azure.subnet("10.2.0.0/26", 48, PODS)
    azure.pools["apps"]["podSubnetID"] = PODS
    finding = await found("subnet-full", azure)
    assert "takes 16 addresses at once from it for its pods" in text(finding, MEANING)
    assert f"--vnet-subnet-id {SUBNET} --pod-subnet-id {PODS}-large" in command(finding, FIX, "az aks nodepool add")
    assert "pod subnet: then" not in text(finding, NOT_THIS)


async def test_a_pool_with_a_pod_subnet_keeps_it_when_its_nodes_move() -> None:
    azure = full()
    azure.subnet("10.1.0.0/28", 11)
    azure.subnet("10.2.0.0/20", 48, PODS)
    azure.pools["apps"]["podSubnetID"] = PODS
    add = command(await found("subnet-full", azure), FIX, "az aks nodepool add")
    assert f"--vnet-subnet-id {SUBNET}-large --pod-subnet-id {PODS}" in add


async def test_a_subnet_of_the_api_server_gets_steps_of_its_own() -> None:
    azure, own = Azure(), f"{VNET}/subnets/api"
    azure.pool()
    azure.cluster["apiServerAccessProfile"] = {"enableVnetIntegration": True, "subnetId": own}
    azure.subnet("10.5.0.0/28", 11, own)
    finding = await found("subnet-full", azure)
    assert "the API server in it wants 1 more to scale" in text(finding, MEANING)
    assert "nodepool add" not in text(finding, FIX)
    assert f"--ids {own}" in command(finding, FIX, "az network vnet subnet show")


async def test_a_subnet_of_node_auto_provisioning_is_changed_in_its_node_class() -> None:
    azure, own = full(), f"{VNET}/subnets/karpenter"
    azure.subnet("10.1.0.0/22", 3)
    azure.subnet("10.4.0.0/27", 27, own)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.node_classes = [{"metadata": {"name": "default"}, "spec": {"vnetSubnetID": own}}]
    finding = await found("subnet-full", azure)
    assert "the next node of AKSNodeClass default wants 31." in text(finding, MEANING)
    assert "kubectl patch aksnodeclass" in text(finding, FIX)
    assert "nodepool" not in text(finding, FIX)


async def test_cores_for_node_auto_provisioning_need_no_reconcile() -> None:
    azure = Azure()
    azure.pool("system", count=1, mode="System")
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.usages[0] = usage("cores", 300, 300)
    waits = {
        "type": "Launched",
        "status": "Unknown",
        "reason": "RegionalQuotaReached",
        "message": "regional vCPU quota",
    }
    azure.claims = [{"metadata": {"name": "default-x7k2p"}, "spec": {}, "status": {"conditions": [waits]}}]
    finding = await found("quota-exceeded", azure)
    assert "Node auto-provisioning (NodeClaim default-x7k2p) wants 1 more" in text(finding, MEANING)
    assert "node auto-provisioning tries again by itself" in text(finding, FIX)
    assert "az resource update" not in text(finding, FIX)


SURGE = "--max-surge 0 --max-unavailable 1"


async def test_doing_without_surge_is_advised_for_each_user_pool_whose_surge_has_no_room() -> None:
    azure = full()
    azure.pool("more", vnetSubnetID=SUBNET)
    azure.pool("sys", vnetSubnetID=SUBNET, mode="System")
    lines = [line for line in text(await found("subnet-full", azure), FIX).split("\n") if SURGE in line]
    assert [line.split("--name ")[1].split()[0] for line in lines] == ["apps", "more"]


async def test_doing_without_surge_is_no_advice_where_nodes_are_missing() -> None:
    azure = full(count=8, machines=3, provisioningState="Failed")
    finding = await found("subnet-full", azure)
    assert finding.facts["blocked"]
    assert SURGE not in text(finding, FIX)


def short_of_cores(machines: int) -> Azure:
    azure = Azure()
    azure.usages = [usage("cores", 100, 300), usage("standardDSv5Family", 100, 100)]
    for name in ("apps", "more"):
        azure.pool(name, machines=machines, provisioningState="Failed")
        azure.pools[name]["status"] = {"provisioningError": {"code": "QuotaExceeded", "message": "cores quota"}}
    return azure


async def test_every_pool_that_was_refused_cores_gets_its_own_lines() -> None:
    finding = await found("quota-exceeded", short_of_cores(3))
    lines = text(finding, FIX).split("\n")
    surge = [line.split("--name ")[1].split()[0] for line in lines if SURGE in line]
    reconciled = [line for line in lines if line.startswith("az resource update")]
    assert surge == ["apps", "more"]
    assert reconciled == [f"az resource update --ids {pool_id(name)}" for name in ("apps", "more")]
    assert "Pools apps, more want" in text(finding, MEANING)


async def test_cores_for_missing_nodes_are_not_saved_by_doing_without_surge() -> None:
    assert SURGE not in text(await found("quota-exceeded", short_of_cores(2)), FIX)


async def test_a_failed_pool_is_looked_at_with_the_rules_and_locks_of_the_subscription() -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed")
    finding = await found("nodepool-failed", azure)
    assert "--resource-group" not in command(finding, CHECK, "az lock list")
    assert "--disable-scope-strict-match" in command(finding, CHECK, "az policy assignment list")
    assert "the first step is only its state" in text(finding, FIX)


@pytest.mark.parametrize("code", ["cluster-failed", "resource-lock"])
async def test_the_facts_of_a_finding_fill_in_all_of_its_runbook(code: str) -> None:
    azure = Azure()
    azure.pool()
    azure.cluster["provisioningState"] = "Failed"
    azure.lock(f"/subscriptions/{SUB}/resourceGroups/MC_rg-one_one_westeurope", "ReadOnly")
    finding = await found(code, azure)
    for section in SECTIONS:
        assert text(finding, section)

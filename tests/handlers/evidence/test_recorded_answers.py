"""The collectors on what live Azure answered: nothing they use is lost, failures are recognised, nothing breaks."""

from datetime import UTC, datetime
from typing import Any

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import Collector
from handlers.evidence import azure, compute, governance, monitor, network, public_addresses
from handlers.evidence.errors import innermost
from handlers.model import CannotSee, Evidence, Target, Why
from handlers.resource_id import ResourceId
from tests import recorded
from tests.transports import Answers

pytestmark = recorded.needed

NOW = datetime(2026, 11, 18, 3, 7, tzinfo=UTC)
SUB = "/subscriptions/5a1c0000-0000-4000-8000-000000000001"
CLUSTER = f"{SUB}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/one"
TARGET = Target(ResourceId.parse(CLUSTER), NOW)


async def collected(collector: Collector, body: Any, *given: Evidence, status: int = 200) -> Any:
    """What a collector makes of one answer."""
    async with ArmReader(AzureAccess(), transport=Answers(lambda _: (status, body), NOW)) as arm:
        clients = {Target: TARGET, ArmReader: arm} | {type(one): one for one in given}
        return await collector.fetch(**{need.name: clients[need.kind] for need in collector.needs})


def cluster() -> azure.ManagedCluster:
    return azure.ManagedCluster(
        source="",
        taken_at=NOW,
        id=CLUSTER,
        name="one",
        location="westus",
        state="Succeeded",
        power="Running",
        version="1.33",
        current_version="1.33.6",
        node_group="mc",
        error=None,
        identities=("0c",),
        network={},
    )


def no_pools() -> azure.AgentPools:
    return azure.AgentPools(source="", taken_at=NOW, pools=())


def rows(body: Any) -> Any:
    return body if "value" in body else {"value": [body]}


@pytest.mark.parametrize("name", recorded.names("managedcluster__get-", status=200))
async def test_a_cluster_keeps_what_is_used_of_it(name: str) -> None:
    body = recorded.body(name)
    if "properties" not in body:
        pytest.skip("a fragment")
    one = await collected(azure.managed_cluster, body)
    properties = body["properties"]
    assert (one.id, one.name, one.location) == (body["id"], body["name"], body["location"])
    assert one.state == properties["provisioningState"]
    assert one.node_group == properties["nodeResourceGroup"]
    assert one.power == properties.get("powerState", {}).get("code", "")
    assert one.network == properties["networkProfile"]
    assert one.failed == (properties["provisioningState"] in ("Failed", "Canceled"))
    kubelet = properties.get("identityProfile", {}).get("kubeletidentity", {}).get("objectId")
    assert kubelet is None or kubelet in one.identities
    profile = await collected(azure.network_profile, {}, one)
    assert profile.plugin == properties["networkProfile"]["networkPlugin"]


@pytest.mark.parametrize("name", recorded.names("managedcluster__get-", status=200))
async def test_the_pools_inside_a_cluster_are_read_like_pools(name: str) -> None:
    for profile in recorded.body(name).get("properties", {}).get("agentPoolProfiles") or []:
        pool = azure.read_pool({"id": "/x", "name": profile["name"], "properties": profile})
        assert (pool.count, pool.vm_size, pool.max_pods) == (profile["count"], profile["vmSize"], profile["maxPods"])
        assert pool.state == profile["provisioningState"]


@pytest.mark.parametrize("name", recorded.names("agentpool__get-", status=200))
async def test_a_pool_keeps_what_is_used_of_it(name: str) -> None:
    listed = rows(recorded.body(name))
    pools = await collected(azure.agent_pools, listed)
    (pool, *_), body = pools.pools, listed["value"][0]
    properties = body["properties"]
    assert len(pools.pools) == len(listed["value"])
    assert (pool.id, pool.count, pool.version) == (body["id"], properties["count"], properties["orchestratorVersion"])
    assert pool.state == properties["provisioningState"]
    assert pool.busy == (properties["provisioningState"] not in ("Succeeded", "Failed", "Canceled"))
    assert pool.max_surge == properties.get("upgradeSettings", {}).get("maxSurge", "")
    assert not pool.upgrading or properties["currentOrchestratorVersion"] != properties["orchestratorVersion"]


async def test_an_empty_last_page_of_pools_is_an_empty_list() -> None:
    assert (await collected(azure.agent_pools, recorded.body("agentpool__list-empty-last-page"))).pools == ()


async def test_scale_sets_and_their_instances_are_read() -> None:
    body = recorded.body("vmss__list-aks-nodepool")
    pools = await collected(azure.agent_pools, rows(recorded.body("agentpool__get-succeeded-2026")))
    sets = await collected(compute.scale_sets, body, cluster(), pools)
    assert [(one.id, one.capacity) for one in sets.sets] == [
        (one["id"], one["sku"]["capacity"]) for one in body["value"]
    ]
    assert sets.sets[0].pool == body["value"][0]["tags"]["aks-managed-poolName"]
    for name in ("vmss__virtualmachines-list-aks", "vmss__vms-list-expand-instanceview"):
        listed = recorded.body(name)["value"]
        machines = [compute.read_instance(one, sets.sets[0]) for one in listed]
        assert [one.instance_id for one in machines] == [one["instanceId"] for one in listed]
        assert [one.state for one in machines] == [one["properties"]["provisioningState"] for one in listed]
        assert [one.latest_model for one in machines] == [one["properties"]["latestModelApplied"] for one in listed]


async def test_a_machine_whose_extension_failed_says_so() -> None:
    body = recorded.body("manual__vmss-instanceview-failed-extension")
    view = (
        body if "statuses" in body or "extensions" in body else body.get("properties", body).get("instanceView", body)
    )
    machine = {"id": "/vm/0", "name": "0", "properties": {"provisioningState": "Failed", "instanceView": view}}
    assert compute.read_instance(machine, None).errors


@pytest.mark.parametrize("name", recorded.names("vm__get-"))
async def test_a_single_machine_is_read(name: str) -> None:
    body = recorded.body(name)
    assert compute.read_instance(body, None).state == body["properties"]["provisioningState"]


async def test_quotas_keep_every_row() -> None:
    body = recorded.body("usages__compute")
    usages = await collected(compute.compute_usages, body, cluster())
    assert [(one.name, one.used, one.limit) for one in usages.usages] == [
        (row["name"]["value"], row["currentValue"], row["limit"]) for row in body["value"]
    ]


async def test_network_quotas_keep_the_rows_of_public_addresses() -> None:
    usages = await collected(public_addresses.network_usages, recorded.body("usages__network"), cluster())
    rows = [usages.row(name) for name in ("PublicIPAddresses", "StandardSkuPublicIpAddresses")]
    assert [(one.used, one.limit) for one in rows] == [(2, 1000), (0, 1000)]


def test_an_address_of_a_service_is_kubernetes_own_also_when_nothing_uses_it() -> None:
    found = [public_addresses.read_address(one) for one in recorded.body("publicip__aks-kubernetes")["value"]]
    assert [one.attached for one in found] == [True] * 5 + [False]
    assert all(one.of_kubernetes and one.address and not one.standard for one in found)


@pytest.mark.parametrize("name", recorded.names("subnet__get-"))
async def test_a_subnet_keeps_its_size_and_what_is_used_of_it(name: str) -> None:
    body = recorded.body(name)
    one = network.read_subnet(body, 3)
    assert one.id == body["id"]
    assert one.size > one.usable > 0


async def test_locks_keep_their_scope_also_below_a_resource() -> None:
    body = recorded.body("locks__list-subscription")
    found = await collected(governance.locks, body, cluster(), no_pools())
    assert [(one.id, one.level) for one in found.locks] == [
        (row["id"], row["properties"]["level"]) for row in body["value"]
    ]
    assert all(one.id.startswith(one.scope + "/providers/") for one in found.locks)


@pytest.mark.parametrize("name", recorded.names("policyassignment__"))
async def test_policy_assignments_are_read(name: str) -> None:
    body = rows(recorded.body(name))
    found = await collected(governance.policies, body, cluster())
    assert {one.id for one in found.assignments} == {row["id"] for row in body["value"]}


async def test_policy_states_role_assignments_and_diagnostic_settings_are_read() -> None:
    states = recorded.body("policystates__queryresults")
    pool = recorded.body("agentpool__get-succeeded-2026")
    failed = rows(pool | {"properties": pool["properties"] | {"provisioningState": "Failed"}})
    pools = await collected(azure.agent_pools, failed)
    found = await collected(governance.policy_states, states, cluster(), pools)
    assert len(found.broken) == len(states["value"])
    role = recorded.body("roleassignment__get")
    (read,) = (await collected(governance.role_assignments, rows(role), cluster(), no_pools())).roles
    assert (read.principal, read.scope) == (role["properties"]["principalId"], role["properties"]["scope"])
    settings = recorded.body("diagnosticsettings__list")
    read_settings = await collected(monitor.diagnostic_settings, settings, cluster())
    assert [one.id for one in read_settings.settings] == [row["id"] for row in settings["value"]]
    assert all(one.to for one in read_settings.settings)


async def test_the_activity_log_keeps_every_event_once() -> None:
    body = {"value": recorded.body("activitylog__list-6-events")["value"]}
    log = await collected(monitor.activity_log, body, cluster())
    once = {row["eventDataId"]: row for row in body["value"]}
    assert len(log.events) == len(once)
    assert {one.correlation for one in log.events} == {row["correlationId"] for row in once.values()}
    assert [one.at for one in log.events] == sorted((one.at for one in log.events), reverse=True)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("manual__activitylog-aks-create-failed-vmextension", "VMExtensionProvisioningError"),
        ("manual__activitylog-statusmessage-vmss-cse-aks4353", "VMExtensionProvisioningError"),
        ("manual__activitylog-statusmessage-aks168", "ControlPlaneProvisioningInternalError"),
        ("deployment__put-400-quotaexceeded", "QuotaExceeded"),
        ("manual__aks-put-400-insufficient-vcpu-quota", "ErrCode_InsufficientVCPUQuota"),
        ("policydeny__403-2", "RequestDisallowedByPolicy"),
        ("manual__arm-409-scopelocked-read", "ScopeLocked"),
        ("managedcluster__delete-409-etagmismatch", "EtagMismatch"),
        ("manual__aks-operation-failed-compute429-aks2417", "TooManyRequests"),
    ],
)
async def test_the_telling_error_is_found_in_what_was_recorded(name: str, code: str) -> None:
    error = innermost(recorded.body(name))
    assert error is not None
    assert error.code == code


@pytest.mark.parametrize("name", [name for name in recorded.names("") if recorded.answer(name)["status"] >= 400])
async def test_a_refusal_that_was_recorded_is_a_value_with_its_reason(name: str) -> None:
    whole = recorded.answer(name)
    with pytest.raises(CannotSee) as refused:
        await collected(azure.managed_cluster, whole["body"], status=whole["status"])
    wanted = {401: Why.DENIED, 403: Why.DENIED, 404: Why.ABSENT, 429: Why.THROTTLED}.get(whole["status"], Why.FAILED)
    assert refused.value.unavailable.why is wanted
    assert str(whole["status"]) in refused.value.unavailable.detail

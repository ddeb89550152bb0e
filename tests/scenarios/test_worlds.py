"""The worlds that scenarios make: whole, and in agreement with themselves."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from sandbox.blueprint.sizes import FAMILIES
from sandbox.scenario import Scenario
from sandbox.world import Change, World

Body = dict[str, Any]

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
NAMES = Scenario.names()
OUTSIDE = (
    "/providers/microsoft.authorization/roledefinitions/",
    "/providers/microsoft.authorization/policydefinitions/",
    "/providers/microsoft.compute/galleries/aksubuntu/",
    "/providers/microsoft.policyinsights/policystates/",
    "/subscriptions/109a5e88-712a-48ae-9078-9ca8b3c81345/",  # AKS's own subscription: the node images
)
BALANCER = "/mc_rg-prod-weu_prod-weu_westeurope/providers/microsoft.network/loadbalancers/kubernetes"
WORKSPACE = "/rg-archive/providers/microsoft.operationalinsights/workspaces/law-platform"
DELETED = {"invalid-resource-reference": BALANCER, "log-analytics-workspace-missing": WORKSPACE}
"""What a scenario is about: it was deleted although others refer to it or its parts. Its twin has it."""
VIRTUAL_MACHINE = "Microsoft.Compute/virtualMachines"


def worlds(name: str) -> Iterator[World]:
    scenario = Scenario.load(name, now=NOW)
    yield scenario.world
    if scenario.twin:
        yield scenario.twin_world()


def whole(world: World) -> str:
    """A world in one text."""
    insides = [list(kube.objects.values()) for kube in world.kubes.values()]
    return json.dumps([world.resources, world.tables, world.events, insides])


def of_type(world: World, kind: str) -> list[Body]:
    return [body for body in world.resources.values() if str(body.get("type", "")).lower() == kind.lower()]


def below(world: World, parent: str, part: str) -> list[Body]:
    prefix = f"{parent}/{part}/".lower()
    return [body for key, body in world.resources.items() if key.startswith(prefix) and "/" not in key[len(prefix) :]]


def pools_of(world: World, cluster: Body) -> list[Body]:
    return below(world, cluster["id"], "agentPools")


def node_group_of(cluster: Body) -> str:
    group = cluster["id"].split("/providers/")[0].rsplit("/", 1)[0]
    return f"{group}/{cluster['properties']['nodeResourceGroup']}".lower()


def scale_set_of(world: World, cluster: Body, pool: Body) -> Body | None:
    found = [
        one
        for one in of_type(world, "Microsoft.Compute/virtualMachineScaleSets")
        if one["tags"]["aks-managed-poolName"] == pool["name"]
        and one["id"].lower().startswith(node_group_of(cluster) + "/")
    ]
    assert len(found) == (pool["properties"]["type"] == "VirtualMachineScaleSets")
    return found[0] if found else None


def machines_of(world: World, cluster: Body, pool: Body) -> list[Body]:
    """The virtual machines behind a pool, in a scale set or not."""
    scale_set = scale_set_of(world, cluster, pool)
    if scale_set:
        instances = below(world, scale_set["id"], "virtualMachines")
        assert scale_set["sku"]["capacity"] == len(instances)
        return instances
    tag = "poolName" if pool["properties"]["type"] == "AvailabilitySet" else "aks-managed-poolName"
    alone = below(world, f"{node_group_of(cluster)}/providers/Microsoft.Compute", "virtualMachines")
    return [one for one in alone if one["tags"].get(tag) == pool["name"]]


def count_of(pool: Body) -> int:
    properties = pool["properties"]
    if properties["type"] != "VirtualMachines":
        return int(properties["count"])
    assert not {"count", "vmSize"} & set(properties)
    assert properties["virtualMachinesProfile"]["scale"]["manual"] == properties["virtualMachineNodesStatus"]
    return sum(one["count"] for one in properties["virtualMachineNodesStatus"])


# -- every world is whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_loads_to_the_same_bytes_each_time(name: str) -> None:
    one, other = (Scenario.load(name, now=NOW) for _ in range(2))
    assert whole(one.world) == whole(other.world)


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_kept_in_their_own_case(name: str) -> None:
    for world in worlds(name):
        assert all(key == body["id"].lower() for key, body in world.resources.items())
        events = Counter(event["eventDataId"] for event in world.events)
        assert max(events.values()) == 1
        clusters = of_type(world, "Microsoft.ContainerService/managedClusters")
        assert {body["name"] for body in clusters} == {
            "prod-weu",
            "prod-eus2",
            "staging-neu",
            "dev-shared",
            "payments-prod",
        }
        assert all("/resourcegroups/" in body["id"] for body in clusters)


def declared(value: Any) -> Iterator[str]:
    """Ids of things that are described here, resources or parts of one."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and ("name" in value or "properties" in value):
            yield value["id"].lower()
        for inner in value.values():
            yield from declared(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from declared(inner)


def mentioned(value: Any) -> Iterator[str]:
    """Every id that stands anywhere, as a value or as a key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from mentioned(key)
            yield from mentioned(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from mentioned(inner)
    elif isinstance(value, str) and value.lower().startswith("/subscriptions/"):
        yield value.lower()


@pytest.mark.parametrize("name", NAMES)
def test_every_id_that_is_mentioned_exists_lies_outside_or_was_deleted(name: str) -> None:
    first, *others = worlds(name)
    for world in (first, *others):
        bodies = list(world.resources.values())
        known = {one for body in bodies for one in declared(body)} | set(world.resources)
        mentions = {one for body in bodies for one in mentioned(body)} - known
        lost = {one for one in mentions if not any(part in one for part in OUTSIDE)}
        deleted = DELETED.get(name) if world is first else None
        assert not deleted or not any(one.endswith(deleted) for one in known)
        expected = {bool(deleted and f"{deleted}/" in f"{one}/") for one in lost}
        assert expected == ({True} if deleted else set()), lost


@pytest.mark.parametrize("name", NAMES)
def test_everything_stands_in_a_group_that_exists(name: str) -> None:
    for world in worlds(name):
        groups = {body["id"].lower() for body in of_type(world, "Microsoft.Resources/resourceGroups")}
        for key in world.resources:
            parts = key.split("/")
            if len(parts) > 4 and parts[3] == "resourcegroups":
                assert "/".join(parts[:5]) in groups


@pytest.mark.parametrize("name", NAMES)
def test_pools_scale_sets_instances_interfaces_and_addresses_agree(name: str) -> None:
    for world in worlds(name):
        taken: Counter[str] = Counter()
        for cluster in of_type(world, "Microsoft.ContainerService/managedClusters"):
            network = cluster["properties"]["networkProfile"]
            overlay = network.get("networkPluginMode") == "overlay"
            for pool in pools_of(world, cluster):
                machines = machines_of(world, cluster, pool)
                assert count_of(pool) == len(machines)
                flat = network["networkPlugin"] == "azure" and not overlay and "podSubnetID" not in pool["properties"]
                per_node = 1 + pool["properties"]["maxPods"] if flat else 1
                for machine in machines:
                    [named] = machine["properties"]["networkProfile"]["networkInterfaces"]
                    interface = world.resources[named["id"].lower()]
                    assert interface["properties"]["virtualMachine"]["id"] == machine["id"]
                    configurations = interface["properties"]["ipConfigurations"]
                    assert len(configurations) == per_node
                    taken.update(one["id"].lower() for one in configurations)
        provisioned = [one for one in of_type(world, VIRTUAL_MACHINE) if "karpenter.sh_nodepool" in one["tags"]]
        for machine in provisioned:
            [named] = machine["properties"]["networkProfile"]["networkInterfaces"]
            configurations = world.resources[named["id"].lower()]["properties"]["ipConfigurations"]
            taken.update(one["id"].lower() for one in configurations)
        sitting = [
            one["id"].lower()
            for subnet in of_type(world, "Microsoft.Network/virtualNetworks/subnets")
            for one in subnet["properties"].get("ipConfigurations", ())
        ]
        assert set(taken) == {one for one in sitting if "/ipconfigurations/privateendpointipconfig" not in one}
        assert len(sitting) == len(set(sitting))


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_given_once_and_lie_in_their_subnet(name: str) -> None:
    for world in worlds(name):
        subnets = {
            body["id"].lower(): IPv4Network(body["properties"]["addressPrefix"])
            for body in of_type(world, "Microsoft.Network/virtualNetworks/subnets")
        }
        given: Counter[tuple[str, str]] = Counter()
        for key, body in world.resources.items():
            if "/networkinterfaces/" not in key:
                continue
            for one in body["properties"]["ipConfigurations"]:
                subnet = one["properties"]["subnet"]["id"].lower()
                address = IPv4Address(one["properties"]["privateIPAddress"])
                given[subnet, str(address)] += 1
                assert address in subnets[subnet]
                assert subnets[subnet][3] < address < subnets[subnet][-1]
        assert max(given.values()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_azure_repeats_is_repeated(name: str) -> None:
    for world in worlds(name):
        for cluster in of_type(world, "Microsoft.ContainerService/managedClusters"):
            pools = {pool["name"]: pool["properties"] for pool in pools_of(world, cluster)}
            profiles = cluster["properties"]["agentPoolProfiles"]
            assert {one["name"]: {k: v for k, v in one.items() if k != "name"} for one in profiles} == pools
        for network in of_type(world, "Microsoft.Network/virtualNetworks"):
            assert network["properties"]["subnets"] == below(world, network["id"], "subnets")
        for cluster in of_type(world, "Microsoft.NetworkCloud/kubernetesClusters"):
            assert "agentPoolProfiles" not in cluster["properties"]


@pytest.mark.parametrize("name", NAMES)
def test_the_regional_quota_is_the_sum_of_the_families(name: str) -> None:
    for world in worlds(name):
        for path, rows in world.tables.items():
            if "/microsoft.compute/locations/" in path:
                used = {row["name"]["value"]: row["currentValue"] for row in rows}
                assert used["cores"] == sum(used[family] for family in FAMILIES)
                assert all(row["currentValue"] <= row["limit"] for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_activity_log_reads_as_azure_writes_it(name: str) -> None:
    for world in worlds(name):
        times = [datetime.fromisoformat(event["eventTimestamp"]) for event in world.events]
        assert times == sorted(times, reverse=True)
        assert times[0] <= NOW
        by_operation: dict[str, list[Body]] = {}
        for event in reversed(world.events):
            by_operation.setdefault(event["operationId"], []).append(event)
            assert set(event["status"]) == {"value", "localizedValue"}
            message = event["properties"].get("statusMessage")
            by_policy = event["category"]["value"] == "Policy"  # its event names policies, and quotes no answer
            assert (event["status"]["value"] == "Failed") == (isinstance(message, str) or by_policy)
            assert message is None or isinstance(json.loads(message), dict)
        for events in by_operation.values():
            assert events[0]["status"]["value"] == "Started"
            assert len({event["correlationId"] for event in events}) == 1


def test_nobody_can_read_more_than_the_reader_is_granted() -> None:
    people = {one.name: one for one in Scenario.load("healthy-fleet").world.principals}
    assert people["nobody"].actions == ()
    assert set(people["reader"].actions) == {
        "*/read",
        "Microsoft.PolicyInsights/policyStates/queryResults/action",
        "Microsoft.ResourceGraph/resources/read",
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    }
    assert "Microsoft.Authorization/*/Write" in people["writer"].not_actions


def test_the_near_misses_of_the_healthy_fleet_are_near_and_are_misses() -> None:
    world = Scenario.load("healthy-fleet", now=NOW).world
    production = next(key for key in world.resources if key.endswith("3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90"))
    quota = world.usage(f"{production}/providers/microsoft.compute/locations/westeurope/usages/standardDSv5Family")
    assert quota is not None
    assert (quota["currentValue"], quota["limit"]) == (190, 200)  # a node of the pool takes 8
    subnet = next(body for key, body in world.resources.items() if key.endswith("/vnet-prod-eus2/subnets/snet-nodes"))
    usable = IPv4Network(subnet["properties"]["addressPrefix"]).num_addresses - 5
    assert (len(subnet["properties"]["ipConfigurations"]), usable) == (434, 507)  # the surge of both pools takes 62
    locks = {
        body["id"].split("/providers/")[0].rsplit("/", 1)[-1]
        for body in of_type(world, "Microsoft.Authorization/locks")
    }
    assert locks == {"rg-payments-prod", "rg-archive"}


def test_what_a_write_changes_shows_in_the_parent_too() -> None:
    world = Scenario.load("healthy-fleet", now=NOW).world
    cluster = next(b for b in of_type(world, "Microsoft.ContainerService/managedClusters") if b["name"] == "prod-weu")
    apps = next(pool["id"] for pool in pools_of(world, cluster) if pool["name"] == "apps")
    world.apply(Change(apps, patch={"properties": {"count": 9}}))
    assert {
        one["name"]: one["count"] for one in world.resources[cluster["id"].lower()]["properties"]["agentPoolProfiles"]
    } == {
        "system": 3,
        "apps": 9,
        "spot": 5,
    }
    world.apply(Change(apps, delete=True))
    profiles = world.resources[cluster["id"].lower()]["properties"]["agentPoolProfiles"]
    assert [one["name"] for one in profiles] == ["system", "spot"]


# -- size ------------------------------------------------------------------------------------------------------------


def test_a_fleet_of_two_thousand_nodes_is_described_in_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(
        """
        title: Large
        story: Many nodes.
        based_on: healthy-fleet
        fleet:
          clusters: { dev-shared: { pools: { builds: { count: 2000, autoscale: null } } } }
        """
    )
    world = Scenario.load(tmp_path, now=NOW).world
    instances = of_type(world, "Microsoft.Compute/virtualMachineScaleSets/virtualMachines")
    assert len(instances) == 46 + 2000
    assert len({one["properties"]["osProfile"]["computerName"] for one in instances}) == len(instances)


# -- time ------------------------------------------------------------------------------------------------------------


def test_times_are_relative_to_the_moment_of_loading() -> None:
    def began(now: datetime) -> datetime:
        world = Scenario.load("upgrade-runs-long", now=now).world
        events = [one for one in world.events if one["resourceId"].endswith("/payments-prod")]
        return datetime.fromisoformat(events[0]["eventTimestamp"])

    assert began(NOW + timedelta(days=1)) - began(NOW) == timedelta(days=1)
    assert timedelta(hours=3) < NOW - began(NOW) < timedelta(hours=3, minutes=11)

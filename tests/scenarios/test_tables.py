"""Quotas and sizes have no id of their own in Azure; a scenario reaches each of their rows by YAML alone."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.evidence.azure import ManagedCluster, managed_cluster
from handlers.evidence.network import NETWORK_API
from handlers.evidence.quotas import RegionUsages, Usage, region_usages
from handlers.model import Target
from handlers.resource_id import ResourceId
from sandbox.scenario import BadScenario, Scenario
from sandbox.world import World
from tests.checking import access, azure

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
ADDRESSES = "${prod-weu.usage.network}/PublicIPAddresses"
ACCOUNTS = "${prod-weu.usage.storage}/StorageAccounts"
SIZE = "${prod-weu.sizes}/Standard_D8s_v5"


def load(folder: Path, **says: Any) -> World:
    (folder / "scenario.yaml").write_text(json.dumps({"title": "T", "story": "S", "based_on": "healthy-fleet", **says}))
    return Scenario.load(folder, now=NOW).world


def row(world: World, provider: str, name: str, location: str = "westeurope") -> dict[str, Any]:
    subscription = cluster_of(world).subscription
    found = world.usage(f"/subscriptions/{subscription}/providers/{provider}/locations/{location}/usages/{name}")
    assert found is not None
    return found


def cluster_of(world: World) -> ResourceId:
    return next(ResourceId.parse(body["id"]) for body in world.resources.values() if body.get("name") == "prod-weu")


def test_a_network_quota_is_changed_as_a_compute_quota_is(tmp_path: Path) -> None:
    changed = row(
        load(tmp_path, usages={ADDRESSES: {"limit": 20, "current": 20}}), "Microsoft.Network", "PublicIPAddresses"
    )
    assert (changed["currentValue"], changed["limit"]) == (20, 20)


def test_the_fleet_sets_a_network_limit_and_what_others_use_beside_what_is_counted(tmp_path: Path) -> None:
    before = row(load(tmp_path), "Microsoft.Network", "PublicIPAddresses")["currentValue"]
    quotas = {"production": {"westeurope": {"PublicIPAddresses": {"limit": 40, "other": 7}}}}
    after = row(load(tmp_path, fleet={"quotas": quotas}), "Microsoft.Network", "PublicIPAddresses")
    assert (after["currentValue"], after["limit"]) == (before + 7, 40)


async def test_a_row_that_the_fleet_does_not_count_is_added_and_read_by_the_one_reader(tmp_path: Path) -> None:
    world = load(tmp_path, usages={ACCOUNTS: {"title": "Storage Accounts", "limit": 250, "current": 249}})
    target = Target(cluster_of(world), NOW)
    async with azure(world) as server, ArmReader(access(server)) as arm:
        cluster = await managed_cluster.fetch(target=target, arm=arm)
        assert isinstance(cluster, ManagedCluster)
        network = await region_usages(RegionUsages, "Microsoft.Network", NETWORK_API, cluster, arm)
        storage = await region_usages(RegionUsages, "Microsoft.Storage", "2023-05-01", cluster, arm)
    assert storage.usages == (Usage("StorageAccounts", "Storage Accounts", 249, 250),)
    assert storage.id_of(storage.usages[0]).endswith("/Microsoft.Storage/locations/westeurope/usages/StorageAccounts")
    addresses = network.row("publicipaddresses")
    assert addresses is not None
    assert addresses.free > 0


def test_a_size_is_restricted_in_one_region_and_stays_free_in_the_others(tmp_path: Path) -> None:
    refused = [{"type": "Location", "values": ["westeurope"], "reasonCode": "NotAvailableForSubscription"}]
    patch = {"id": SIZE, "where": {"locations": ["westeurope"]}, "patch": {"restrictions": refused}}
    world = load(tmp_path, changes=[patch])
    rows = world.rows(
        f"/subscriptions/{cluster_of(world).subscription}/providers/Microsoft.Compute/skus/Standard_D8s_v5"
    )
    assert {one["locations"][0] for one in rows if one["restrictions"] == refused} == {"westeurope"}
    assert len(rows) > 1


def test_a_write_changes_a_quota_row(tmp_path: Path) -> None:
    then = [{"id": ADDRESSES, "patch": {"currentValue": 3}}]
    world = load(tmp_path, writes=[{"method": "DELETE", "id": "${prod-weu.address}", "then": then}])
    [change] = world.writes[0].then
    world.apply(change)
    assert row(world, "Microsoft.Network", "PublicIPAddresses")["currentValue"] == 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"usages": {ACCOUNTS: {"limit": 1}}}, "no such quota row"),
        ({"usages": {ACCOUNTS: {"title": "Storage Accounts", "limit": 1}}}, "needs limit and current"),
        ({"usages": {"${prod-weu}/cores": {"title": "T", "limit": 1, "current": 1}}}, "no such quota row"),
        ({"changes": [{"id": SIZE, "where": {"locations": ["mars"]}, "patch": {}}]}, "no resource"),
        ({"changes": [{"id": SIZE, "delete": True}]}, "no resource"),
        (
            {"fleet": {"quotas": {"production": {"westeurope": {"PublicIPs": {"limit": 1}}}}}},
            "is no compute or network",
        ),
    ],
)
def test_a_row_that_is_not_there_is_refused(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(BadScenario, match=says):
        load(tmp_path, **wrong)

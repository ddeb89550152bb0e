"""What Azure shows of an Arc resource bridge: its providers, its heartbeat, whether it is heard of."""

from __future__ import annotations

import pytest

from handlers.model import Outcome
from sandbox.world import World
from tests.handlers.diagnose.on_site import asked, change, found, world_of

BRIDGE = "arc-bridge-hq"
PROVIDERS, HEARTBEAT, UNREACHABLE = "arc-bridge-offline-providers", "arc-waitforheartbeat", "arc-bridge-unreachable"
READ, READ_PROVIDERS = "Microsoft.ResourceConnector/appliances/read", "Microsoft.Resources/subscriptions/providers/read"


def bridge(status: str = "Offline", state: str = "Failed", **registered: str) -> World:
    """The bridge in some status; `registered` are the providers that are not Registered, without `Microsoft.`."""
    world = world_of()
    id_ = change(world, f"/appliances/{BRIDGE}", {"properties": {"status": status, "provisioningState": state}})
    for name, registration in registered.items():
        where = f"{id_.split('/resourceGroups/')[0]}/providers/microsoft.{name}"
        change(world, where, {"registrationState": registration})
    return world


async def test_each_provider_that_is_missing_is_named_with_its_state() -> None:
    world = bridge(ExtendedLocation="NotRegistered", ConnectedVMwarevSphere="Unregistered")
    finding = await found(PROVIDERS, world, BRIDGE)
    assert finding.facts["missing"] == ["Microsoft.ExtendedLocation", "Microsoft.ConnectedVMwarevSphere"]
    assert "arc-bridge-hq is Offline, its provisioningState Failed" in finding.because[0]
    assert "Microsoft.ConnectedVMwarevSphere (Arc-enabled VMware vSphere) is Unregistered" in finding.because[1]


@pytest.mark.parametrize(
    ("infrastructure", "says"),
    [("HCI", "do not delete or deploy it yourself"), ("VMWare", "until it is deleted and deployed again")],
)
async def test_nobody_is_sent_to_delete_a_bridge_that_azure_local_has_deployed(infrastructure: str, says: str) -> None:
    world = bridge(ExtendedLocation="NotRegistered")
    change(world, f"/appliances/{BRIDGE}", {"properties": {"infrastructureConfig": {"provider": infrastructure}}})
    finding = await found(PROVIDERS, world, BRIDGE)
    assert finding.because[-1].endswith(says)


@pytest.mark.parametrize("other", ["ScVmm", "AzureStackHCI", "HybridContainerService"])
async def test_the_provider_of_another_product_is_not_missed(other: str) -> None:
    assert (await asked(PROVIDERS, bridge(**{other: "NotRegistered"}), BRIDGE)).outcome is Outcome.CLEAR


async def test_a_running_bridge_is_left_alone_whatever_is_registered() -> None:
    world = bridge("Running", "Succeeded", ExtendedLocation="NotRegistered")
    assert (await asked(PROVIDERS, world, BRIDGE)).outcome is Outcome.CLEAR


async def test_providers_that_may_not_be_read_leave_it_open_and_the_bridge_is_offline_all_the_same() -> None:
    world = bridge(ExtendedLocation="NotRegistered")
    assert (await asked(PROVIDERS, world, BRIDGE, [READ_PROVIDERS])).outcome is Outcome.INCONCLUSIVE
    assert (await found(UNREACHABLE, world, BRIDGE, [READ_PROVIDERS])).severity == "error"


@pytest.mark.parametrize("code", [PROVIDERS, HEARTBEAT, UNREACHABLE])
async def test_a_bridge_that_may_not_be_read_is_never_clear(code: str) -> None:
    check = await asked(code, bridge("Running", "Succeeded"), BRIDGE, [READ])
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen[0].grant == READ


@pytest.mark.parametrize("status", ["WaitingForHeartbeat", "WaitForHeartBeat", "waiting for heartbeat"])
async def test_every_spelling_of_the_heartbeat_is_read(status: str) -> None:
    finding = await found(HEARTBEAT, bridge(status, "Succeeded"), BRIDGE)
    assert finding.because[0].startswith(f"arc-bridge-hq is {status}")


async def test_a_bridge_without_a_date_of_its_own_leaves_the_heartbeat_open() -> None:
    world = bridge("WaitingForHeartbeat", "Succeeded")
    change(world, f"/appliances/{BRIDGE}", {"systemData": None})
    check = await asked(HEARTBEAT, world, BRIDGE)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "Azure does not say when it was deployed" in check.why


@pytest.mark.parametrize("status", ["Running", "Connected", "Validating", "UpgradingKVAIO"])
async def test_a_bridge_that_azure_hears_of_is_not_offline(status: str) -> None:
    assert (await asked(UNREACHABLE, bridge(status, "Succeeded"), BRIDGE)).outcome is Outcome.CLEAR


async def test_offline_is_read_in_any_case() -> None:
    assert (await found(UNREACHABLE, bridge("OFFLINE", "Succeeded"), BRIDGE)).facts["status"] == "OFFLINE"

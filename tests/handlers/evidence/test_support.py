"""What support asks for and no check needs: the tenant, the fabric of a Nexus site from the top, the templates."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import Denied
from handlers.evidence import support
from handlers.evidence.nexus.sites import NexusSite
from handlers.evidence.support import Deployments, NexusFabrics, Tenancy
from handlers.model import NotApplicable, Target
from handlers.resource_id import ResourceId
from tests.handlers.diagnose.bodies import CLUSTER, NOW
from tests.transports import Answers

Body = dict[str, Any]

TARGET = Target(ResourceId.parse(CLUSTER), NOW)
SUBSCRIPTION = "/".join(CLUSTER.split("/")[:3])
GROUP = "/".join(CLUSTER.split("/")[:5])
ABOVE = f"{SUBSCRIPTION}/resourceGroups/rg-fabric/providers/Microsoft.ManagedNetworkFabric"
FABRIC, OTHER = f"{ABOVE}/networkFabrics/fabric-1", f"{ABOVE}/networkFabrics/fabric-2"
CONTROLLER = f"{ABOVE}/networkFabricControllers/controller-1"
DENIED = {"error": {"code": "AuthorizationFailed", "message": "does not have authorization to perform action 'a/read'"}}


def deployment(name: str, at: str, *made: str, **more: Any) -> Body:
    properties = {"timestamp": at, "provisioningState": "Succeeded", "outputResources": [{"id": one} for one in made]}
    return {"id": f"{GROUP}/x/{name}", "name": name, "properties": properties | more}


async def fetched(collector: Any, bodies: dict[str, tuple[int, Body]], **given: Any) -> Any:
    """What a collector makes of these answers; the rest does not exist."""
    gone = 404, {"error": {"code": "ResourceNotFound", "message": "not found"}}
    known = {path.lower(): answer for path, answer in bodies.items()}
    transport = Answers(lambda path: known.get(path.lower(), gone), NOW)
    async with ArmReader(AzureAccess(), transport=transport) as arm:
        return await collector.fetch(arm=arm, **given)


def site(fabric: str) -> NexusSite:
    return NexusSite(
        source="", taken_at=NOW, id=f"{GROUP}/s", name="site-1", state="Succeeded", status="", custom_location="",
        hybrid_location="", fabric=fabric,
    )  # fmt: skip


async def test_the_tenant_is_that_of_the_subscription() -> None:
    body = {"subscriptionId": "s-1", "tenantId": "t-1", "displayName": "Production", "state": "Enabled"}
    found = await fetched(support.tenancy, {SUBSCRIPTION: (200, body)}, target=TARGET)
    assert isinstance(found, Tenancy)
    assert (found.tenant, found.name, found.state) == ("t-1", "Production", "Enabled")


@pytest.mark.parametrize(("status", "gaps", "fabrics"), [(200, 0, (FABRIC, OTHER)), (403, 1, (FABRIC,))])
async def test_the_fabrics_of_a_site_are_those_of_its_controller_and_at_least_its_own(
    status: int, gaps: int, fabrics: tuple[str, ...]
) -> None:
    above = {"id": CONTROLLER, "properties": {"networkFabricIds": [FABRIC, OTHER], "provisioningState": "Succeeded"}}
    own = {"id": FABRIC, "properties": {"networkFabricControllerId": CONTROLLER, "fabricVersion": "3.0.0"}}
    answers = {FABRIC: (200, own), CONTROLLER: (status, above if status == 200 else DENIED)}
    found = await fetched(support.nexus_fabrics, answers, site=site(FABRIC))
    assert isinstance(found, NexusFabrics)
    assert (found.controller, found.fabrics, len(found.gaps)) == (CONTROLLER, fabrics, gaps)


async def test_a_site_that_names_no_fabric_has_none_to_ask_for() -> None:
    assert isinstance(await fetched(support.nexus_fabrics, {}, site=site("")), NotApplicable)


async def test_deployments_are_told_newest_first_and_know_what_they_touched() -> None:
    pool, beside = f"{CLUSTER}/agentPools/apps", f"{CLUSTER}-two"
    rows = [
        deployment("first", "2026-11-01T00:00:00Z", CLUSTER.upper(), templateHash="123"),
        deployment("second", "2026-11-02T00:00:00Z", pool, templateLink={"uri": "https://example.com/aks.json"}),
        deployment("third", "2026-11-03T00:00:00Z", beside, error={"code": "Conflict"}),
    ]
    path = f"{GROUP}/providers/Microsoft.Resources/deployments"
    found = await fetched(support.deployments, {path: (200, {"value": rows})}, target=TARGET)
    assert isinstance(found, Deployments)
    assert [one.name for one in found.deployments] == ["third", "second", "first"]
    assert [one.touches(CLUSTER) for one in found.deployments] == [False, True, True]
    assert [one.template for one in found.deployments] == ["", "https://example.com/aks.json", "123"]
    assert found.deployments[0].error == {"code": "Conflict"}


async def test_what_may_not_be_read_is_no_empty_list() -> None:
    path = f"{GROUP}/providers/Microsoft.Resources/deployments"
    with pytest.raises(Denied):
        await fetched(support.deployments, {path: (403, DENIED)}, target=TARGET)

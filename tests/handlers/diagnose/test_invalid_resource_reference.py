"""Does everything exist that the cluster refers to?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    GROUP_ID,
    NODE_GROUP,
    NODE_GROUP_ID,
    SUB,
    SUBNET,
    VNET,
    Body,
    event,
    pool_id,
    resource,
    rows,
    scale_set_id,
)
from tests.handlers.diagnose.wire import Azure, asked, found

QUESTION = "invalid-resource-reference"
HOUR = timedelta(hours=1)
IN_NODES, IN_GROUP = f"{NODE_GROUP_ID}/providers", f"{GROUP_ID}/providers"
BALANCER = f"{IN_NODES}/Microsoft.Network/loadBalancers/kubernetes"
ADDRESS = f"{IN_NODES}/Microsoft.Network/publicIPAddresses/out-1"
KUBELET = f"{IN_NODES}/Microsoft.ManagedIdentity/userAssignedIdentities/one-agentpool"
BACKEND = f"{BALANCER}/backendAddressPools/aksOutboundBackendPool"
GATEWAY = f"{IN_GROUP}/Microsoft.Network/natGateways/out"
OWN = {
    "diskEncryptionSetID": f"{IN_GROUP}/Microsoft.Compute/diskEncryptionSets/keys",
    "vault": f"{IN_GROUP}/Microsoft.KeyVault/vaults/etcd",
    "zone": f"{IN_GROUP}/Microsoft.Network/dnsZones/shop.example",
    "prefix": f"{IN_GROUP}/Microsoft.Network/publicIPPrefixes/out",
    "registry": f"{IN_GROUP}/Microsoft.ContainerRegistry/registries/start",
    "gateway": f"{IN_GROUP}/Microsoft.Network/applicationGateways/front",
    "placement": f"{IN_GROUP}/Microsoft.Compute/proximityPlacementGroups/near",
    "reservation": f"{IN_GROUP}/Microsoft.Compute/capacityReservationGroups/kept",
    "hosts": f"{IN_GROUP}/Microsoft.Compute/hostGroups/own",
}


def there(azure: Azure, *ids: str) -> None:
    azure.more |= {one: resource(one, {"provisioningState": "Succeeded"}) for one in ids}


def cluster(azure: Azure | None = None) -> Azure:
    """A cluster that goes out by its load balancer; all that it names exists."""
    azure = azure or Azure()
    azure.pool("apps")
    azure.cluster["networkProfile"] |= {
        "outboundType": "loadBalancer",
        "loadBalancerSku": "standard",
        "loadBalancerProfile": {"effectiveOutboundIPs": [{"id": ADDRESS}]},
    }
    azure.cluster["identityProfile"]["kubeletidentity"]["resourceId"] = KUBELET.replace(
        "resourceGroups", "resourcegroups"
    )
    there(azure, BALANCER, ADDRESS, KUBELET)
    azure.more[BALANCER]["properties"]["backendAddressPools"] = [{"id": BACKEND.upper()}]
    return azure


def said(missing: str, referrer: str = "") -> Body:
    """Azure's words for a reference to nothing."""
    message = (
        f"Resource {missing} referenced by resource {referrer or scale_set_id('apps')} was not found. Please make sure "
        "that the referenced resource exists, and that both resources are in the same region."
    )
    return {"code": "InvalidResourceReference", "message": message}


def failed(azure: Azure, error: Body | None) -> Azure:
    azure.pools["apps"]["provisioningState"] = "Failed"
    if error:
        azure.pools["apps"]["status"] = {"provisioningError": error}
    return azure


def deleted(azure: Azure, what: str, ago: timedelta) -> None:
    body = event(what, "Succeeded", ago, correlation=f"delete-{what[-20:]}")
    body["operationName"] = {"value": "Microsoft.Network/loadBalancers/delete"}
    azure.events[NODE_GROUP].append(body)


async def test_a_load_balancer_that_is_gone_is_named_although_nothing_has_failed() -> None:
    azure = cluster()
    del azure.more[BALANCER]
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.severity, finding.affects) == (BALANCER, Severity.ERROR, ())
    assert finding.because == (
        f'the load balancer "kubernetes" in {NODE_GROUP} does not exist: Azure answers 404 ResourceNotFound',
        "one refers to it",
        "without it the nodes have no way out",
    )


async def test_the_twin_whose_load_balancer_exists_is_clear() -> None:
    check = await asked(QUESTION, cluster())
    assert check.outcome is Outcome.CLEAR
    assert check.why == "everything that the cluster refers to exists (3 resources)"


async def test_a_failure_that_names_it_is_explained() -> None:
    azure = failed(cluster(), said(BALANCER.upper()))
    del azure.more[BALANCER]
    finding = await found(QUESTION, azure)
    assert finding.affects == (pool_id("apps"),)
    assert "InvalidResourceReference" in finding.because[-1]


async def test_a_failure_of_another_kind_is_not_laid_at_its_door() -> None:
    azure = failed(cluster(), {"code": "ZonalAllocationFailed", "message": "no capacity"})
    del azure.more[BALANCER]
    deleted(azure, BALANCER, timedelta(hours=5))
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", HOUR)]
    assert (await found(QUESTION, azure)).affects == ()


@pytest.mark.parametrize(("ago", "explained"), [(timedelta(hours=2), True), (timedelta(minutes=20), False)])
async def test_a_failure_without_a_reason_is_explained_by_what_was_deleted_before_it(
    ago: timedelta, explained: bool
) -> None:
    azure = failed(cluster(), None)
    del azure.more[BALANCER]
    deleted(azure, BALANCER, ago)
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", HOUR)]
    [finding] = (await asked(QUESTION, azure)).findings
    assert finding.affects == ((pool_id("apps"),) if explained else ())
    assert [line for line in finding.because if line.startswith("it was deleted at 2026-11-18")]


async def test_a_part_of_a_load_balancer_that_is_gone_is_told() -> None:
    azure = failed(cluster(), said(BACKEND))
    azure.more[BALANCER]["properties"]["backendAddressPools"] = []
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.affects) == (BACKEND, (pool_id("apps"),))


async def test_what_azure_named_and_exists_again_is_out_of_the_way() -> None:
    check = await asked(QUESTION, failed(cluster(), said(BACKEND)))
    assert check.outcome is Outcome.CLEAR


async def test_an_error_that_names_nothing_leaves_it_open() -> None:
    azure = failed(cluster(), {"code": "InvalidResourceReference", "message": "A resource was not found."})
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_an_error_about_a_type_that_nobody_looks_up_leaves_it_open() -> None:
    azure = failed(cluster(), said(f"{IN_GROUP}/Microsoft.Relay/namespaces/wire"))
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_what_only_an_error_names_is_looked_up_too() -> None:
    azure = failed(cluster(), said(GATEWAY, SUBNET))
    assert (await found(QUESTION, azure)).subject == GATEWAY
    there(azure, GATEWAY)
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


def with_everything() -> Azure:
    """A cluster that names all that a cluster can name."""
    azure = cluster()
    azure.cluster |= {
        "diskEncryptionSetID": OWN["diskEncryptionSetID"],
        "securityProfile": {"azureKeyVaultKms": {"enabled": True, "keyVaultResourceId": OWN["vault"]}},
        "ingressProfile": {"webAppRouting": {"enabled": True, "dnsZoneResourceIds": [OWN["zone"]]}},
        "bootstrapProfile": {"artifactSource": "Cache", "containerRegistryId": OWN["registry"]},
        "addonProfiles": {
            "ingressApplicationGateway": {"enabled": True, "config": {"applicationGatewayId": OWN["gateway"]}}
        },
    }
    azure.cluster["networkProfile"]["loadBalancerProfile"]["outboundIPPrefixes"] = {
        "publicIPPrefixes": [{"id": OWN["prefix"]}]
    }
    azure.pools["apps"] |= {
        "proximityPlacementGroupID": OWN["placement"],
        "capacityReservationGroupID": OWN["reservation"],
        "hostGroupID": OWN["hosts"],
    }
    there(azure, *OWN.values())
    return azure


@pytest.mark.parametrize("name", OWN)
async def test_everything_that_a_cluster_and_its_pools_name_is_looked_up(name: str) -> None:
    azure = with_everything()
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR
    del azure.more[OWN[name]]
    assert (await found(QUESTION, azure)).subject == OWN[name]


@pytest.mark.parametrize("name", OWN)
async def test_what_may_not_be_read_is_never_called_missing(name: str) -> None:
    azure = with_everything()
    del azure.more[OWN[name]]
    azure.denied = {OWN[name]}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert OWN[name].rsplit("/", 1)[-1] in check.why


async def test_features_that_are_off_name_nothing() -> None:
    azure = with_everything()
    azure.cluster["securityProfile"]["azureKeyVaultKms"]["enabled"] = False
    azure.cluster["ingressProfile"]["webAppRouting"]["enabled"] = False
    azure.cluster["bootstrapProfile"]["artifactSource"] = "Direct"
    azure.cluster["addonProfiles"]["ingressApplicationGateway"]["enabled"] = False
    for name in ("vault", "zone", "registry", "gateway"):
        del azure.more[OWN[name]]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


class Answering(Azure):
    """An Azure that answers one path with another refusal."""

    def __init__(self, path: str, status: int, code: str) -> None:
        super().__init__()
        self.path, self.status, self.code = path, status, code

    def answer(self, path: str) -> tuple[int, object]:
        if path.lower() == self.path.lower():
            return self.status, {"error": {"code": self.code, "message": "no"}}
        return super().answer(path)


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (404, "ResourceNotFound", Outcome.FOUND),
        (404, "ResourceGroupNotFound", Outcome.FOUND),
        (404, "SubscriptionNotFound", Outcome.INCONCLUSIVE),
        (404, "InvalidResourceType", Outcome.INCONCLUSIVE),
        (404, "NotFound", Outcome.INCONCLUSIVE),
        (403, "AuthorizationFailed", Outcome.INCONCLUSIVE),
        (409, "MissingSubscriptionRegistration", Outcome.INCONCLUSIVE),
    ],
)
async def test_only_two_answers_prove_that_something_is_missing(status: int, code: str, outcome: Outcome) -> None:
    azure = cluster(Answering(KUBELET, status, code))
    assert (await asked(QUESTION, azure)).outcome is outcome


async def test_a_subnet_that_its_network_does_not_list_is_gone() -> None:
    azure = cluster(Answering(SUBNET, 404, "NotFound"))
    azure.pools["apps"]["vnetSubnetID"] = SUBNET
    azure.more[f"{VNET}/subnets"] = rows([])
    finding = await found(QUESTION, azure)
    assert finding.because[0] == 'the subnet of its nodes "nodes" in rg-one does not exist: Azure answers 404 NotFound'
    assert finding.because[1] == "pool apps refers to it"
    azure.more[f"{VNET}/subnets"] = rows([{"id": SUBNET}])
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("change", [{"powerState": {"code": "Stopped"}}, {"provisioningState": "Updating"}])
async def test_what_aks_makes_itself_may_be_absent_while_the_cluster_is_stopped_or_changed(change: Body) -> None:
    azure = cluster()
    azure.cluster |= change
    del azure.more[BALANCER], azure.more[ADDRESS]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("profile", [{"outboundType": "userDefinedRouting"}, {"loadBalancerSku": "Basic"}])
async def test_a_cluster_that_needs_no_load_balancer_is_not_asked_for_one(profile: Body) -> None:
    azure = cluster()
    azure.cluster["networkProfile"] |= profile
    del azure.more[BALANCER]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_an_address_that_the_subscriptions_list_holds_is_not_asked_about_again() -> None:
    azure = cluster()
    listed = resource(ADDRESS, {"ipAddress": "203.0.113.9"}, location="westeurope", sku={"name": "Standard"})
    azure.more[f"/subscriptions/{SUB}/providers/Microsoft.Network/publicIPAddresses"] = rows([listed])
    del azure.more[ADDRESS]  # nobody asks, so nobody is told that it does not answer
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_more_addresses_than_are_looked_up_leave_it_open() -> None:
    azure = cluster()
    many = [f"{ADDRESS}-{number}" for number in range(40)]
    there(azure, *many)
    azure.cluster["networkProfile"]["loadBalancerProfile"]["effectiveOutboundIPs"] = [{"id": one} for one in many]
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_without_the_log_a_failure_may_name_another_resource() -> None:
    azure = failed(cluster(), None)
    azure.denied = {"/eventtypes/"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE
    healthy = cluster()
    healthy.denied = {"/eventtypes/"}
    assert (await asked(QUESTION, healthy)).outcome is Outcome.CLEAR


async def test_a_cluster_that_failed_with_its_pool_follows_too() -> None:
    azure = failed(cluster(), said(BALANCER))
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": said(BALANCER)}}
    del azure.more[BALANCER]
    assert set((await found(QUESTION, azure)).affects) == {CLUSTER, pool_id("apps")}

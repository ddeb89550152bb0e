"""A registry of Azure's that refuses a pull: the role of the kubelets' identity, and the registry's network."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.evidence.registries import ABAC, LEGACY
from handlers.model import Finding, Outcome, Severity
from tests.handlers.diagnose.bodies import GROUP_ID, SUB, Body
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import Unwell
from tests.handlers.diagnose.wire import asked, found

CODE = "image-pull-failed"
HOST = "contoso.azurecr.io"
REGISTRY = f"{GROUP_ID}/providers/Microsoft.ContainerRegistry/registries/contoso"
ROLES = f"{REGISTRY}/providers/Microsoft.Authorization/roleAssignments"
GRAPH = "/providers/Microsoft.ResourceGraph/resources"
KUBELET = "0f1d2c3b-4a59-4687-9c1e-7d6f5e4d3c2b"
ACR_PULL, REPOSITORY_READER = "7f951dda-4ed3-4680-a7ca-43fe172d538d", "b93aa761-3e63-49ed-ac28-beffa264f7ac"
CONTRIBUTOR, CUSTOM = "b24988ac-6180-42a0-ab88-20f7382dd24c", "11111111-2222-4333-8444-555555555555"
REFUSED = (
    f'failed to pull and unpack image "{HOST}/web:4.2.1": failed to resolve reference: failed to authorize: failed to '
    "fetch anonymous token: unexpected status: 401 Unauthorized"
)
FIREWALL = f"{HOST}/web:4.2.1: failed to fetch oauth token: denied: client with IP '20.31.7.8' is not allowed access"


def role(definition: str, scope: str = REGISTRY, **more: Any) -> Body:
    definition = f"/subscriptions/{SUB}/providers/Microsoft.Authorization/roleDefinitions/{definition}"
    return {"properties": {"roleDefinitionId": definition, "principalId": KUBELET, "scope": scope, **more}}


def registry(*roles: Body, message: str = REFUSED, host: str = HOST, **properties: Any) -> Unwell:
    """Deployment/web is refused by a registry at which the kubelets' identity has these roles."""
    unwell = Unwell(image=f"{host}/web:4.2.1").waits_for("ErrImagePull", message)
    unwell.cluster["identityProfile"] = {"kubeletidentity": {"objectId": KUBELET}}
    properties = {"loginServer": host, "roleAssignmentMode": LEGACY, "publicNetworkAccess": "Enabled", **properties}
    unwell.more[GRAPH] = {"data": [{"id": REGISTRY}], "totalRecords": 1}
    unwell.more[REGISTRY] = {"id": REGISTRY, "name": "contoso", "properties": properties}
    unwell.more[ROLES] = {"value": list(roles)}
    return unwell


def fix(finding: Finding) -> str:
    return page("Fix", finding)


async def test_an_identity_without_a_role_is_named_with_the_command_that_gives_it() -> None:
    finding = await found(CODE, registry())
    assert (finding.facts["cause"], finding.facts["access"]) == ("unauthorized", "missing")
    assert f"Azure: the kubelets' identity {KUBELET} has no role there or above" in finding.because
    assert "registry contoso wants AcrPull" in finding.because
    assert f"--role AcrPull --scope {REGISTRY} --assignee-object-id {KUBELET}" in fix(finding)


@pytest.mark.parametrize("scope", [REGISTRY, GROUP_ID, f"/subscriptions/{SUB}"])
async def test_a_role_at_the_registry_or_above_it_lets_pull_and_the_image_is_looked_at(scope: str) -> None:
    finding = await found(CODE, registry(role(ACR_PULL, scope)))
    assert finding.facts["access"] == "held"
    assert f"Azure: the kubelets' identity {KUBELET} has AcrPull at {scope}" in finding.because
    assert "may pull from `contoso`" in fix(finding)


@pytest.mark.parametrize("held", [ACR_PULL, CONTRIBUTOR])
async def test_a_registry_by_repository_takes_no_notice_of_the_older_roles(held: str) -> None:
    finding = await found(CODE, registry(role(held), roleAssignmentMode=ABAC))
    assert finding.facts["access"] == "not-honoured"
    assert "takes no notice of" in finding.because[-1]
    assert "--role 'Container Registry Repository Reader'" in fix(finding)


async def test_a_registry_by_repository_takes_its_own_role() -> None:
    finding = await found(CODE, registry(role(REPOSITORY_READER), roleAssignmentMode=ABAC))
    assert finding.facts["access"] == "held"
    legacy = await found(CODE, registry(role(REPOSITORY_READER)))
    assert legacy.facts["access"] == "missing"


@pytest.mark.parametrize(
    ("held", "properties"),
    [
        (role(CUSTOM), {}),
        (role(REPOSITORY_READER, condition="@Resource[…:name] StringEquals 'web'"), {"roleAssignmentMode": ABAC}),
        (role(ACR_PULL), {"roleAssignmentMode": None}),
    ],
    ids=["a role of their own", "a condition", "the mode is not told"],
)
async def test_what_cannot_be_told_is_not_called_missing(held: Body, properties: Body) -> None:
    finding = await found(CODE, registry(held, **properties))
    assert finding.facts["access"] == "unseen"
    assert "whether these let it pull is not known here" in finding.because
    assert "az aks check-acr" in fix(finding)


@pytest.mark.parametrize("denied", [GRAPH, f"{REGISTRY}$", "/roleAssignments$"])
async def test_where_azure_may_not_be_asked_it_is_said_and_the_image_is_found_all_the_same(denied: str) -> None:
    unwell = registry()
    unwell.denied = {denied}
    finding = await found(CODE, unwell)
    assert (finding.facts["access"], finding.severity) == ("unseen", Severity.ERROR)
    assert any(line.startswith("whether the kubelets may pull there was not seen: ") for line in finding.because)


async def test_a_registry_that_aksbot_cannot_see_is_not_called_closed() -> None:
    unwell = registry()
    unwell.more[GRAPH] = {"data": [], "totalRecords": 0}
    assert (await found(CODE, unwell)).facts["access"] == "unseen"


async def test_a_cluster_with_a_service_principal_has_no_identity_to_ask_about() -> None:
    unwell = registry()
    del unwell.cluster["identityProfile"]
    assert "service principal" in " ".join((await found(CODE, unwell)).because)


@pytest.mark.parametrize("host", ["registry.example.com", "contoso.azurecr.io.example.com", "mcr.microsoft.com"])
async def test_of_other_registries_azure_is_not_asked(host: str) -> None:
    finding = await found(CODE, registry(host=host, message=REFUSED.replace(HOST, host)))
    assert (finding.facts["cause"], finding.facts["access"]) == ("unauthorized", "")
    assert fix(finding)


async def test_an_image_that_runs_asks_nothing_of_azure() -> None:
    unwell = Unwell(image=f"{HOST}/web:4.2.1").stands({"running": {"startedAt": "2026-11-19T08:00:00Z"}}, ready=True)
    unwell.denied = {GRAPH}
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


RULES = {"defaultAction": "Deny", "ipRules": [{"action": "Allow", "value": "52.1.2.0/24"}]}


async def test_a_registry_that_lets_in_other_addresses_says_which() -> None:
    finding = await found(CODE, registry(message=FIREWALL, networkRuleSet=RULES))
    assert (finding.facts["cause"], finding.facts["access"]) == ("network", "address")
    assert "Azure: registry contoso lets in 52.1.2.0/24, and 20.31.7.8 is not among them" in finding.because
    assert "--ip-address 20.31.7.8" in fix(finding)


@pytest.mark.parametrize(
    "way",
    [
        "dial tcp 20.61.1.1:443: i/o timeout",
        "read tcp 10.224.0.4:40112->20.61.1.1:443: read: connection reset by peer",
        "net/http: TLS handshake timeout",
    ],
)
async def test_a_registrys_address_rules_are_not_blamed_for_a_way_that_ends_before_it(way: str) -> None:
    message = f'failed to do request: Head "https://{HOST}/v2/web/manifests/4.2.1": {way}'
    finding = await found(CODE, registry(message=message, networkRuleSet=RULES))
    assert (finding.facts["cause"], finding.facts["access"]) == ("network", "")
    assert not any("lets in" in line for line in finding.because)
    assert "Let the address in" not in fix(finding)


async def test_a_registry_that_lets_the_address_in_by_now_is_not_blamed() -> None:
    rules = {"defaultAction": "Deny", "ipRules": [{"action": "Allow", "value": "20.31.0.0/16"}]}
    assert (await found(CODE, registry(message=FIREWALL, networkRuleSet=rules))).facts["access"] == ""


async def test_a_registry_without_public_access_is_reached_through_its_private_endpoints() -> None:
    endpoint = {
        "privateEndpoint": {"id": f"{GROUP_ID}/providers/Microsoft.Network/privateEndpoints/pe-contoso"},
        "privateLinkServiceConnectionState": {"status": "Approved"},
    }
    waiting = {"privateLinkServiceConnectionState": {"status": "Pending"}}
    links = [{"properties": endpoint}, {"properties": waiting}]
    closed = registry(message=FIREWALL, publicNetworkAccess="Disabled", privateEndpointConnections=links)
    finding = await found(CODE, closed)
    assert finding.facts["access"] == "private"
    assert "its private endpoints: pe-contoso" in finding.because
    assert "privatelink.azurecr.io" in fix(finding)

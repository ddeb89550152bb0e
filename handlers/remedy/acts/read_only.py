"""The read-only fields of a cluster or pool, which only Azure sets. Everything else is sent back exactly as read.

The two lists come from the Azure library; a test compares them. `[]` goes through a list, `{}` through any key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

POOL = frozenset(
    {
        "id",
        "name",
        "properties.currentOrchestratorVersion",
        "properties.eTag",
        "properties.localDNSProfile.state",
        "properties.provisioningState",
        "properties.status.provisioningError",
        "systemData",
        "type",
    }
)
CLUSTER = frozenset(
    {
        "eTag",
        "id",
        "identity.principalId",
        "identity.tenantId",
        "identity.userAssignedIdentities{}.clientId",
        "identity.userAssignedIdentities{}.principalId",
        "name",
        "properties.addonProfiles{}.identity",
        "properties.agentPoolProfiles[].currentOrchestratorVersion",
        "properties.agentPoolProfiles[].eTag",
        "properties.agentPoolProfiles[].localDNSProfile.state",
        "properties.agentPoolProfiles[].provisioningState",
        "properties.agentPoolProfiles[].status.provisioningError",
        "properties.azurePortalFQDN",
        "properties.currentKubernetesVersion",
        "properties.fqdn",
        "properties.ingressProfile.webAppRouting.identity",
        "properties.maxAgentPools",
        "properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs",
        "properties.networkProfile.natGatewayProfile.effectiveOutboundIPs",
        "properties.oidcIssuerProfile.issuerURL",
        "properties.podIdentityProfile.userAssignedIdentities[].provisioningInfo",
        "properties.podIdentityProfile.userAssignedIdentities[].provisioningState",
        "properties.powerState",
        "properties.privateFQDN",
        "properties.privateLinkResources[].privateLinkServiceID",
        "properties.provisioningState",
        "properties.resourceUID",
        "properties.status.provisioningError",
        "systemData",
        "type",
    }
)
_MAPS = frozenset({"identity.userAssignedIdentities", "properties.addonProfiles"})
_MARK = "[redacted:"


class NotAsRead(Exception):
    """The body to send differs from the one that was read. It was not sent."""


def to_send(body: Any, read_only: frozenset[str]) -> Any:
    """The body without its read-only fields, proven to have lost nothing else."""
    if _MARK in json.dumps(body, ensure_ascii=False):
        raise NotAsRead("what was read holds a redaction mark: sending it would overwrite a secret with the mark")
    sent = _without(body, "", read_only)
    again = json.loads(json.dumps(sent))
    lost = sorted(set(_differences(body, again, "")) - read_only)
    if lost:
        raise NotAsRead(f"the body would not go back as it was read: {', '.join(lost[:5])}")
    return sent


def _without(value: Any, path: str, read_only: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_without(item, f"{path}[]", read_only) for item in value]
    if not isinstance(value, dict):
        return value
    below = {key: _below(path, key) for key in value}
    return {key: _without(item, below[key], read_only) for key, item in value.items() if below[key] not in read_only}


def _below(path: str, key: str) -> str:
    if path in _MAPS:
        return f"{path}{{}}"
    return f"{path}.{key}" if path else key


def _differences(read: Any, sent: Any, path: str) -> Iterator[str]:
    """Where two bodies differ, computed independently of how the second was made."""
    if isinstance(read, dict) and isinstance(sent, dict):
        for key in {*read, *sent}:
            below = _below(path, key)
            if (key in read) != (key in sent):
                yield below
            else:
                yield from _differences(read[key], sent[key], below)
    elif isinstance(read, list) and isinstance(sent, list) and len(read) == len(sent):
        for before, other in zip(read, sent, strict=True):
            yield from _differences(before, other, f"{path}[]")
    elif type(read) is not type(sent) or read != sent:
        yield path

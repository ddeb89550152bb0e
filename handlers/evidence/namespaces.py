"""Which resource providers a cluster needs, and what for. From its profile; a feature that is off needs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from handlers.evidence import addons
from handlers.evidence.wire import dig, text

_ALWAYS = (
    ("Microsoft.ContainerService", "the cluster itself"),
    ("Microsoft.Compute", "its nodes' machines and disks"),
    ("Microsoft.Network", "its network and load balancers"),
)
_WORKSPACE = ("Microsoft.OperationalInsights", "the workspace of container insights")
_INSIGHTS = (_WORKSPACE, ("Microsoft.Insights", "the data collection rules of container insights"))
_INSIGHTS_WITH_KEYS = (
    *_INSIGHTS,
    # The older way: a solution in the workspace, and its shared key on every node.
    ("Microsoft.OperationsManagement", "the solution of container insights"),
)
_METRICS = (
    ("Microsoft.Monitor", "the workspace of managed Prometheus"),
    ("Microsoft.Insights", "the data collection rules of managed Prometheus"),
)


def _on(*path: str) -> Callable[[Any], bool]:
    return lambda properties: dig(properties, *path) is True


def _addon(name: str) -> Callable[[Any], bool]:
    return lambda properties: addons.is_on(properties, name)


def _insights_with_keys(properties: Any) -> bool:
    insights = addons.settings(properties, "omsagent")
    return addons.is_on(properties, "omsagent") and not addons.uses_managed_identity(insights)


def _managed_identity(properties: Any) -> bool:
    """A cluster that signs in as a service principal names it; with a managed identity it says `msi`."""
    return text(properties, "servicePrincipalProfile", "clientId").lower() in ("", "msi")


_FEATURES: tuple[tuple[Callable[[Any], bool], tuple[tuple[str, str], ...]], ...] = (
    (_managed_identity, (("Microsoft.ManagedIdentity", "the identities of cluster and kubelets"),)),
    (_on("storageProfile", "fileCSIDriver", "enabled"), (("Microsoft.Storage", "volumes on Azure Files"),)),
    (_on("storageProfile", "blobCSIDriver", "enabled"), (("Microsoft.Storage", "volumes on blob storage"),)),
    (_addon("omsagent"), _INSIGHTS),
    (_insights_with_keys, _INSIGHTS_WITH_KEYS),
    (_on("azureMonitorProfile", "containerInsights", "enabled"), _INSIGHTS),
    (_on("azureMonitorProfile", "metrics", "enabled"), _METRICS),
    (_addon("azurepolicy"), (("Microsoft.PolicyInsights", "the Azure Policy add-on"),)),
    (_addon("azurekeyvaultsecretsprovider"), (("Microsoft.KeyVault", "the Key Vault secrets provider"),)),
    (_on("securityProfile", "azureKeyVaultKms", "enabled"), (("Microsoft.KeyVault", "the key that encrypts etcd"),)),
    (_on("securityProfile", "defender", "securityMonitoring", "enabled"), (("Microsoft.Security", "Defender"),)),
    (_addon("aciconnectorlinux"), (("Microsoft.ContainerInstance", "virtual nodes"),)),
    (
        lambda properties: text(properties, "bootstrapProfile", "artifactSource").lower() == "cache",
        (("Microsoft.ContainerRegistry", "the registry that nodes start from"),),
    ),
)


def namespaces_of(properties: Any) -> tuple[tuple[str, str], ...]:
    """(namespace, the first feature that needs it), each namespace once."""
    found: dict[str, str] = {}
    for namespace, feature in _needed(properties):
        found.setdefault(namespace, feature)
    return tuple(found.items())


def _needed(properties: Any) -> Iterator[tuple[str, str]]:
    yield from _ALWAYS
    for uses, namespaces in _FEATURES:
        if uses(properties):
            yield from namespaces

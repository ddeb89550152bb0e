"""The endpoints that cluster nodes must reach, as listed by Azure (outboundNetworkDependenciesEndpoints)."""

from __future__ import annotations

from sandbox.blueprint.places import Places
from sandbox.world import Body

_EVERYBODY = (
    ("azure-resource-management", "management.azure.com", 443, "https"),
    ("azure-resource-management", "login.microsoftonline.com", 443, "https"),
    ("images", "mcr.microsoft.com", 443, "https"),
    ("images", "*.data.mcr.microsoft.com", 443, "https"),
    ("artifacts", "packages.microsoft.com", 443, "https"),
    ("artifacts", "packages.aks.azure.com", 443, "https"),
    ("time-sync", "ntp.ubuntu.com", 123, "udp"),
    ("ubuntu-optional", "security.ubuntu.com", 80, "http"),
    ("ubuntu-optional", "azure.archive.ubuntu.com", 80, "http"),
)


def required_endpoints(places: Places, host: str) -> list[Body]:
    """The endpoints by category. A private cluster's API server is in its own network, so it is not listed."""
    server = () if places.spec.private else (("apiserver", host, 443, "https"),)
    categories: dict[str, list[Body]] = {}
    for category, name, port, protocol in (*_EVERYBODY, *server):
        detail = {"port": port, "protocol": protocol}
        categories.setdefault(category, []).append({"domainName": name, "endpointDetails": [detail]})
    return [{"category": name, "endpoints": found} for name, found in categories.items()]

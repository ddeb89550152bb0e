"""What nodes must reach to start, where Azure did not list it for this very cluster."""

from __future__ import annotations

from handlers.egress.packet import Packet

HTTPS = 443
PUBLISHED = "Azure's published list of what nodes need"
PUBLIC = "management.azure.com"
_SIGN_IN = {
    PUBLIC: "login.microsoftonline.com",
    "management.chinacloudapi.cn": "login.chinacloudapi.cn",
    "management.usgovcloudapi.net": "login.microsoftonline.us",
}
"""Where a cloud signs in, by its address of Resource Manager."""


def published(resource_manager: str) -> tuple[Packet, ...]:
    """What the documentation lists for every cluster of a cloud ("Outbound network and FQDN rules for AKS")."""
    cloud = resource_manager if resource_manager in _SIGN_IN else PUBLIC
    hosts = ("mcr.microsoft.com", "*.data.mcr.microsoft.com", cloud, _SIGN_IN[cloud], "packages.microsoft.com")
    return tuple(Packet(host, HTTPS) for host in hosts)

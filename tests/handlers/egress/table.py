"""Handwritten rule sets and route tables, each with the expected fate of a packet.

A rule is `priority access protocol ports > places`, with `< places` where its source is not everybody. What is expected
is `open`, `denied` or `unknown`, and the priority of the rule that decides or leaves it open.
"""

from __future__ import annotations

from ipaddress import IPv4Address

from handlers.egress.packet import Around, Packet, networks
from handlers.egress.routes import Hop, Route
from handlers.egress.rules import Rule

IMAGES = Packet("mcr.microsoft.com", 443)
API = Packet("one-1234.hcp.westeurope.azmk8s.io", 443)
TUNNEL = Packet("one-1234.hcp.westeurope.azmk8s.io", 9000)
TIME = Packet("ntp.ubuntu.com", 123, "UDP")
INSIDE = Packet("10.1.0.7", 443, address=IPv4Address("10.1.0.7"))
ABROAD = Packet("192.168.7.4", 53, "UDP", IPv4Address("192.168.7.4"))
SERVER = Packet("203.0.113.9", 443, address=IPv4Address("203.0.113.9"))
PLATFORM = Packet("168.63.129.16", 53, "UDP", IPv4Address("168.63.129.16"))
PACKETS = {
    "images": IMAGES,
    "api": API,
    "tunnel": TUNNEL,
    "time": TIME,
    "inside": INSIDE,
    "abroad": ABROAD,
    "server": SERVER,
    "platform": PLATFORM,
}
PLAIN = Around(networks(["10.1.0.0/24"]), networks(["10.1.0.0/16"]))
WIDE = Around(networks(["10.1.0.0/24"]), networks(["10.1.0.0/16"]), wide=True)

RULES: tuple[tuple[str, str, str], ...] = (
    # The default rules of every NSG.
    ("images", "", "open 65001"),
    ("inside", "", "open 65000"),
    ("server", "", "open 65001"),
    ("abroad", "", "unknown 65500"),
    ("time", "", "open 65001"),
    ("platform", "", "open 65000"),
    # One rule.
    ("images", "400 deny * * > Internet", "denied 400"),
    ("images", "400 deny * * > *", "denied 400"),
    ("images", "400 deny * * > 0.0.0.0/0", "denied 400"),
    ("images", "400 deny tcp 443 > Internet", "denied 400"),
    ("images", "400 deny tcp 80,443 > Internet", "denied 400"),
    ("images", "400 deny tcp 400-500 > Internet", "denied 400"),
    ("images", "400 deny tcp 444-500 > Internet", "open 65001"),
    ("images", "400 deny tcp 80 > Internet", "open 65001"),
    ("images", "400 deny udp * > Internet", "open 65001"),
    ("images", "400 deny icmp * > Internet", "open 65001"),
    ("time", "400 deny udp 123 > Internet", "denied 400"),
    ("time", "400 deny tcp 123 > Internet", "open 65001"),
    ("images", "400 deny * * > VirtualNetwork", "open 65001"),
    ("images", "400 deny * * > AzureLoadBalancer", "open 65001"),
    ("images", "400 deny * * > 10.0.0.0/8,172.16.0.0/12,192.168.0.0/16", "open 65001"),
    ("images", "400 deny * * > 0.0.0.0/1,128.0.0.0/1", "denied 400"),
    ("images", "400 deny * * > 0.0.0.0/1", "unknown 400"),
    ("images", "400 deny * * > 13.0.0.0/8", "unknown 400"),
    ("images", "400 deny * * > 2001:db8::/32", "open 65001"),
    ("images", "400 deny * * > 20.0.0.1-20.0.0.9", "unknown 400"),
    ("images", "400 deny * * > 1.0.0.0-9.255.255.255,11.0.0.0-223.255.255.255", "denied 400"),
    # Tags by name.
    ("images", "400 deny * * > MicrosoftContainerRegistry", "denied 400"),
    ("images", "400 deny * * > microsoftcontainerregistry", "denied 400"),
    ("images", "400 deny * * > AzureCloud", "denied 400"),
    ("images", "400 deny * * > AzureCloud.WestEurope", "unknown 400"),
    ("api", "400 deny * * > AzureCloud.WestEurope", "denied 400"),
    ("api", "400 deny * * > AzureCloud.EastUS", "unknown 400"),
    ("api", "400 deny * * > MicrosoftContainerRegistry", "unknown 400"),
    ("images", "400 deny * * > Storage", "unknown 400"),
    ("images", "400 deny * * > SomethingNew", "unknown 400"),
    ("inside", "400 deny * * > AzureCloud", "open 65000"),
    ("server", "400 deny * * > AzureCloud", "unknown 400"),
    # Two rules, in either order.
    ("images", "300 allow tcp 443 > Internet; 400 deny * * > *", "open 300"),
    ("images", "300 deny * * > *; 400 allow tcp 443 > Internet", "denied 300"),
    ("images", "400 deny * * > *; 300 allow tcp 443 > Internet", "open 300"),
    ("images", "300 allow tcp 80 > Internet; 400 deny * * > *", "denied 400"),
    ("images", "300 allow tcp 443 > AzureCloud; 400 deny * * > *", "unknown 300"),
    ("api", "300 allow tcp 443 > AzureCloud.WestEurope; 400 deny * * > *", "unknown 300"),
    ("tunnel", "300 allow tcp 443 > AzureCloud.WestEurope; 400 deny * * > *", "denied 400"),
    ("images", "300 allow tcp 443 > 10.0.0.0/8; 400 deny * * > *", "denied 400"),
    ("images", "300 allow tcp 443 > 13.107.0.0/16; 400 deny * * > *", "unknown 300"),
    ("images", "300 allow * * > VirtualNetwork; 400 deny * * > *", "denied 400"),
    ("images", "300 deny * * > Storage; 400 allow * * > Internet", "unknown 300"),
    ("images", "300 deny * * > Storage; 400 deny * * > Internet", "denied 400"),
    ("images", "300 allow * * > Storage; 400 allow * * > Internet", "open 400"),
    ("inside", "300 allow * * > Internet; 400 deny * * > *", "denied 400"),
    ("inside", "300 deny * * > Internet", "open 65000"),
    ("server", "300 allow tcp 443 > 203.0.113.0/24; 400 deny * * > *", "open 300"),
    ("server", "300 allow tcp 443 > 203.0.114.0/24; 400 deny * * > *", "denied 400"),
    # By source.
    ("images", "400 deny * * > Internet < 10.1.0.0/16", "denied 400"),
    ("images", "400 deny * * > Internet < 10.2.0.0/16", "open 65001"),
    ("images", "400 deny * * > Internet < 10.1.0.0/25", "unknown 400"),
    ("images", "400 deny * * > Internet < VirtualNetwork", "denied 400"),
    ("images", "400 deny * * > Internet < Internet", "open 65001"),
    # Azure's DNS is always reachable, unless a rule denies it explicitly.
    ("platform", "400 deny * * > *", "open 65000"),
    ("platform", "400 deny udp 53 > AzurePlatformDNS", "denied 400"),
    ("images", "400 deny * * > AzurePlatformDNS", "open 65001"),
)
"""Packet, rules and outcome, if no route extends the tag VirtualNetwork."""

WITH_ROUTES: tuple[tuple[str, str, str], ...] = (
    ("images", "300 allow * * > VirtualNetwork; 400 deny * * > *", "unknown 300"),
    ("images", "400 deny * * > VirtualNetwork", "unknown 400"),
    ("abroad", "", "unknown 65000"),
    ("images", "400 deny * * > Internet", "denied 400"),
)
"""The same, if a default route or a gateway extends the tag VirtualNetwork beyond the network."""

FIREWALL, NOWHERE = "0.0.0.0/0 virtualappliance", "0.0.0.0/0 none"
ROUTES: tuple[tuple[str, str, str], ...] = (
    ("images", "", "internet"),
    ("images", FIREWALL, "virtualappliance"),
    ("images", NOWHERE, "none"),
    ("images", "0.0.0.0/0 virtualnetworkgateway", "virtualnetworkgateway"),
    ("images", "0.0.0.0/0 internet", "internet"),
    ("images", f"{FIREWALL}; 10.0.0.0/8 none", "virtualappliance"),
    ("images", f"{FIREWALL}; 13.0.0.0/8 none", "virtualappliance none"),
    ("images", f"{FIREWALL}; AzureCloud internet", "virtualappliance internet"),
    ("images", "0.0.0.0/1 virtualappliance; 128.0.0.0/1 virtualappliance", "virtualappliance virtualappliance"),
    ("images", "0.0.0.0/1 virtualappliance", "internet virtualappliance"),
    ("inside", FIREWALL, "vnetlocal"),
    ("inside", "10.1.0.0/16 virtualappliance", "virtualappliance"),
    ("inside", "10.1.0.7/32 none; 10.1.0.0/16 virtualappliance", "none"),
    ("inside", "10.0.0.0/8 virtualappliance", "vnetlocal"),
    ("abroad", "", "none"),
    ("abroad", FIREWALL, "none"),
    ("abroad", "192.168.0.0/16 virtualappliance", "virtualappliance"),
    ("server", "", "internet"),
    ("server", f"203.0.113.0/24 none; {FIREWALL}", "none"),
    ("server", f"203.0.112.0/24 none; {FIREWALL}", "virtualappliance"),
    ("platform", NOWHERE, "vnetlocal"),
)
"""Packet, routes and possible next hops."""


def rules(text: str) -> tuple[Rule, ...]:
    return tuple(_rule(one.strip()) for one in text.split(";") if one.strip())


def _rule(text: str) -> Rule:
    text, _, source = text.partition("<")
    head, _, places = text.partition(">")
    priority, access, protocol, ports = head.split()
    return Rule(
        name=f"rule-{priority}",
        priority=int(priority),
        allows=access == "allow",
        protocol=protocol,
        sources=tuple(source.strip().split(",")) if source else ("*",),
        targets=tuple(places.strip().split(",")),
        ports=tuple(ports.split(",")),
    )


def routes(text: str) -> tuple[Route, ...]:
    pairs = [one.split() for one in text.split(";") if one.strip()]
    return tuple(Route(f"r{number}", prefix, Hop(hop), "10.1.9.4") for number, (prefix, hop) in enumerate(pairs))

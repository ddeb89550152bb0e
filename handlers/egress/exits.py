"""The address that a packet leaves for the internet from: a load balancer's or a NAT gateway's."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.egress.packet import Fit

NO_OUTBOUND = frozenset({"none", "block"})
"""Network-isolated clusters: AKS makes no way out, and nodes take their images from a private registry."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a subnet's nodes leave for the internet, where a route leads them there."""

    works: Fit
    says: str
    subject: str = ""
    """The id of what has no address."""


@dataclass(frozen=True, slots=True)
class NatGateway:
    """A NAT gateway, and whether it has an address."""

    id: str
    name: str
    addresses: int


@dataclass(frozen=True, slots=True)
class Outbound:
    """What a cluster was told about its way out, and what it has."""

    kind: str
    """The outbound type, in lower case."""
    addresses: int | None
    """Outbound addresses that AKS made or was given; None where it does not say."""
    cluster: str = ""
    nodes_have_addresses: bool = False
    basic: bool = False
    """The old load balancer: Azure lets nodes out behind it by itself."""


def leave(outbound: Outbound, subnet: str, subnet_id: str, nat: NatGateway | None) -> Exit:
    """Where a route leads to the internet: is there an address to leave from?"""
    if nat is not None and nat.addresses:
        return Exit(Fit.YES, f"it leaves through NAT gateway {nat.name}", nat.id)
    if outbound.nodes_have_addresses:
        return Exit(Fit.YES, "it leaves from the nodes' own public addresses")
    if outbound.kind == "userassignednatgateway":
        if nat is None:
            return Exit(Fit.NO, f"subnet {subnet} has no NAT gateway, and outbound type is {_CALLED}", subnet_id)
        return Exit(Fit.NO, f"NAT gateway {nat.name} of subnet {subnet} has no public address", nat.id)
    if outbound.kind in ("loadbalancer", "managednatgateway") and outbound.addresses == 0 and not outbound.basic:
        what = "load balancer" if outbound.kind == "loadbalancer" else "NAT gateway"
        return Exit(Fit.NO, f"the cluster's {what} has no outbound address", outbound.cluster)
    if outbound.kind == "userdefinedrouting":
        # Azure may still give machines an address by default: nobody can tell that from here.
        return Exit(
            Fit.MAYBE, f"no route of subnet {subnet} leads to a firewall, and outbound type is userDefinedRouting"
        )
    through = {"loadbalancer": "load balancer", "managednatgateway": "NAT gateway"}.get(outbound.kind, "way out")
    return Exit(Fit.YES, f"it leaves through the cluster's {through}")


_CALLED = "userAssignedNATGateway"

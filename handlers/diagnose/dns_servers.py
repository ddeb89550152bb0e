"""Which DNS servers does a pod ask: the cluster's, or others that do not know the cluster's names?"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import text, texts
from handlers.evidence.workloads.pods import PodSpec
from handlers.model import Unavailable, Why

OF_THE_NODE = "the node's DNS servers"


def asked_elsewhere(spec: PodSpec, cluster: ManagedCluster) -> str | Unavailable:
    """The servers of a pod that does not ask the cluster's DNS; empty where it does.

    Kubernetes appends `dnsConfig.nameservers` to those of the policy: with ClusterFirst the cluster's stays the first.
    """
    if spec.dns_policy == "None":
        return _of_its_own(spec, cluster)
    on_node = spec.dns_policy == "Default" or (spec.dns_policy == "ClusterFirst" and spec.scheduling.host_network)
    return OF_THE_NODE if on_node else ""


def _of_its_own(spec: PodSpec, cluster: ManagedCluster) -> str | Unavailable:
    known, servers = text(cluster.network, "dnsServiceIP"), ", ".join(spec.nameservers)
    if known in spec.nameservers:
        return ""
    wanted = f"whether {servers} knows the names of {cluster.name}"
    if not known:
        return Unavailable(wanted, Why.ABSENT, "Azure does not say which address the cluster's DNS has")
    inside = ", ".join(server for server in spec.nameservers if _may_forward(server, cluster))
    if inside:  # NodeLocal DNSCache, LocalDNS, a DNS of somebody's in the cluster
        return Unavailable(wanted, Why.ABSENT, f"{inside} may be a cache of the cluster's DNS")
    return servers


def _may_forward(server: str, cluster: ManagedCluster) -> bool:
    """Link-local addresses are served on the node itself, and those of services by pods."""
    try:
        address = ip_address(server)
    except ValueError:
        return False
    return address.is_link_local or any(address in known for known in _of_services(cluster))


def _of_services(cluster: ManagedCluster) -> Iterator[IPv4Network | IPv6Network]:
    for cidr in {text(cluster.network, "serviceCidr"), *texts(cluster.network, "serviceCidrs")}:
        try:
            yield ip_network(cidr, strict=False)
        except ValueError:
            continue

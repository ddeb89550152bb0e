"""What people call the subject of a finding."""

from __future__ import annotations

from bot.render.clean import one_line
from handlers.resource_id import BadResourceId, ResourceId

_WORDS = {
    "microsoft.containerservice/managedclusters": "cluster",
    "microsoft.containerservice/managedclusters/agentpools": "pool",
    "microsoft.kubernetes/connectedclusters": "cluster",
    "microsoft.networkcloud/kubernetesclusters": "cluster",
    "microsoft.networkcloud/clusters": "Nexus cluster",
    "microsoft.networkcloud/l3networks": "L3 network",
    "microsoft.networkcloud/cloudservicesnetworks": "cloud services network",
    "microsoft.managednetworkfabric/l2isolationdomains": "isolation domain",
    "microsoft.managednetworkfabric/l3isolationdomains": "isolation domain",
    "microsoft.extendedlocation/customlocations": "custom location",
    "microsoft.resourceconnector/appliances": "bridge",
    "microsoft.network/virtualnetworks": "network",
    "microsoft.network/virtualnetworks/subnets": "subnet",
    "microsoft.network/loadbalancers": "load balancer",
    "microsoft.network/publicipaddresses": "public address",
    "microsoft.authorization/locks": "lock",
    "microsoft.authorization/policyassignments": "policy",
    "microsoft.managedidentity/userassignedidentities": "identity",
    "microsoft.operationalinsights/workspaces": "workspace",
    "microsoft.compute/virtualmachinescalesets": "scale set",
    "microsoft.compute/virtualmachinescalesets/virtualmachines": "instance",
    "microsoft.resources/resourcegroups": "group",
    "microsoft.resources/subscriptions": "subscription",
}


def short(subject: str) -> str:
    """`pool apps`, `quota standardDSv5Family in westeurope`; what is not an ARM id stays unchanged."""
    try:
        resource = ResourceId.parse(subject)
    except BadResourceId:
        # What is assigned to a management group stands above all subscriptions.
        above, _, name = subject.rpartition("/policyAssignments/")
        return one_line(f"policy {name}" if above.startswith("/providers/") and name else subject)
    parts = resource.text.strip("/").split("/")
    if resource.type.lower().endswith("/locations/usages"):
        return one_line(f"quota {resource.name} in {parts[-3]}")
    word = _WORDS.get(resource.type.lower()) or resource.type.rsplit("/", 1)[-1]
    return one_line(f"{word} {resource.name}")

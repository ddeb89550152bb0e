"""The kinds of cluster that a person may ask about, as answers call them."""

from __future__ import annotations

from handlers.resource_id import ResourceId

AKS = "Microsoft.ContainerService/managedClusters"
CONNECTED = "Microsoft.Kubernetes/connectedClusters"
BRIDGE = "Microsoft.ResourceConnector/appliances"
NEXUS = "Microsoft.NetworkCloud/kubernetesClusters"
CLUSTER_TYPES = (AKS, CONNECTED, BRIDGE, NEXUS)
HYBRID_WORDS = "AKS hybrid cluster"
PROVISIONED = "provisionedcluster"
"""The `kind` of a connected cluster that AKS hybrid has made."""
_WORDS = {
    AKS.lower(): "AKS cluster",
    CONNECTED.lower(): "Arc-connected cluster",
    BRIDGE.lower(): "Arc resource bridge",
    NEXUS.lower(): "Operator Nexus Kubernetes cluster",
}


def kind_in_words(target: ResourceId, arc_kind: str = "") -> str:
    """What people call this kind of cluster; `arc_kind` is the `kind` of a connected cluster, where it is known."""
    if target.is_a(CONNECTED) and arc_kind.lower() == PROVISIONED:
        return HYBRID_WORDS
    return _WORDS.get(target.type.lower(), target.type)

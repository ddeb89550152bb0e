"""One Node and one Lease for each VM that has joined, consistent with its Azure resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from tests.worlds.ids import NOW, Body, Ids, stamp
from tests.worlds.pools import SPOT, Machine

_FINE = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def node_bodies(ids: Ids, machines: Iterable[Machine]) -> Iterator[Body]:
    for machine in machines:
        if machine.joined:
            yield node_body(ids, machine)
            yield _lease(machine)
    if "virtual-node" in ids.shape.inside:
        yield _virtual_node()


def _virtual_node() -> Body:
    """The virtual node for container instances: a node without a VM."""
    name, since = "virtual-node-aci-linux", stamp(timedelta(days=30))
    labels = {"type": "virtual-kubelet", "kubernetes.io/os": "linux", "kubernetes.azure.com/role": "agent"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "creationTimestamp": since, "labels": labels},
        "spec": {"taints": [{"key": "virtual-kubelet.io/provider", "value": "azure", "effect": "NoSchedule"}]},
        "status": {
            "conditions": [_condition("Ready", "True", "KubeletReady", "kubelet is ready.", since)],
            "nodeInfo": {"kubeletVersion": "v1.25.0-vk-azure-aci-1.6.2", "operatingSystem": "Linux"},
        },
    }


def node_body(ids: Ids, machine: Machine) -> Body:
    annotations: Body = {"node.alpha.kubernetes.io/ttl": "0"}
    cordon = {
        "key": "node.kubernetes.io/unschedulable",
        "effect": "NoSchedule",
        "timeAdded": stamp(timedelta(minutes=2)),
    }
    spec: Body = {"providerID": _provider(machine.id)}
    if machine.cordoned:
        spec |= {"unschedulable": True, "taints": [cordon]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": machine.node,
            "creationTimestamp": stamp(machine.age),
            "labels": _labels(ids, machine),
            "annotations": annotations,
        },
        "spec": spec,
        "status": {
            "conditions": list(_conditions(machine)),
            "addresses": [{"type": "Hostname", "address": machine.node}],
            "capacity": {"cpu": str(machine.cores), "pods": "110"},
            "allocatable": {"cpu": f"{machine.cores * 1000 - 200}m", "pods": "110"},
            "nodeInfo": {"kubeletVersion": f"v{machine.version}", "operatingSystem": machine.os.lower()},
        },
    }


def _provider(machine_id: str) -> str:
    """The providerID, in which the resource group is in lower case."""
    head, found, rest = machine_id.partition("/resourceGroups/")
    group, _, tail = rest.partition("/")
    return f"azure://{head}{found}{group.lower()}/{tail}"


def _labels(ids: Ids, machine: Machine) -> Body:
    labels = {
        "kubernetes.azure.com/cluster": ids.node_group,
        "kubernetes.azure.com/mode": "system" if machine.kind in ("system", "availability-set") else "user",
        "kubernetes.azure.com/node-image-version": machine.image,
        "kubernetes.io/hostname": machine.node,
        "kubernetes.io/os": machine.os.lower(),
        "node.kubernetes.io/instance-type": machine.size,
        "topology.kubernetes.io/region": "westeurope",
    }
    if machine.kind in SPOT:
        labels["kubernetes.azure.com/scalesetpriority"] = "spot"
    if machine.kind == "auto":
        return {**labels, "karpenter.sh/nodepool": "default", "karpenter.sh/initialized": "true"}
    return {**labels, "agentpool": machine.pool, "kubernetes.azure.com/agentpool": machine.pool}


def _conditions(machine: Machine) -> Iterator[Body]:
    since = stamp(max(machine.age - timedelta(minutes=2), timedelta(seconds=20)))
    for kind, (reason, message) in _FINE.items():
        yield _condition(kind, "False", reason, message, since)
    if machine.ready:
        yield _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", since)
    elif machine.power == "deallocated":
        since = stamp(timedelta(days=3))
        yield _condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", since)
    else:
        why = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
        yield _condition("Ready", "False", "KubeletNotReady", why, since)


def _condition(kind: str, status: str, reason: str, message: str, since: str) -> Body:
    beat = stamp(timedelta(minutes=1))
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": beat,
        "lastTransitionTime": since,
    }


def _lease(machine: Machine) -> Body:
    silent = timedelta(days=3) if machine.power == "deallocated" else timedelta(seconds=4)
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": machine.node,
            "namespace": "kube-node-lease",
            "creationTimestamp": stamp(machine.age),
        },
        "spec": {
            "holderIdentity": machine.node,
            "leaseDurationSeconds": 40,
            "renewTime": f"{NOW - silent:%Y-%m-%dT%H:%M:%S.%f}Z",
        },
    }

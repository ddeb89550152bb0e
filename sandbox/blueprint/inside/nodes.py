"""One Node and one Lease per VM, consistent with its Azure resource."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from sandbox.blueprint.cluster import node_image
from sandbox.blueprint.fleet import PoolSpec
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.node_model import Machine
from sandbox.blueprint.sizes import SIZES, Size
from sandbox.kube.world import stamp
from sandbox.world import Body

LEASE_S = 40
HEARTBEAT = timedelta(minutes=5)
"""How often a kubelet updates unchanged conditions; it renews the lease every ten seconds."""
_FINE = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
_DETECTED = {
    "KernelDeadlock": ("KernelHasNoDeadlock", "kernel has no deadlock"),
    "ReadonlyFilesystem": ("FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    "FrequentKubeletRestart": ("NoFrequentKubeletRestart", "kubelet is functioning properly"),
    "FrequentContainerdRestart": ("NoFrequentContainerdRestart", "containerd is functioning properly"),
    "VMEventScheduled": ("NoVMEventScheduled", "VM has no scheduled event"),
    "ContainerRuntimeProblem": ("ContainerRuntimeIsUp", "container runtime service is up"),
    "KubeletProblem": ("KubeletIsUp", "kubelet service is up"),
}
"""Conditions that AKS's node problem detector adds to the kubelet's."""
_IMAGES = [
    {"names": ["mcr.microsoft.com/oss/kubernetes/pause:3.6"], "sizeBytes": 301463},
    {"names": ["mcr.microsoft.com/oss/kubernetes-csi/livenessprobe:v2.15.0"], "sizeBytes": 10872832},
]


class Nodes:
    """All nodes of one cluster."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def bodies(self) -> Iterator[Body]:
        for number, machine in enumerate(self._scene.machines):
            yield self._node(number, machine)
            yield self._lease(machine)

    def _node(self, number: int, machine: Machine) -> Body:
        scene, pool = self._scene, pool_of(self._scene, machine)
        ready = max(machine.born + timedelta(seconds=110), scene.rolled - timedelta(minutes=2))
        kubenet = scene.places.spec.network.mode == "kubenet"
        pod_range = {"podCIDR": pod_range_of(scene, number), "podCIDRs": [pod_range_of(scene, number)]}
        taints = taints_of(pool)
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": scene.meta(
                "Node",
                machine.name,
                born=machine.born,
                labels=self._labels(machine, pool),
                annotations={
                    "csi.volume.kubernetes.io/nodeid": f'{{"disk.csi.azure.com":"{machine.name}",'
                    f'"file.csi.azure.com":"{machine.name}"}}',
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                },
            ),
            "spec": {
                **(pod_range if kubenet else {}),
                "providerID": provider_id(machine.id),
                **({"taints": taints} if taints else {}),
            },
            "status": {
                "addresses": [
                    {"type": "InternalIP", "address": machine.address},
                    {"type": "Hostname", "address": machine.name},
                ],
                **room(SIZES[machine.size], pool.max_pods),
                "conditions": list(self._conditions(machine, ready, linux=pool.os == "Linux", kubenet=kubenet)),
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "images": _IMAGES,
                "nodeInfo": self._info(machine, pool),
            },
        }

    def _conditions(self, machine: Machine, ready: datetime, *, linux: bool, kubenet: bool) -> Iterator[Body]:
        beat = self._scene.clock.now - HEARTBEAT * self._scene.mint.number(1, 90, machine.name, "beat") / 100
        since, seen = stamp(ready), stamp(max(beat, ready))
        if kubenet:
            text = "RouteController created a route"
            yield _condition("NetworkUnavailable", "False", "RouteCreated", text, since, since)
        for name, (reason, text) in (_DETECTED if linux else {}).items():
            yield _condition(name, "False", reason, text, seen, since)
        for name, (reason, text) in _FINE.items():
            yield _condition(name, "False", reason, text, seen, since)
        yield _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", seen, since)

    def _labels(self, machine: Machine, pool: PoolSpec) -> dict[str, str]:
        places, mint = self._scene.places, self._scene.mint
        auto = machine.pool not in places.spec.pools
        region, system = places.spec.location, pool.os.lower()
        zone = f"{region}-{machine.zone}" if machine.zone else "0"
        return {
            **({} if auto else {"agentpool": machine.pool, "kubernetes.azure.com/agentpool": machine.pool}),
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/instance-type": machine.size,
            "beta.kubernetes.io/os": system,
            "failure-domain.beta.kubernetes.io/region": region,
            "failure-domain.beta.kubernetes.io/zone": zone,
            "kubernetes.azure.com/cluster": places.node_group_name,
            "kubernetes.azure.com/kubelet-identity-client-id": mint.guid(places.name, "kubelet", "client"),
            "kubernetes.azure.com/mode": pool.mode.lower(),
            "kubernetes.azure.com/node-image-version": node_image(pool),
            **({} if auto else {"kubernetes.azure.com/nodepool-type": pool.type}),
            "kubernetes.azure.com/os-sku": "Windows2022" if pool.os == "Windows" else "Ubuntu",
            "kubernetes.azure.com/role": "agent",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": machine.name,
            "kubernetes.io/os": system,
            "node.kubernetes.io/instance-type": machine.size,
            "topology.kubernetes.io/region": region,
            "topology.kubernetes.io/zone": zone,
            **({"kubernetes.azure.com/scalesetpriority": "spot"} if pool.spot else {}),
            **pool.labels,
            **machine.labels,
        }

    def _info(self, machine: Machine, pool: PoolSpec) -> Body:
        mint, version = self._scene.mint, pool.version or self._scene.places.spec.version
        windows = pool.os == "Windows"
        return {
            "machineID": mint.hex(32, machine.name, "machine"),
            "systemUUID": mint.guid(machine.name, "system"),
            "bootID": mint.guid(machine.name, "boot"),
            "kernelVersion": "10.0.20348.4297" if windows else "5.15.0-1098-azure",
            "osImage": "Windows Server 2022 Datacenter" if windows else "Ubuntu 22.04.5 LTS",
            "containerRuntimeVersion": "containerd://1.7.20" if windows else "containerd://1.7.28-1",
            "kubeletVersion": f"v{version}",
            "kubeProxyVersion": f"v{version}",
            "operatingSystem": pool.os.lower(),
            "architecture": "amd64",
        }

    def _lease(self, machine: Machine) -> Body:
        scene = self._scene
        renewed = scene.clock.now - timedelta(seconds=scene.mint.number(0, 9, machine.name, "lease"))
        node = {"apiVersion": "v1", "kind": "Node", "name": machine.name, "uid": scene.uid("Node", machine.name)}
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": scene.meta("Lease", machine.name, "kube-node-lease", born=machine.born, owner=node),
            "spec": {
                "holderIdentity": machine.name,
                "leaseDurationSeconds": LEASE_S,
                "renewTime": f"{renewed:%Y-%m-%dT%H:%M:%S.%f}Z",
            },
        }


def pool_of(scene: Scene, machine: Machine) -> PoolSpec:
    """The pool of a VM; an auto-provisioned VM counts as its own pool."""
    spec = scene.places.spec
    return spec.pools.get(machine.pool) or spec.auto_specs[machine.pool]


def taints_of(pool: PoolSpec) -> list[Body]:
    """Parse `key=value:Effect` taints into objects."""
    taints = []
    for text in pool.taints:
        pair, _, effect = text.rpartition(":")
        key, _, value = pair.partition("=")
        taints.append({"key": key, **({"value": value} if value else {}), "effect": effect})
    return taints


def provider_id(machine: str) -> str:
    """The Azure id in the cloud provider's format, with the resource group in lower case."""
    head, found, rest = machine.partition("/resourceGroups/")
    group, _, tail = rest.partition("/")
    return f"azure://{head}{found}{group.lower()}/{tail}"


def pod_range_of(scene: Scene, number: int) -> str:
    """The pod CIDR that kubenet assigns to a node, by its index; matches its route."""
    first, second = (scene.places.spec.network.pod_cidr or "10.244.0.0/16").split(".")[:2]
    return f"{first}.{second}.{number}.0/24"


def room(size: Size, max_pods: int) -> Body:
    """A node's capacity, and what is allocatable after AKS's reservations."""
    memory = size.memory_gb * 1024 * 1024 - 260_000
    reserved_cpu = 100 + 20 * (size.cores // 2)
    reserved_memory = min((20 * max_pods + 50) * 1024, memory // 4) + 100 * 1024
    disk = 129_886_128
    capacity = {
        "cpu": str(size.cores),
        "ephemeral-storage": f"{disk}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{memory}Ki",
        "pods": str(max_pods),
    }
    left = {
        "cpu": f"{size.cores * 1000 - reserved_cpu}m",
        "ephemeral-storage": str(disk * 1024 * 9 // 10),
        "memory": f"{memory - reserved_memory}Ki",
    }
    return {"capacity": capacity, "allocatable": {**capacity, **left}}


def _condition(name: str, status: str, reason: str, text: str, beat: str, since: str) -> Body:
    return {
        "type": name,
        "status": status,
        "lastHeartbeatTime": beat,
        "lastTransitionTime": since,
        "reason": reason,
        "message": text,
    }

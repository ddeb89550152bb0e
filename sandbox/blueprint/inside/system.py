"""The system workloads that AKS runs in every cluster, depending on the network plugin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload

_REGISTRY = "mcr.microsoft.com"
_NODE = "system-node-critical"
_CLUSTER = "system-cluster-critical"


def system_workloads(scene: Scene) -> Iterator[Workload]:
    """DaemonSets and Deployments of kube-system and, with Calico, of Calico's namespaces."""
    yield from _on_each_node(scene)
    nodes = len(scene.machines)
    yield _deployment(
        "coredns",
        "oss/kubernetes/coredns:v1.12.1-5",
        {"k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "version": "v20"},
        replicas=max(2, min(20, nodes // 16 + 1)),
        cpu="100m",
        memory="70Mi",
        limit="500Mi",
        budget={"minAvailable": 1},
        budget_name="coredns-pdb",
    )
    yield _deployment("coredns-autoscaler", "oss/v2/kubernetes/autoscaler/cluster-proportional-autoscaler:v1.9.0-3", {})
    yield _deployment(
        "konnectivity-agent",
        "oss/v2/kubernetes/apiserver-network-proxy/agent:v0.33.0-1",
        {"app": "konnectivity-agent"},
        replicas=2,
        budget={"minAvailable": 1},
    )
    yield _deployment(
        "metrics-server",
        "oss/kubernetes/metrics-server:v0.7.2-8",
        {"k8s-app": "metrics-server"},
        replicas=2,
        cpu="157m",
        memory="142Mi",
        budget={"minAvailable": 1},
        budget_name="metrics-server-pdb",
        port=4443,
    )
    policy = scene.places.spec.network.policy
    if policy == "cilium":
        yield _deployment("cilium-operator", "oss/cilium/operator-generic:v1.17.4", {"io.cilium/app": "operator"})
    if policy == "calico":
        typha = _deployment(
            "calico-typha", "oss/v2/calico/typha:v3.30.2", {"k8s-app": "calico-typha"}, budget={"maxUnavailable": 1}
        )
        yield replace(typha, namespace="calico-system", on_host=True)
        yield replace(
            _deployment("calico-kube-controllers", "oss/v2/calico/kube-controllers:v3.30.2", {}),
            namespace="calico-system",
        )
        yield replace(_deployment("tigera-operator", "oss/v2/tigera/operator:v1.38.3", {}), namespace="tigera-operator")


def _on_each_node(scene: Scene) -> Iterator[Workload]:
    network = scene.places.spec.network
    yield _daemon("cloud-node-manager", "oss/v2/kubernetes/azure-cloud-node-manager:v1.33.4")
    yield _daemon("csi-azuredisk-node", "oss/v2/kubernetes-csi/azuredisk-csi:v1.33.2")
    yield _daemon("csi-azurefile-node", "oss/v2/kubernetes-csi/azurefile-csi:v1.33.3")
    if network.mode != "overlay":
        yield _daemon("azure-ip-masq-agent", "aks/ip-masq-agent-v2:v0.1.15-2")
    if network.mode in ("overlay", "pod-subnet"):
        yield _daemon("azure-cns", "containernetworking/azure-cns:v1.6.30")
    if network.policy == "azure":
        yield _daemon("azure-npm", "containernetworking/azure-npm:v1.6.29")
    if network.policy == "cilium":
        yield _daemon("cilium", "oss/cilium/cilium:v1.17.4")
    else:
        proxy = _daemon("kube-proxy", f"oss/v2/kubernetes/kube-proxy:v{scene.places.spec.version}-1")
        yield replace(proxy, labels={"component": "kube-proxy", "tier": "node"})
    if network.policy == "calico":
        yield replace(_daemon("calico-node", "oss/v2/calico/node:v3.30.2"), namespace="calico-system")
    if any(pool.os == "Windows" for pool in scene.places.spec.pools.values()):
        for name in ("cloud-node-manager-windows", "csi-azuredisk-node-win", "csi-azurefile-node-win"):
            windows = _daemon(name, f"oss/v2/kubernetes/{name}:v1.33.4")
            yield replace(windows, group="windows", on_host=False)


def _daemon(name: str, image: str) -> Workload:
    return Workload(
        namespace="kube-system",
        name=name,
        image=f"{_REGISTRY}/{image}",
        kind="DaemonSet",
        group="linux",
        labels={"k8s-app": name},
        cpu="20m",
        memory="40Mi",
        limit="400Mi",
        priority=_NODE,
        on_host=True,
    )


def _deployment(
    name: str,
    image: str,
    labels: dict[str, str],
    *,
    replicas: int = 1,
    cpu: str = "20m",
    memory: str = "20Mi",
    limit: str = "1Gi",
    budget: dict[str, int | str] | None = None,
    budget_name: str = "",
    port: int | None = None,
) -> Workload:
    return Workload(
        namespace="kube-system",
        name=name,
        image=f"{_REGISTRY}/{image}",
        replicas=replicas,
        group="system",
        labels=labels or {"k8s-app": name},
        cpu=cpu,
        memory=memory,
        limit=limit,
        priority=_CLUSTER,
        budget=budget,
        budget_name=budget_name,
        port=port,
    )

"""The workloads of a generated cluster: AKS's own pods, a few applications, and normal noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tests.worlds.ids import Body, Ids, guid, stamp
from tests.worlds.pools import Machine
from tests.worlds.service_operator import operator_bodies

_LONG = timedelta(days=6)
SYSTEM = "kube-system"
WITH_OPERATOR = 3
"""One cluster in this many runs Azure Service Operator."""


@dataclass(frozen=True, slots=True)
class Work:
    """A Deployment or a DaemonSet."""

    name: str
    namespace: str = "shop"
    kind: str = "Deployment"
    replicas: int = 2
    labels: Body = field(default_factory=dict)
    os: str = "linux"

    @property
    def selector(self) -> Body:
        return self.labels or {"app": self.name}

    @property
    def template(self) -> str:
        return guid(self.namespace, self.name)[:8] + "f9"


def object_bodies(ids: Ids, machines: Sequence[Machine]) -> Iterator[Body]:
    """All objects except nodes."""
    seats = [one for one in machines if one.joined and one.power == "running"]
    for namespace in ("shop", "reports", "calico-system", "gatekeeper-system"):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}, "status": {"phase": "Active"}}
    yield from _api_service()
    for work in (*_of_each_node(ids), *_system(ids), *_apps(ids)):
        yield from _crew(work, seats)
    yield from _disorder(ids, [one for one in seats if one.ready and one.os == "Linux"])
    if ids.shape.auto >= 0:
        yield from _karpenter(machines)
    if ids.shape.seed % WITH_OPERATOR == 0:
        yield from operator_bodies()


def _of_each_node(ids: Ids) -> Iterator[Work]:
    names = ["cloud-node-manager", "csi-azuredisk-node", "csi-azurefile-node"]
    names.append("cilium" if ids.shape.network == "cilium" else "kube-proxy")
    if ids.shape.network in ("overlay", "dynamic", "blocks", "cilium"):
        names.append("azure-cns")
    for name in names:
        label = "component" if name == "kube-proxy" else "k8s-app"
        yield Work(name, SYSTEM, "DaemonSet", labels={label: name})
    if any(pool.kind == "windows" for pool in ids.shape.pools):
        yield Work("cloud-node-manager-windows", SYSTEM, "DaemonSet", os="windows")
    if "calico" in ids.shape.inside:
        yield Work("calico-node", "calico-system", "DaemonSet", labels={"k8s-app": "calico-node"})


def _system(ids: Ids) -> Iterator[Work]:
    """System workloads other than DaemonSets. If Azure hosts them, they are not visible."""
    if ids.shape.hosted:
        return
    yield Work("coredns", SYSTEM, labels={"k8s-app": "kube-dns"})
    yield Work("coredns-autoscaler", SYSTEM, replicas=1, labels={"k8s-app": "coredns-autoscaler"})
    yield Work("konnectivity-agent", SYSTEM, labels={"app": "konnectivity-agent"})
    yield Work("metrics-server", SYSTEM, labels={"k8s-app": "metrics-server"})
    if ids.shape.network == "cilium":
        yield Work("cilium-operator", SYSTEM, replicas=1, labels={"io.cilium/app": "operator"})
    if "calico" in ids.shape.inside:
        yield Work("calico-typha", "calico-system", replicas=1, labels={"k8s-app": "calico-typha"})


def _apps(ids: Ids) -> Iterator[Work]:
    yield Work("web", replicas=3)
    yield Work("cart", replicas=2)


def _crew(work: Work, machines: Sequence[Machine]) -> Iterator[Body]:
    """A controller, its pods, and its budget if any."""
    ready = [one for one in machines if one.ready]
    if work.kind == "DaemonSet":
        on = [one for one in machines if one.os.lower() == work.os]
    else:
        free = [one for one in ready if one.os == "Linux" and not one.cordoned] or ready
        on = [free[at % len(free)] for at in range(work.replicas)] if free else []
    pods = [pod(work, one, at) for at, one in enumerate(on)]
    yield _controller(work, len(pods), sum(one.ready for one in on))
    if work.kind == "Deployment":
        yield _replica_set(work, len(pods))
    yield from pods
    if work.name in ("coredns", "metrics-server", "konnectivity-agent") and len(pods) > 1:
        yield budget(work, len(pods), {"minAvailable": 1}, len(pods) - 1)


def pod(work: Work, machine: Machine, number: int) -> Body:
    """A healthy pod; on a node that has just joined, it is still starting."""
    deployed = work.kind == "Deployment"
    stem = f"{work.name}-{work.template}" if deployed else work.name
    owner = ("ReplicaSet", stem) if deployed else (work.kind, work.name)
    age = min(_LONG, machine.age - timedelta(seconds=70))
    return pod_body(
        f"{stem}-{guid(stem, number)[:5]}", work.namespace, machine.node, owner, work.selector, age, ready=machine.ready
    )


def pod_body(
    name: str,
    namespace: str,
    node: str,
    owner: tuple[str, str] | None,
    labels: Body,
    age: timedelta = _LONG,
    *,
    ready: bool = True,
    phase: str = "Running",
    state: Body | None = None,
    restarts: int = 0,
    **status: object,
) -> Body:
    """One pod."""
    owners = [{"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    since = stamp(max(age - timedelta(seconds=20), timedelta(seconds=5)))
    told = "True" if ready else "False"
    container = {
        "name": "main",
        "image": f"mcr.microsoft.com/{namespace}/{name.split('-')[0]}:v1",
        "ready": ready,
        "restartCount": restarts,
        "state": state
        or ({"running": {"startedAt": since}} if ready else {"waiting": {"reason": "ContainerCreating"}}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "creationTimestamp": stamp(age),
            **({"ownerReferences": owners} if owners else {}),
        },
        "spec": {"nodeName": node, "containers": [{"name": "main"}], "terminationGracePeriodSeconds": 30},
        "status": {
            "phase": phase if ready or phase != "Running" else "Pending",
            "startTime": stamp(age),
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(age)},
                {"type": "Ready", "status": told, "lastTransitionTime": since},
            ],
            "containerStatuses": [container],
            **status,
        },
    }


def _controller(work: Work, pods: int, ready: int) -> Body:
    spec: Body = {"selector": {"matchLabels": work.selector}, "template": {"metadata": {"labels": work.selector}}}
    if work.kind == "DaemonSet":
        status = {"desiredNumberScheduled": pods, "currentNumberScheduled": pods, "numberReady": ready}
        status |= {"numberAvailable": ready, "updatedNumberScheduled": pods, "numberMisscheduled": 0}
    else:
        spec["replicas"] = work.replicas
        status = {"replicas": pods, "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": pods}
    return {
        "apiVersion": "apps/v1",
        "kind": work.kind,
        "metadata": {
            "name": work.name,
            "namespace": work.namespace,
            "labels": work.selector,
            "generation": 1,
            "creationTimestamp": stamp(timedelta(days=80)),
        },
        "spec": spec,
        "status": {**status, "observedGeneration": 1, "conditions": _available(work)},
    }


def _available(work: Work) -> list[Body]:
    if work.kind == "DaemonSet":
        return []
    since = stamp(_LONG)
    return [
        {"type": kind, "status": "True", "reason": reason, "lastUpdateTime": since, "lastTransitionTime": since}
        for kind, reason in (("Available", "MinimumReplicasAvailable"), ("Progressing", "NewReplicaSetAvailable"))
    ]


def _replica_set(work: Work, pods: int) -> Body:
    name = f"{work.name}-{work.template}"
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": work.name, "controller": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": work.namespace,
            "labels": work.selector,
            "ownerReferences": [owner],
            "creationTimestamp": stamp(_LONG),
        },
        "spec": {"replicas": work.replicas, "selector": {"matchLabels": work.selector}},
        "status": {"replicas": pods, "readyReplicas": pods, "availableReplicas": pods, "observedGeneration": 1},
    }


def budget(work: Work, pods: int, rule: Body, allowed: int) -> Body:
    status = {"disruptionsAllowed": allowed, "currentHealthy": pods, "desiredHealthy": pods - allowed}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": work.name,
            "namespace": work.namespace,
            "creationTimestamp": stamp(_LONG),
            "generation": 1,
        },
        "spec": {**rule, "selector": {"matchLabels": work.selector}},
        "status": {**status, "expectedPods": pods, "observedGeneration": 1},
    }


def _api_service() -> Iterator[Body]:
    """The service `kubernetes`, maintained by the API server itself."""
    ports = [{"name": "https", "port": 443, "protocol": "TCP"}]
    meta: Body = {"name": "kubernetes", "namespace": "default"}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**meta},
        "spec": {"clusterIP": "10.0.0.1", "ports": ports},
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**meta, "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["20.101.44.17"], "conditions": {"ready": True}}],
        "ports": ports,
    }


# -- normal noise -------------------------------------------------------------------------------------------------


def _disorder(ids: Ids, machines: Sequence[Machine]) -> Iterator[Body]:
    inside = ids.shape.inside
    web, cart = Work("web", replicas=3), Work("cart", replicas=2)
    if "budgets" in inside and machines:
        yield budget(web, 3, {"minAvailable": "50%"}, 1)
        yield budget(cart, 2, {"maxUnavailable": 1}, 1)
    if "empty-budget" in inside:
        yield budget(Work("retired"), 0, {"minAvailable": 1}, 0)
    for index, name in enumerate(sorted(inside)):
        if name in _MESS and machines:
            yield _MESS[name](machines[index % len(machines)].node)


def _finished_job(node: str) -> Body:
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": stamp(timedelta(hours=2))}}
    labels = {"batch.kubernetes.io/job-name": "sync-29380"}
    return pod_body(
        "sync-29380-x7k2p", SYSTEM, node, ("Job", "sync-29380"), labels, timedelta(hours=3), ready=False,
        phase="Succeeded", state=done,
    )  # fmt: skip


def _evicted(node: str) -> Body:
    """Evicted pods, which Kubernetes keeps until there are thousands of them."""
    owner, labels = ("ReplicaSet", "metrics-server-5f9f"), {"k8s-app": "metrics-server"}
    body = pod_body(
        "metrics-server-5f9f-old", SYSTEM, node, owner, labels, timedelta(days=9), ready=False, phase="Failed"
    )
    del body["status"]["containerStatuses"]
    return body | {
        "status": {**body["status"], "reason": "Evicted", "message": "The node was low on resource: memory."}
    }


def _debugger(node: str) -> Body:
    """A completed pod left over from `kubectl debug node`."""
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": stamp(timedelta(hours=5))}}
    name = f"node-debugger-{node[-6:]}-ab1cd"
    return pod_body(name, SYSTEM, node, None, {}, timedelta(hours=6), ready=False, phase="Succeeded", state=ended)


def _failed_debugger(node: str) -> Body:
    """The same as a failed pod: its exit code is that of the last command in the shell."""
    ended = {"terminated": {"exitCode": 127, "reason": "Error", "finishedAt": stamp(timedelta(hours=5))}}
    name = f"node-debugger-{node[-6:]}-zz9yx"
    return pod_body(name, SYSTEM, node, None, {}, timedelta(hours=6), ready=False, phase="Failed", state=ended)


def _leaving(node: str) -> Body:
    body = pod_body("cart-old-1", "shop", node, ("ReplicaSet", "cart-old"), {"app": "cart-old"})
    body["metadata"] |= {"deletionTimestamp": stamp(timedelta(seconds=10)), "deletionGracePeriodSeconds": 30}
    return body


def _rolling_out(node: str) -> Body:
    """A new CoreDNS pod, half a minute old; the old ones still run."""
    owner, labels = ("ReplicaSet", "coredns-7d4f"), {"k8s-app": "kube-dns"}
    return pod_body("coredns-7d4f-n5w", SYSTEM, node, owner, labels, timedelta(seconds=30), ready=False)


def _restarted(node: str) -> Body:
    """A pod that was restarted a few nights ago and has been running since."""
    owner, labels = ("DaemonSet", "azure-ip-masq-agent"), {"k8s-app": "azure-ip-masq-agent"}
    return pod_body("azure-ip-masq-agent-9k", SYSTEM, node, owner, labels, timedelta(days=40), restarts=6)


def _starting(node: str) -> Body:
    return pod_body(
        "web-new-2", "shop", node, ("ReplicaSet", "web-new"), {"app": "web-new"}, timedelta(minutes=1), ready=False
    )


def _pending(_: str) -> Body:
    """An application that is Pending intentionally, because of a scheduling gate."""
    body = pod_body(
        "report-1", "reports", "", ("ReplicaSet", "report"), {"app": "report"}, timedelta(hours=1), ready=False
    )
    told = "Scheduling is blocked due to non-empty scheduling gates"
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": told}
    body["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    del body["spec"]["nodeName"], body["status"]["containerStatuses"]
    return body | {"status": {"phase": "Pending", "conditions": [unscheduled]}}


_MESS = {
    "finished-jobs": _finished_job,
    "evicted-pods": _evicted,
    "debug-pod": _debugger,
    "failed-debug-pod": _failed_debugger,
    "leaving-pod": _leaving,
    "rollout": _rolling_out,
    "old-restarts": _restarted,
    "starting-pod": _starting,
    "pending-app": _pending,
}


# -- node auto-provisioning ---------------------------------------------------------------------------------------

_KINDS = (("karpenter.sh", "v1", "nodepools", "NodePool"), ("karpenter.sh", "v1", "nodeclaims", "NodeClaim"))


def _karpenter(machines: Sequence[Machine]) -> Iterator[Body]:
    for group, version, plural, kind in (*_KINDS, ("karpenter.azure.com", "v1beta1", "aksnodeclasses", "AKSNodeClass")):
        names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
        served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Cluster", "names": names, "versions": [served]},
        }
    node_class = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    yield {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {"imageFamily": "Ubuntu2204"},
        "status": {"conditions": [_true("Ready")]},
    }
    yield {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"template": {"spec": {"nodeClassRef": node_class}}},
        "status": {"conditions": [_true("Ready")]},
    }
    for machine in machines:
        if machine.kind == "auto":
            yield _claim(machine, node_class)


def _claim(machine: Machine, node_class: Body) -> Body:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": f"default-{machine.node[-5:]}",
            "labels": {"karpenter.sh/nodepool": "default"},
            "creationTimestamp": stamp(machine.age),
        },
        "spec": {"nodeClassRef": node_class, "requirements": []},
        "status": {
            "nodeName": machine.node,
            "providerID": f"azure://{machine.id}",
            "conditions": [_true(one) for one in ("Launched", "Registered", "Initialized", "Ready")],
        },
    }


def _true(kind: str) -> Body:
    since = stamp(timedelta(hours=2))
    return {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": since}

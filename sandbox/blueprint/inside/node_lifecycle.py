"""Simulates a NotReady node and its pods: taints, lost readiness, eviction after five minutes."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import IPv4Address

from sandbox.kube.world import KubeWorld, stamp
from sandbox.merge import merged_by_name
from sandbox.world import Body

EVICTED_AFTER = timedelta(minutes=5)
"""How long pods tolerate a NotReady node by default."""
GRACE_S = 30
SILENT_FOR = timedelta(seconds=50)
"""A node becomes Unknown after its lease has been stale for this long (node-monitor-grace-period)."""
_BY_CONDITION = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_LOST = {"False": "node.kubernetes.io/not-ready", "Unknown": "node.kubernetes.io/unreachable"}
_CORDONED = "node.kubernetes.io/unschedulable"
_KUBELETS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
_OF_ITS_END = ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")
_OURS = {*_BY_CONDITION.values(), *_LOST.values(), _CORDONED}


@dataclass(frozen=True)
class NodeLifecycle:
    """The node and taint controllers, the scheduler and the garbage collector of one cluster, simplified."""

    kube: KubeWorld
    now: datetime
    kept: frozenset[str]
    _seated: dict[str, list[Body]] = field(default_factory=lambda: defaultdict(list))
    """Pods by node."""

    def settle(self) -> None:
        for pod in self.kube.every("pods"):
            self._seated[pod["spec"].get("nodeName", "")].append(pod)
        for node in self.kube.every("nodes"):
            ready = conditions_of(node).get("Ready", {})
            since = _moment(ready.get("lastTransitionTime"), self.now)
            if ready.get("status") == "Unknown":
                self._fall_silent(node, ready, since)
            self._taint(node, ready, since)
            if ready.get("status") in _LOST:
                self._lose_pods(node["metadata"]["name"], since, silent=ready["status"] == "Unknown")
            else:
                self._regain_pods(node["metadata"]["name"])
        for pod in list(self.kube.every("pods")):
            if "deletionTimestamp" in pod["metadata"]:
                self._replace(pod, _moment(pod["metadata"]["deletionTimestamp"], self.now))

    def _fall_silent(self, node: Body, ready: Body, since: datetime) -> None:
        """Set the kubelet's conditions to Unknown and leave its lease expired."""
        told = {key: ready[key] for key in ("status", "reason", "message", "lastTransitionTime") if key in ready}
        last = stamp(since - SILENT_FOR)
        known = conditions_of(node)
        # While the VM runs, the problem detector still reports on its own: it says that the kubelet is down.
        speaks = known.get("KubeletProblem", {}).get("status") == "True"
        conditions = {
            name: {**(told if name in _KUBELETS else {}), "lastHeartbeatTime": min(last, item["lastHeartbeatTime"])}
            for name, item in known.items()
            if name in _KUBELETS or not speaks
        }
        self._store(node, {"status": {"conditions": conditions}})
        if self.kube.usage is not None:
            self.kube.usage.nodes.pop(node["metadata"]["name"], None)
        lease = self.kube.find("leases", node["metadata"]["name"], "kube-node-lease")
        if lease is not None and _moment(lease["spec"]["renewTime"], self.now) > since:
            renewed = f"{since - SILENT_FOR:%Y-%m-%dT%H:%M:%S.%f}Z"
            self._store(lease, {"spec": {"renewTime": renewed}})

    def _taint(self, node: Body, ready: Body, since: datetime) -> None:
        node = self.kube.find("nodes", node["metadata"]["name"]) or node
        old = node["spec"].get("taints", [])
        new = [taint for taint in old if taint["key"] not in _OURS]
        if node["spec"].get("unschedulable"):
            new.append(_known(old, {"key": _CORDONED, "effect": "NoSchedule"}, since))
        lost = _LOST.get(ready.get("status", ""))
        if lost:
            new += [
                {"key": lost, "effect": effect, "timeAdded": stamp(since)} for effect in ("NoSchedule", "NoExecute")
            ]
        for name, condition in conditions_of(node).items():
            if name in _BY_CONDITION and condition["status"] == "True":
                new.append({"key": _BY_CONDITION[name], "effect": "NoSchedule"})
        if new != old:
            spec = {key: value for key, value in node["spec"].items() if key != "taints"}
            spec = {**spec, "taints": new} if new else spec
            self.kube.put({**node, "spec": spec, "metadata": dict(node["metadata"])})

    # -- pods --

    def _lose_pods(self, node: str, since: datetime, *, silent: bool) -> None:
        evicted = self.now - since > EVICTED_AFTER
        for pod in self._pods_on(node):
            name = f"{pod['metadata']['namespace']}/Pod/{pod['metadata']['name']}"
            if name in self.kept or pod["status"]["phase"] != "Running":
                continue
            goes = evicted and not _stays(pod)
            if goes and not silent:  # a working kubelet deletes them
                self.kube.remove(self.kube.kinds.of_body(pod), pod["metadata"]["name"], pod["metadata"]["namespace"])
                self._replace(pod, since + EVICTED_AFTER)
            else:
                self._store(pod, _unready(since, since + EVICTED_AFTER if goes else None))

    def _regain_pods(self, node: str) -> None:
        """Pods that were not ready only because of their node become ready again with it."""
        for pod in self._pods_on(node):
            text = {condition["type"]: condition["status"] for condition in pod["status"].get("conditions", ())}
            if text.get("Ready") == "False" and text.get("ContainersReady") == "True":
                ready = {"status": "True", "lastTransitionTime": stamp(self.now)}
                self._store(pod, {"status": {"conditions": {"Ready": ready}}})

    def _pods_on(self, node: str) -> list[Body]:
        return list(self._seated[node])

    def _replace(self, pod: Body, at: datetime) -> None:
        """Recreate a pod on another ready node, if its controller would."""
        metadata = pod["metadata"]
        if not any(owner["kind"] == "ReplicaSet" for owner in metadata.get("ownerReferences", ())):
            return
        identity = uuid.uuid5(uuid.NAMESPACE_OID, metadata["uid"])
        name = f"{metadata['generateName']}{_letters(identity)}"
        node = next(self._others(pod), None)
        if node is None or self.kube.find("pods", name, metadata["namespace"]) is not None:
            return
        address = next(address["address"] for address in node["status"]["addresses"] if address["type"] == "InternalIP")
        started = stamp(at + timedelta(seconds=12))
        own = self._free_address(node["metadata"]["name"])
        condition = {"status": "True", "lastTransitionTime": started, "reason": None}
        fresh = {key: value for key, value in metadata.items() if key not in _OF_ITS_END}
        new = merged_by_name(
            {**pod, "metadata": fresh},
            {
                "metadata": {"name": name, "uid": str(identity), "creationTimestamp": stamp(at)},
                "spec": {"nodeName": node["metadata"]["name"]},
                "status": {
                    "startTime": stamp(at),
                    "hostIP": address,
                    "hostIPs": [{"ip": address}],
                    "podIP": own,
                    "podIPs": [{"ip": own}],
                    "containerStatuses": {
                        status["name"]: {
                            "state": {"running": {"startedAt": started}, "terminated": None, "waiting": None},
                            "ready": True,
                            "started": True,
                        }
                        for status in pod["status"]["containerStatuses"]
                    },
                    "conditions": {
                        item["type"]: None if item["type"] == "DisruptionTarget" else condition
                        for item in pod["status"]["conditions"]
                    },
                },
            },
        )
        self._seated[node["metadata"]["name"]].append(new)
        self.kube.put(new)

    def _free_address(self, node: str) -> str:
        """The next free address after those of the node's pods."""
        taken = [IPv4Address(pod["status"]["podIP"]) for pod in self._pods_on(node) if pod["status"].get("podIP")]
        hosts = {pod["status"]["hostIP"] for pod in self._pods_on(node) if pod["status"].get("hostIP")}
        return str(max((address for address in taken if str(address) not in hosts), default=max(taken)) + 1)

    def _others(self, pod: Body) -> Iterator[Body]:
        """Other nodes of the pool that could run the pod."""
        own = self.kube.find("nodes", pod["spec"]["nodeName"]) or {}
        pool = own.get("metadata", {}).get("labels", {}).get("agentpool")
        for node in self.kube.every("nodes"):
            ready = conditions_of(node).get("Ready", {}).get("status") == "True"
            fits = node["metadata"]["labels"].get("agentpool") == pool
            if ready and fits and not node["spec"].get("unschedulable"):
                yield node

    def _store(self, body: Body, patch: Body) -> None:
        changed = merged_by_name(body, patch)
        if changed != body:
            self.kube.put({**changed, "metadata": dict(changed["metadata"])})


def conditions_of(node: Body) -> dict[str, Body]:
    return {condition["type"]: condition for condition in node["status"]["conditions"]}


def _unready(since: datetime, evicted: datetime | None) -> Body:
    patch: Body = {"status": {"conditions": {"Ready": {"status": "False", "lastTransitionTime": stamp(since)}}}}
    if evicted:
        patch["metadata"] = {
            "deletionTimestamp": stamp(evicted + timedelta(seconds=GRACE_S)),
            "deletionGracePeriodSeconds": GRACE_S,
        }
        patch["status"]["conditions"]["DisruptionTarget"] = {
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": stamp(evicted),
        }
    return patch


def _stays(pod: Body) -> bool:
    """Whether a pod tolerates everything, like DaemonSet pods."""
    return any(
        "key" not in toleration and toleration.get("effect") != "NoSchedule"
        for toleration in pod["spec"].get("tolerations", ())
    )


def _known(old: list[Body], taint: Body, since: datetime) -> Body:
    return next(
        (condition for condition in old if condition["key"] == taint["key"]), {**taint, "timeAdded": stamp(since)}
    )


def _moment(text: str | None, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else otherwise


def _letters(identity: uuid.UUID) -> str:
    """Five random-looking letters, as in generated names."""
    return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in identity.bytes[:5])

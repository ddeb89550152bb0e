"""Simulates a cluster's controllers after a change: first nodes and pods, then the status of everything else.

A scenario only sets a node to not ready, and the rest follows as in a real cluster: its taints, the readiness of
its pods, their replacements elsewhere (see node_lifecycle.py), and the status of deployments, budgets and endpoints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sandbox.blueprint.inside.budgets import needed_by
from sandbox.blueprint.inside.node_lifecycle import NodeLifecycle
from sandbox.kube.world import KubeWorld
from sandbox.merge import merged_by_name
from sandbox.world import Body


@dataclass(frozen=True)
class Controllers:
    """The controllers of one cluster. `kept` are objects whose status a scenario sets: it is not touched."""

    kube: KubeWorld
    now: datetime
    kept: frozenset[str]

    def settle(self) -> None:
        NodeLifecycle(self.kube, self.now, self.kept).settle()
        owned: dict[str, list[Body]] = defaultdict(list)
        spaces: dict[str, list[Body]] = defaultdict(list)
        for pod in self.kube.every("pods"):
            spaces[pod["metadata"]["namespace"]].append(pod)
            for owner in pod["metadata"].get("ownerReferences", ()):
                owned[owner["uid"]].append(pod)
        for replica_set in self.kube.every("replicasets"):
            pods = owned[replica_set["metadata"]["uid"]]
            self._count(replica_set, pods)
            for owner in replica_set["metadata"].get("ownerReferences", ()):
                owned[owner["uid"]].extend(pods)
        for plural in ("deployments", "statefulsets"):
            for body in self.kube.every(plural):
                self._count(body, owned[body["metadata"]["uid"]])
        for body in self.kube.every("daemonsets"):
            self._count_daemons(body, owned[body["metadata"]["uid"]])
        wanted = {
            body["metadata"]["uid"]: body["spec"].get("replicas", 1)
            for plural in ("replicasets", "statefulsets")
            for body in self.kube.every(plural)
        }
        for budget in self.kube.every("poddisruptionbudgets"):
            self._budget(budget, list(_chosen(budget, spaces[budget["metadata"]["namespace"]])), wanted)
        ready = {key: is_ready(pod) for pod in self.kube.every("pods") for key in _known_as(pod)}
        for piece in self.kube.every("endpointslices"):
            self._serve(piece, ready)

    def _count(self, body: Body, pods: list[Body]) -> None:
        there = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        ready = sum(map(is_ready, there))
        status: Body = {"replicas": len(there), "readyReplicas": ready, "availableReplicas": ready}
        if body["kind"] == "Deployment":
            wanted = body["spec"].get("replicas", 1)
            enough = ready >= wanted - max(1, wanted // 4)
            status["unavailableReplicas"] = max(0, wanted - ready) or None
            status["conditions"] = {
                "Available": {
                    "status": "True" if enough else "False",
                    "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
                }
            }
        self._store(body, {"status": status})

    def _count_daemons(self, body: Body, pods: list[Body]) -> None:
        ready = sum(map(is_ready, pods))
        self._store(
            body,
            {
                "status": {
                    "currentNumberScheduled": len(pods),
                    "desiredNumberScheduled": len(pods),
                    "numberReady": ready,
                    "numberAvailable": ready,
                    "numberUnavailable": (len(pods) - ready) or None,
                }
            },
        )

    def _budget(self, budget: Body, pods: list[Body], wanted: Mapping[str, int]) -> None:
        """Percentages refer to the desired pods of the controllers, absolute numbers to the existing pods."""
        healthy = sum(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)
        owners = {owner["uid"] for pod in pods for owner in pod["metadata"].get("ownerReferences", ())}
        whole = isinstance(budget["spec"].get("minAvailable"), int)
        expected = len(pods) if whole else sum(wanted.get(owner, 0) for owner in owners)
        needed = needed_by(budget["spec"], expected)
        allowed = max(0, healthy - needed)
        self._store(
            budget,
            {
                "status": {
                    "disruptionsAllowed": allowed,
                    "currentHealthy": healthy,
                    "desiredHealthy": needed,
                    "expectedPods": expected,
                    "observedGeneration": budget["metadata"].get("generation", 1),
                    "conditions": {
                        "DisruptionAllowed": {
                            "status": "True" if allowed else "False",
                            "reason": "SufficientPods" if allowed else "InsufficientPods",
                        }
                    },
                }
            },
        )

    def _serve(self, piece: Body, ready: dict[str, bool]) -> None:
        if piece["metadata"].get("labels", {}).get("kubernetes.io/service-name") == "kubernetes":
            return  # the API server's own: no pods are behind it
        endpoints = [
            _served(endpoint, ready) for endpoint in piece.get("endpoints") or () if _target(endpoint) in ready
        ]
        if endpoints != list(piece.get("endpoints") or ()):
            self.kube.put({**piece, "endpoints": endpoints, "metadata": dict(piece["metadata"])})

    def _store(self, body: Body, patch: Body) -> None:
        """Write a status if it changed."""
        metadata = body["metadata"]
        changed = merged_by_name(body, patch)
        if changed != body and f"{metadata['namespace']}/{body['kind']}/{metadata['name']}" not in self.kept:
            self.kube.put({**changed, "metadata": dict(metadata)})


def _known_as(pod: Body) -> tuple[str, str]:
    metadata = pod["metadata"]
    return metadata["uid"], f"{metadata['namespace']}/{metadata['name']}"


def _served(endpoint: Body, ready: Mapping[str, bool]) -> Body:
    well = ready[_target(endpoint)]
    return {**endpoint, "conditions": {**endpoint["conditions"], "ready": well, "serving": well}}


def _target(endpoint: Body) -> str:
    """The pod of an endpoint: by uid, or by name if the scenario has no uid."""
    target = endpoint.get("targetRef", {})
    return str(target.get("uid") or f"{target.get('namespace', '')}/{target.get('name', '')}")


def _chosen(budget: Body, pods: list[Body]) -> Iterator[Body]:
    """The pods a budget selects, excluding finished ones."""
    wanted = budget["spec"].get("selector", {}).get("matchLabels", {}).items()
    for pod in pods:
        counts = pod["status"]["phase"] in ("Pending", "Running", "Unknown")
        if counts and wanted <= pod["metadata"].get("labels", {}).items():
            yield pod


def is_ready(pod: Body) -> bool:
    """Whether the pod's Ready condition is True."""
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod["status"].get("conditions", ())
    )

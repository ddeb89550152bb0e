"""Handmade objects: two nodes, a few pods, a budget and RBAC rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.kube.world import Account, KubeWorld, Usage

Body = dict[str, Any]

READER_TOKEN, EDITOR_TOKEN, NOBODY_TOKEN, ADMIN_TOKEN = "reader-token", "editor-token", "nobody-token", "admin-token"
READER = "system:serviceaccount:kube-system:reader"
EDITOR = "system:serviceaccount:kube-system:editor"
READER_RULES: list[Body] = [
    {"apiGroups": [""], "resources": ["nodes", "pods", "namespaces", "events"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes", "pods"], "verbs": ["get", "list"]},
]
EDITOR_RULES: list[Body] = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
]


def node(name: str, *, ready: bool = True, **labels: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"providerID": f"azure:///{name}"},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True" if ready else "Unknown",
                    "reason": "KubeletReady" if ready else "NodeStatusUnknown",
                    "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                }
            ],
            "addresses": [{"type": "InternalIP", "address": "10.224.0.4"}],
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "allocatable": {"cpu": "3860m", "memory": "12Gi", "pods": "110"},
            "nodeInfo": {
                "kubeletVersion": "v1.33.6",
                "osImage": "Ubuntu 22.04.5 LTS",
                "kernelVersion": "5.15.0-1092-azure",
                "containerRuntimeVersion": "containerd://1.7.28",
                "architecture": "amd64",
                "operatingSystem": "linux",
                "bootID": "",
                "kubeProxyVersion": "",
                "machineID": "",
                "systemUUID": "",
            },
        },
    }


def pod(
    name: str,
    *,
    namespace: str = "default",
    on: str = "node-1",
    phase: str = "Running",
    ready: bool = True,
    owner: Body | None = None,
    **labels: str,
) -> Body:
    metadata: Body = {"name": name, "namespace": namespace, "labels": labels or {"app": "web"}}
    if owner:
        metadata["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        ]
    word = "True" if ready else "False"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": on, "containers": [{"name": "main", "image": "nginx:1.27"}]},
        "status": {
            "phase": phase,
            "podIP": "10.244.0.7",
            "conditions": [{"type": kind, "status": word} for kind in ("Initialized", "Ready")],
            "containerStatuses": [
                {
                    "name": "main",
                    "image": "nginx:1.27",
                    "imageID": "",
                    "ready": ready,
                    "restartCount": 0,
                    "lastState": {},
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                }
            ],
        },
    }


def budget(name: str, *, namespace: str = "default", app: str = "web", **spec: Any) -> Body:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace, "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def replica_set(name: str, replicas: int, *, namespace: str = "default", uid: str = "rs-uid-1") -> Body:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": namespace, "uid": uid},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {"spec": {}}},
        "status": {"replicas": replicas},
    }


def definition(*, columns: bool = True) -> Body:
    """The CustomResourceDefinition of `widgets.example.com`, in two versions."""
    column = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version: Body = {"served": True, "schema": schema, "subresources": {"status": {}}}
    if columns:
        version["additionalPrinterColumns"] = column
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{**version, "name": "v1", "storage": True}, {**version, "name": "v1beta1", "storage": False}],
        },
    }


def widget(name: str, size: int = 3) -> Body:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"size": size},
    }


def small_objects() -> list[Body]:
    return [
        node("node-1", agentpool="apps"),
        node("node-2", agentpool="system"),
        pod("web-1"),
        pod("web-2", on="node-2"),
        pod("coredns-1", namespace="kube-system", app="coredns"),
        budget("web", minAvailable=2),
    ]


def small_world(objects: Iterable[Body] = (), **facts: Any) -> KubeWorld:
    """A cluster with two nodes; a reader, an editor, a user without permissions, and an admin."""
    usage = Usage(
        nodes={"node-1": {"cpu": "250m", "memory": "2Gi"}, "node-2": {"cpu": "100m", "memory": "1Gi"}},
        pods={"default/web-1": {"main": {"cpu": "3m", "memory": "12Mi"}}},
    )
    world = KubeWorld.of([*small_objects(), *objects], **{"usage": usage, **facts})
    world.grant(READER, READER_RULES, name="reader")
    world.grant(EDITOR, EDITOR_RULES, name="editor")
    world.accounts = [
        Account.service_account("kube-system", "reader", READER_TOKEN),
        Account.service_account("kube-system", "editor", EDITOR_TOKEN),
        Account("nobody", (), NOBODY_TOKEN),
        Account("kubernetes-admin", ("system:masters",), ADMIN_TOKEN),
    ]
    return world

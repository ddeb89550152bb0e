"""The objects of one cluster as wire bodies: served by its API server, changed by writes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sandbox.kube.bootstrap import bootstrap_objects
from sandbox.kube.feed import Change, Feed
from sandbox.kube.kinds import DEFINITIONS, Kind, KindRegistry, StorageKey

Body = dict[str, Any]
ADMINISTRATORS = "system:masters"


def stamp(moment: datetime) -> str:
    """A timestamp in Kubernetes' format: whole seconds and Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Account:
    """A service account or local user with a static token."""

    user: str
    groups: tuple[str, ...] = ()
    token: str = ""

    @classmethod
    def service_account(cls, namespace: str, name: str, token: str) -> Account:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return cls(f"system:serviceaccount:{namespace}:{name}", groups, token)


@dataclass
class Usage:
    """Usage reported by the metrics server, in quantities such as `250m` and `1Gi`."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node → {"cpu", "memory"}."""
    pods: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """`namespace/pod` → container → {"cpu", "memory"}."""
    answering: bool = True
    """False for a metrics server that is installed but not responding (503)."""


@dataclass
class RunCommands:
    """The behavior of `az aks command invoke` on this cluster."""

    fails: str = ""
    """Why the pod that should run the command fails, such as ImagePullBackOff: the command ends Failed."""
    never_starts: bool = False
    """The pod cannot be scheduled in time: the command is rejected immediately."""
    polls: int = 1
    """How many polls return `Running` before the result."""
    output_limit: int = 512 * 1024


@dataclass(frozen=True, slots=True)
class Run:
    """The simulated run of a container image: its output, then exit."""

    log: str
    exit_code: int = 0


@dataclass
class KubeWorld:
    """One cluster. `objects` are keyed by (group, version, plural), then by `namespace/name` or `name`."""

    objects: dict[StorageKey, dict[str, Body]] = field(default_factory=dict)
    kinds: KindRegistry = field(default_factory=KindRegistry)
    version: str = "v1.33.6"
    """The version returned by `/version`."""
    reachable: bool = True
    """Whether the address responds. A private cluster's times out from outside its network."""
    refuses: bool = False
    """The connection is refused immediately, because nothing listens."""
    not_ready: dict[str, str] = field(default_factory=dict)
    """Checks of `/readyz` and `/livez` that fail, with the reason, such as {"etcd": "reason withheld"}."""
    usage: Usage | None = field(default_factory=Usage)
    """None if there is no metrics server."""
    logs: dict[str, str] = field(default_factory=dict)
    """Container logs, by `namespace/pod/container`; `…/container:previous` is the one before the restart."""
    listens: dict[str, list[int]] = field(default_factory=dict)
    """The ports that a pod listens on, by `namespace/pod`; of any other pod, those that its containers declare."""
    runs: dict[str, Run] = field(default_factory=dict)
    """Simulated runs of pods with restartPolicy Never, by image. Pods with other images stay Pending."""
    accounts: list[Account] = field(default_factory=list)
    entra_groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The Entra groups (object ids) of a principal, by its object id."""
    run_commands: RunCommands = field(default_factory=RunCommands)
    controllers: bool = True
    """Whether kubelets, the disruption controller and the garbage collector are simulated."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    revision: int = 1000
    feed: Feed = field(default_factory=Feed)
    _sorted: dict[StorageKey, list[tuple[str, Body]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for body in bootstrap_objects():
            self.put(body)

    @classmethod
    def of(cls, objects: Iterable[Body], **facts: Any) -> KubeWorld:
        """A world with these objects; a CRD must come before its custom objects."""
        world = cls(**facts)
        for body in objects:
            world.put(body)
        return world

    # -- reading ----------------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str, namespace: str = "") -> Body | None:
        return self.objects.get(kind.storage_key, {}).get(f"{namespace}/{name}" if namespace else name)

    def find(self, plural: str, name: str, namespace: str = "", group: str | None = None) -> Body | None:
        """Find an object by the plural of its kind, without group and version."""
        return self._table(plural, group).get(f"{namespace}/{name}" if namespace else name)

    def every(self, plural: str, namespace: str | None = None, group: str | None = None) -> Iterator[Body]:
        """All objects of a kind, optionally in one namespace."""
        table = self._table(plural, group)
        if namespace is None:
            yield from list(table.values())
        else:
            above = f"{namespace}/"
            yield from [body for key, body in table.items() if key.startswith(above)]

    def _table(self, plural: str, group: str | None) -> dict[str, Body]:
        for key, table in self.objects.items():
            if key[2] == plural and group in (None, key[0]):
                return table
        return {}

    def in_order(self, key: StorageKey) -> list[tuple[str, Body]]:
        """A snapshot of all objects of a kind, in etcd's order. It is not modified by later writes."""
        known = self._sorted.get(key)
        if known is None:
            known = self._sorted[key] = sorted(self.objects.get(key, {}).items(), key=lambda item: item[0])
        return known

    # -- changing ---------------------------------------------------------------------------------------------

    def put(self, body: Body) -> Body:
        """Add or replace an object. Missing uid, creation time and version are filled in.

        Stored bodies are never modified in place, because list snapshots may reference them.
        """
        kind = self.kinds.of_body(body)
        table = self.objects.setdefault(kind.storage_key, {})
        name = object_key(kind, body)
        before = table.get(name)
        self._complete(kind, body, before)
        table[name] = body
        self._sorted.pop(kind.storage_key, None)
        if kind.storage_key == DEFINITIONS:
            self.kinds.define(body)
        self._tell("MODIFIED" if before is not None else "ADDED", kind, body, before)
        return body

    def remove(self, kind: Kind, name: str, namespace: str = "") -> Body | None:
        """Remove an object and return it."""
        table = self.objects.get(kind.storage_key, {})
        body = table.pop(f"{namespace}/{name}" if namespace else name, None)
        if body is None:
            return None
        self._sorted.pop(kind.storage_key, None)
        if kind.storage_key == DEFINITIONS:
            self.kinds.forget(body)
        self.revision += 1
        last = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.revision)}}
        self.feed.tell(Change("DELETED", kind.storage_key, self.revision, last, body))
        return last

    def compact(self) -> None:
        """Drop the history, like etcd's compaction every five minutes: old continue tokens and watches get 410."""
        self.feed.compact(self.revision)

    def grant(self, user: str, rules: list[Body], *, name: str = "", kind: str = "User") -> None:
        """Grant a user permissions: adds a ClusterRole with these rules and a binding."""
        role = name or f"grant-{uuid.uuid5(uuid.NAMESPACE_URL, user)}"
        api = "rbac.authorization.k8s.io"
        self.put({"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": role}, "rules": rules})
        self.put(
            {
                "apiVersion": f"{api}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": role},
                "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": api, "kind": kind, "name": user}],
            }
        )

    def _tell(self, type_: Literal["ADDED", "MODIFIED"], kind: Kind, body: Body, before: Body | None) -> None:
        self.feed.tell(Change(type_, kind.storage_key, self.revision, body, before))

    def _complete(self, kind: Kind, body: Body, before: Body | None) -> None:
        metadata = body.setdefault("metadata", {})
        if kind.namespaced:
            metadata.setdefault("namespace", "default")
        old = (before or {}).get("metadata", {})
        if "uid" not in metadata:
            path = "/".join((*kind.storage_key, str(metadata.get("namespace", "")), metadata["name"]))
            # Deterministic uids: recreating an object gives a new uid, reloading the world gives the same ones.
            metadata["uid"] = old.get("uid") or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{path}#{self.revision}"))
        metadata.setdefault("creationTimestamp", old.get("creationTimestamp") or stamp(self.clock()))
        self.revision += 1
        metadata["resourceVersion"] = str(self.revision)


def object_key(kind: Kind, body: Body) -> str:
    """`namespace/name`, or `name` for cluster-scoped objects."""
    metadata = body["metadata"]
    if not kind.namespaced:
        return str(metadata["name"])
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"

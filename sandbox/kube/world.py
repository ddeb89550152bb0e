"""What one cluster's API server holds, as plain wire bodies. The server answers from it; a write changes it."""

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
    """A time as Kubernetes writes it: whole seconds and Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody the API server knows by a token that never changes: a service account, or a local user."""

    user: str
    groups: tuple[str, ...] = ()
    token: str = ""

    @classmethod
    def service_account(cls, namespace: str, name: str, token: str) -> Account:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return cls(f"system:serviceaccount:{namespace}:{name}", groups, token)


@dataclass
class Usage:
    """What the metrics server measured: quantities such as `250m` and `1Gi`."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node → {"cpu", "memory"}."""
    pods: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """`namespace/pod` → container → {"cpu", "memory"}."""
    answering: bool = True
    """A metrics server that is installed and does not answer: 503."""


@dataclass
class RunCommands:
    """How `az aks command invoke` fares on this cluster."""

    fails: str = ""
    """Why the pod that should run the command fails, such as ImagePullBackOff: the command ends Failed."""
    never_starts: bool = False
    """The pod finds no node in time: the command is refused at once."""
    polls: int = 1
    """How often the result is still `Running` when it is asked for."""
    output_limit: int = 512 * 1024


@dataclass(frozen=True, slots=True)
class Run:
    """What a container of some image does: it writes this, and ends."""

    log: str
    exit_code: int = 0


@dataclass
class KubeWorld:
    """One cluster. `objects` are kept by (group, version, plural), and there by `namespace/name` or `name`."""

    objects: dict[StorageKey, dict[str, Body]] = field(default_factory=dict)
    kinds: KindRegistry = field(default_factory=KindRegistry)
    version: str = "v1.33.6"
    """What `/version` says."""
    reachable: bool = True
    """Whether anything answers at the address. A private cluster's is silent from outside."""
    refuses: bool = False
    """Not reachable, and the connection is refused at once: nothing listens."""
    not_ready: dict[str, str] = field(default_factory=dict)
    """Checks of `/readyz` and `/livez` that fail, with the reason, such as {"etcd": "reason withheld"}."""
    usage: Usage | None = field(default_factory=Usage)
    """None where there is no metrics server."""
    logs: dict[str, str] = field(default_factory=dict)
    """What containers wrote, by `namespace/pod/container`; `…/container:previous` for the one before the restart."""
    runs: dict[str, Run] = field(default_factory=dict)
    """What a pod that is not restarted does, by its image. Of others nobody knows what is in them: they wait."""
    accounts: list[Account] = field(default_factory=list)
    entra_groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The Entra groups (object ids) of a principal, by its object id."""
    run_commands: RunCommands = field(default_factory=RunCommands)
    controllers: bool = True
    """Whether anything acts on what is written: kubelets, the disruption controller, the garbage collector."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    revision: int = 1000
    feed: Feed = field(default_factory=Feed)
    _sorted: dict[StorageKey, list[tuple[str, Body]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for body in bootstrap_objects():
            self.put(body)

    @classmethod
    def of(cls, objects: Iterable[Body], **facts: Any) -> KubeWorld:
        """A world of these objects; a custom kind's definition comes before its objects."""
        world = cls(**facts)
        for body in objects:
            world.put(body)
        return world

    # -- reading ----------------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str, namespace: str = "") -> Body | None:
        return self.objects.get(kind.storage_key, {}).get(f"{namespace}/{name}" if namespace else name)

    def find(self, plural: str, name: str, namespace: str = "", group: str | None = None) -> Body | None:
        """An object by the plural of its kind, for whoever does not want to spell out the version."""
        return self._table(plural, group).get(f"{namespace}/{name}" if namespace else name)

    def every(self, plural: str, namespace: str | None = None, group: str | None = None) -> Iterator[Body]:
        """All objects of a kind, or those of one namespace."""
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
        """All objects of a kind in etcd's order, as they are now. The list never changes: a write makes a new one."""
        known = self._sorted.get(key)
        if known is None:
            known = self._sorted[key] = sorted(self.objects.get(key, {}).items(), key=lambda item: item[0])
        return known

    # -- changing ---------------------------------------------------------------------------------------------

    def put(self, body: Body) -> Body:
        """Add or replace an object. What every object has (uid, creation time, version) is filled in where missing.

        A body that is in the world is never changed in place: who reads a list may still hold it.
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
        """Take an object out of the world; what it was."""
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
        """Forget the past, as etcd does every five minutes: old continue tokens and watches end with 410."""
        self.feed.compact(self.revision)

    def grant(self, user: str, rules: list[Body], *, name: str = "", kind: str = "User") -> None:
        """Let somebody do something: a ClusterRole with these rules and its binding."""
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
            # Two objects of one name, one after the other, have different uids; two loads of one world have the same.
            metadata["uid"] = old.get("uid") or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{path}#{self.revision}"))
        metadata.setdefault("creationTimestamp", old.get("creationTimestamp") or stamp(self.clock()))
        self.revision += 1
        metadata["resourceVersion"] = str(self.revision)


def object_key(kind: Kind, body: Body) -> str:
    """`namespace/name`, or `name` for what belongs to the whole cluster."""
    metadata = body["metadata"]
    if not kind.namespaced:
        return str(metadata["name"])
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"

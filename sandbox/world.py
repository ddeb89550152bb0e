"""The Azure resources as wire bodies: filled by a scenario, served by the server, changed by writes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sandbox.kube.world import KubeWorld
from sandbox.merge import merged
from sandbox.mirror import repeat_in_parent
from sandbox.objects import field_of, find_object, patch_object, remove_object, replace_object

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Principal:
    """A service principal. `actions` and `not_actions` are Azure action patterns, as in a role definition."""

    name: str
    client_id: str
    object_id: str
    secret: str
    actions: tuple[str, ...] = ("*/read",)
    not_actions: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ("/",)
    """Where the actions are allowed: ids of subscriptions, groups or resources. The default is everywhere."""


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a write on one resource: a JSON merge patch, a replacement body, or a deletion."""

    id: str
    patch: Body | None = None
    body: Body | None = None
    delete: bool = False
    cluster: str = ""
    """If set, the id of a managed cluster: the change is to an object in it, and `id` is `namespace/Kind/name`."""
    where: Body = field(default_factory=dict)
    """Field values that select among rows with the same name (a VM size has one row per location)."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that must still be so: a resource or quota row exists (or does not), says a value, or has too little
    room."""

    id: str
    path: tuple[str, ...] = ()
    equals: Any = None
    room_below: int | None = None
    cluster: str = ""
    """As in Change: the cause is an object inside this cluster."""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class WriteRule:
    """What happens after a write to one resource. Without a rule a write stores what was sent and succeeds."""

    method: str
    id: str
    action: str = ""
    """The last path segment of a POST, for example `updateInstances`."""
    interim: tuple[str, ...] = ()
    """Status texts that the operation shows, one per poll, before it ends."""
    ends: str = "Succeeded"
    error: Body | None = None
    then: tuple[Change, ...] = ()
    refuse: tuple[int, Body] | None = None
    """Reject the write immediately with this status and body, changing nothing."""
    times: int | None = None
    """How often the rule applies; after that, the next matching rule (or the default) applies."""
    only_while: Cause | None = None
    """The rule applies only while this cause holds (`World.holds`): a retry after the cause is fixed succeeds."""


Points = tuple[tuple[datetime, float], ...]
"""Timestamped values in order, interpolated linearly."""


@dataclass
class World:
    """All readable resources and tables, keyed by lower-case id or path."""

    tenant_id: str
    resources: dict[str, Body] = field(default_factory=dict)
    """Every resource with an id: subscriptions, groups, clusters, pools, locks, role assignments, settings…"""
    tables: dict[str, list[Body]] = field(default_factory=dict)
    """Lists whose rows have no id of their own, by lower-case path: usages, SKUs."""
    events: list[Body] = field(default_factory=list)
    """The activity log events of all subscriptions, as wire bodies."""
    policy_states: list[Body] = field(default_factory=list)
    principals: list[Principal] = field(default_factory=list)
    writes: list[WriteRule] = field(default_factory=list)
    unindexed: set[str] = field(default_factory=set)
    """Lower-case ids not yet in Resource Graph, which lags by minutes."""
    cloud_as_of: str = ""
    """The date of this cloud's api-versions, as sovereign clouds and Azure Stack lag behind; empty for today's."""
    metrics: dict[str, dict[str, dict[str, Points]]] = field(default_factory=dict)
    """Azure Monitor's node metrics, by lower-case cluster id, metric and node. Missing ones are generated."""
    logs: dict[str, list[Body]] = field(default_factory=dict)
    """The rows of Log Analytics, by lower-case workspace id; `Table` says which table holds a row."""
    logs_empty: set[str] = field(default_factory=set)
    """Lower-case ids of workspaces to which nothing has been sent yet, so that they lack their tables."""
    logs_in_part: bool = False
    """Whether queries are answered in part only, which Log Analytics says inside a 200."""
    latency_s: float = 0.0
    kubes: dict[str, KubeWorld] = field(default_factory=dict)
    """The Kubernetes objects of each cluster, by lower-case cluster id."""

    def put(self, body: Body) -> None:
        """Add or replace a resource; its id keeps its case."""
        key = body["id"].lower()
        self.resources[key] = body
        repeat_in_parent(self.resources, key)

    def apply(self, change: Change) -> None:
        """Apply one change to a resource or to rows of a table; patching a missing resource creates it."""
        if change.cluster:
            self._apply_inside(change)
            return
        key = change.id.lower()
        rows = [] if key in self.resources else self.rows(change.id, change.where)
        if change.delete:
            self.resources.pop(key, None)
            repeat_in_parent(self.resources, key)
        elif change.body is not None:
            self.put(deepcopy(change.body))
        elif change.patch is not None and rows:
            for row in rows:
                row.update(merged(row, change.patch))
        elif change.patch is not None:
            self.put(merged(self.resources.get(key, {"id": change.id}), change.patch))

    def _apply_inside(self, change: Change) -> None:
        kube = self.kubes[change.cluster.lower()]
        if change.delete:
            remove_object(kube, change.id)
        elif change.body is not None:
            replace_object(kube, change.id, change.body)
        elif change.patch is not None and find_object(kube, change.id) is not None:
            patch_object(kube, change.id, change.patch)

    def usage(self, row_id: str) -> Body | None:
        """The quota row with an id such as `…/locations/westeurope/usages/cores`."""
        return next(iter(self.rows(row_id)), None)

    def rows(self, row_id: str, where: Mapping[str, Any] = MappingProxyType({})) -> list[Body]:
        """The rows of a table named by the last segment of such an id, whose fields have these values."""
        path, _, name = row_id.lower().rpartition("/")
        named = [row for row in self.tables.get(path, []) if _row_name(row).lower() == name]
        return [row for row in named if all(field_of(row, key) == value for key, value in where.items())]

    def holds(self, cause: Cause) -> bool:
        """Whether a cause still applies."""
        if cause.cluster:
            body = find_object(self.kubes[cause.cluster.lower()], cause.id)
        else:
            body = self.resources.get(cause.id.lower()) or self.usage(cause.id)
        if body is None or cause.absent:
            return body is None and cause.absent
        if cause.room_below is not None:
            return bool(body["limit"] - body["currentValue"] < cause.room_below)
        return not cause.path or bool(field_of(body, ".".join(cause.path)) == cause.equals)


def _row_name(row: Body) -> str:
    """A row's name: quota rows have two (`value` is the API name), sizes have one."""
    name = row["name"]
    return str(name["value"] if isinstance(name, dict) else name)

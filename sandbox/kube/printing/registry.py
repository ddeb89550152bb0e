"""The columns by kind; the default is name and age."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.kube.jsonpath import find
from sandbox.kube.kinds import Column, Kind
from sandbox.kube.printing import others, pods, workloads
from sandbox.kube.printing.cells import Printed, age, name, since

Body = dict[str, Any]

_COLUMNS: dict[str, tuple[Printed, ...]] = {
    "nodes": pods.NODES,
    "pods": pods.PODS,
    "deployments.apps": workloads.DEPLOYMENTS,
    "replicasets.apps": workloads.REPLICA_SETS,
    "statefulsets.apps": workloads.STATEFUL_SETS,
    "daemonsets.apps": workloads.DAEMON_SETS,
    "jobs.batch": workloads.JOBS,
    "poddisruptionbudgets.policy": workloads.BUDGETS,
    "namespaces": others.NAMESPACES,
    "services": others.SERVICES,
    "events": others.EVENTS,
    "configmaps": others.CONFIG_MAPS,
    "secrets": others.SECRETS,
    "serviceaccounts": others.SERVICE_ACCOUNTS,
    "persistentvolumes": others.VOLUMES,
    "persistentvolumeclaims": others.CLAIMS,
    "leases.coordination.k8s.io": others.LEASES,
    "clusterroles.rbac.authorization.k8s.io": others.ROLES,
    "roles.rbac.authorization.k8s.io": others.ROLES,
    "clusterrolebindings.rbac.authorization.k8s.io": others.BINDINGS,
    "rolebindings.rbac.authorization.k8s.io": others.BINDINGS,
    "customresourcedefinitions.apiextensions.k8s.io": others.ROLES,
}
_DEFAULT = (Printed("Name", name), Printed("Age", age))


def printed_columns(kind: Kind) -> tuple[Printed, ...]:
    if kind.columns is not None:
        return (_DEFAULT[0], *(_custom(column) for column in kind.columns))
    return _COLUMNS.get(kind.qualified, _DEFAULT)


def columns_of(kind: Kind) -> list[Body]:
    return [column.definition() for column in printed_columns(kind)]


def row_of(kind: Kind, body: Body, now: datetime) -> list[Any]:
    return [column.cell(body, now) for column in printed_columns(kind)]


def _custom(column: Column) -> Printed:
    def cell(body: Body, now: datetime) -> Any:
        found = find(column.path, body)
        if not found:
            return None
        if column.type == "date":
            return since(str(found[0]), now)
        return found[0] if column.type in ("integer", "number", "boolean") else str(found[0])

    return Printed(column.name, cell, wide=column.priority > 0, type=column.type)

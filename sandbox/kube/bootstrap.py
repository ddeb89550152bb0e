"""The objects that every new cluster has."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Body = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"


def bootstrap_objects() -> Iterator[Body]:
    """A fresh copy per call, because a world modifies its objects."""
    table = _table()
    for name in table["namespaces"]:
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
    for name, role in table["cluster_roles"].items():
        yield {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
            "rules": deepcopy(role["rules"]),
        }
    for name, binding in table["cluster_role_bindings"].items():
        yield {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": binding["role"]},
            "subjects": [{"apiGroup": _RBAC, **subject} for subject in binding["subjects"]],
        }


@cache
def _table() -> Body:
    text = Path(__file__).with_name("bootstrap.yaml").read_text(encoding="utf-8")
    table: Body = yaml.safe_load(text)
    return table

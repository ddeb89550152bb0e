"""The compact description of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["Deployment", "StatefulSet", "DaemonSet"]


@dataclass(frozen=True)
class Workload:
    """One Deployment, StatefulSet or DaemonSet with its budget and service."""

    namespace: str
    name: str
    image: str
    kind: Kind = "Deployment"
    replicas: int = 1
    group: str = "apps"
    """The node group its pods run on (see seats.py)."""
    labels: Mapping[str, str] = field(default_factory=dict)
    cpu: str = "50m"
    memory: str = "64Mi"
    limit: str = "256Mi"
    priority: str = ""
    on_host: bool = False
    budget: Mapping[str, int | str] | None = None
    """The spec of its PodDisruptionBudget, without the selector."""
    budget_name: str = ""
    port: int | None = None

    @property
    def selector(self) -> Mapping[str, str]:
        return self.labels or {"app": self.name}

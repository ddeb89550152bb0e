"""Pod disruption budgets and their arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload
from sandbox.kube.world import stamp
from sandbox.world import Body


def budget_body(scene: Scene, work: Workload, running: int) -> Body:
    """The budget of a workload whose pods are all running."""
    spec = work.budget or {}
    needed = needed_by(spec, running)
    allowed = max(0, running - needed)
    told = stamp(scene.rolled + timedelta(minutes=3))
    reason = "SufficientPods" if allowed else "InsufficientPods"
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": scene.meta("PodDisruptionBudget", work.budget_name or work.name, work.namespace, generation=1),
        "spec": {**spec, "selector": {"matchLabels": dict(work.selector)}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": running,
            "desiredHealthy": needed,
            "expectedPods": running,
            "conditions": [
                {
                    "type": "DisruptionAllowed",
                    "status": "True" if allowed else "False",
                    "observedGeneration": 1,
                    "lastTransitionTime": told,
                    "reason": reason,
                    "message": "",
                }
            ],
        },
    }


def needed_by(spec: Mapping[str, int | str], running: int) -> int:
    """How many healthy pods a budget requires; percentages are rounded up, as in its controller."""
    if "minAvailable" in spec:
        return min(_share(spec["minAvailable"], running), running)
    return max(0, running - _share(spec["maxUnavailable"], running))


def _share(value: int | str, of: int) -> int:
    return value if isinstance(value, int) else -(-of * int(value.rstrip("%")) // 100)

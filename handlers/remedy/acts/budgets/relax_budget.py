"""Relax a PodDisruptionBudget that allows no eviction, so that one pod at a time can be evicted."""

from __future__ import annotations

from handlers.evidence.budgets import RELAXED_FROM
from handlers.remedy.acts.act import Answered, Done, Scene, Sending, Stopped, Wait, stale, unknown
from handlers.remedy.acts.budgets.budget import Relaxed, annotations_of, path_of, relaxed_from, relaxing_patch


class RelaxBudget:
    """The original is stored in an annotation by the same patch: whoever finds it can restore it."""

    async def prepare(self, scene: Scene) -> Sending | Stopped:
        wanted, path = scene.step.arguments, budget_path(scene)
        body = await scene.write_clients.kube.get(path)
        name, spec = body["metadata"]["name"], body["spec"]
        if body["metadata"]["uid"] != wanted["uid"]:
            return stale(f"budget {name} was deleted and made again since the plan")
        if was := relaxed_from(body):
            return stale(f"budget {name} is relaxed already, since {was.at} (fix {was.execution})")
        if RELAXED_FROM in annotations_of(body):
            return stale(f"budget {name} says that it is relaxed, in a way that cannot be read: restore it by hand")
        if spec != wanted["spec"]:
            return stale(f"budget {name} was changed since the plan")
        relaxed = {"maxUnavailable": wanted["max_unavailable"]}
        patch = relaxing_patch(body, Relaxed(scene.execution, scene.now.isoformat(), spec, relaxed))

        async def send(_: str) -> Answered:
            await scene.write_clients.kube.merge_patch(path, patch)
            return Answered("200")

        return Sending("PATCH", path, send, {"version": body["metadata"]["resourceVersion"]})

    async def look_back(self, scene: Scene) -> Wait | Done | Stopped:
        body = await scene.write_clients.kube.get(budget_path(scene))
        was, name = relaxed_from(body), scene.step.arguments["name"]
        if was is not None and was.execution == scene.execution:
            return Done(f"budget {name} lets one pod go at a time: the annotation tells that it was us")
        if not scene.has_settled:
            return Wait()
        # The step that always restores the budget comes next and sees the same state.
        return unknown(
            f"{scene.lost(f'the relaxing of budget {name}')}, and nothing is sent twice: it is not relaxed",
            f"Look at budget {name} (kubectl get pdb -n {scene.step.arguments['namespace']} {name}). "
            "If it is as it was, check again and start a new fix.",
        )

    async def follow(self, scene: Scene) -> Done:
        return Done(f"budget {scene.step.arguments['name']} lets one pod go at a time")

    def give_up(self, scene: Scene) -> None:
        """A step of its own restores it."""


def budget_path(scene: Scene) -> str:
    return path_of(scene.step.arguments["namespace"], scene.step.arguments["name"])

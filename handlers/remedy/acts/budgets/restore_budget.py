"""Restore a relaxed PodDisruptionBudget."""

from __future__ import annotations

from handlers.clients.errors import NotFound
from handlers.remedy.acts.act import Again, Answered, Done, Scene, Sending, Stopped, backoff, failed
from handlers.remedy.acts.budgets.budget import ours_of, relaxed_from, restoring_patch, was_changed_by_others
from handlers.remedy.acts.budgets.relax_budget import budget_path


class RestoreBudget:
    """It reads before it writes, so it may be repeated until the budget is restored."""

    async def prepare(self, scene: Scene) -> Sending | Done | Stopped:
        wanted, path = scene.step.arguments, budget_path(scene)
        try:
            body = await scene.write_clients.kube.get(path)
        except NotFound:
            return Done(f"budget {wanted['name']} is not there any more: there is nothing to restore")
        if body["metadata"]["uid"] != wanted["uid"]:
            return Done(f"budget {wanted['name']} was recreated meanwhile: it was left alone")
        was = relaxed_from(body)
        if was is None:
            if ours_of(body["spec"]) == ours_of(wanted["spec"]):
                return Done(f"budget {wanted['name']} is as it was")
            return failed(
                f"budget {wanted['name']} is neither relaxed by us nor as it was: someone has changed it. "
                f"It was left alone; compare it with {ours_of(wanted['spec'])}"
            )
        if was.execution != scene.execution:
            return Done(f"budget {wanted['name']} is relaxed by another fix ({was.execution}), which restores it")
        patch = restoring_patch(body, was)
        changed = was_changed_by_others(body, was)

        async def send(_: str) -> Answered:
            await scene.write_clients.kube.merge_patch(path, patch)
            return Answered("200")

        return Sending("PATCH", path, send, {**scene.data, "changed": changed})

    async def look_back(self, scene: Scene) -> Again:
        tries = int(scene.data.get("tries", 0)) + 1
        says = "it is unknown whether the budget was put back: it is read, and put back if it was not"
        return Again({"tries": tries}, says if tries == 1 else "", backoff(tries))

    async def follow(self, scene: Scene) -> Done | Stopped:
        name = scene.step.arguments["name"]
        if scene.data.get("changed"):
            return failed(
                f"someone has changed budget {name} while it was relaxed: their values were kept, and only our "
                f"annotation was removed. It was {ours_of(scene.step.arguments['spec'])} before"
            )
        return Done(f"budget {name} is as it was")

    def give_up(self, scene: Scene) -> None:
        """This is the clean-up itself."""

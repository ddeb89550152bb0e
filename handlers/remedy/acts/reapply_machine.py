"""Reapply a virtual machine, and wait until its node is Ready."""

from __future__ import annotations

from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, stale
from handlers.remedy.acts.follow_arm import COMPUTE_API, answered, find_sent_write, follow_operation, is_busy, state_of
from handlers.remedy.acts.node_back import machine_is_done, node_is_back
from handlers.resource_id import last_name


class ReapplyMachine:
    """One virtual machine."""

    async def prepare(self, scene: Scene) -> Sending | Done | Stopped:
        target = scene.step.target
        raw = await scene.write_clients.arm.read(target, COMPUTE_API)
        state = state_of(raw.body)
        if state.lower() == "succeeded":
            return Done(f"{last_name(target)} is {state} meanwhile: it was left alone")
        if is_busy(state):
            return stale(f"{last_name(target)} is {state}: another operation has begun")

        async def send(request_id: str) -> Answered:
            return answered(
                await scene.write_clients.arm.post(f"{target}/reapply", raw.api_version, request_id=request_id)
            )

        return Sending("POST", f"{target}/reapply", send, {"state": state})

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        return await find_sent_write(scene, scene.step.target, COMPUTE_API)

    async def follow(self, scene: Scene) -> Wait | Going | Done | Stopped:
        if "machine_done_at" in scene.data:
            return await node_is_back(scene)
        return await follow_operation(scene, scene.step.target, COMPUTE_API) or machine_is_done(scene)

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""

"""Abort the latest operation of a cluster or a node pool."""

from __future__ import annotations

from handlers.clients.arm.operation import State, Via, of_resource
from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, stale
from handlers.remedy.acts.follow_arm import (
    AKS_API,
    answered,
    etag_of,
    find_sent_write,
    follow_operation,
    is_busy,
    state_of,
)
from handlers.resource_id import last_name


class AbortLatest:
    """Done when the operation is Canceled."""

    async def prepare(self, scene: Scene) -> Sending | Stopped:
        target = scene.step.target
        raw = await scene.write_clients.arm.read(target, AKS_API)
        state = state_of(raw.body)
        if not is_busy(state):
            return stale(f"{last_name(target)} is {state}: the operation has ended by itself")

        async def send(request_id: str) -> Answered:
            return answered(
                await scene.write_clients.arm.post(f"{target}/abort", raw.api_version, request_id=request_id)
            )

        return Sending("POST", f"{target}/abort", send, {"state": state, "etag": etag_of(raw.body)})

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        return await find_sent_write(scene, scene.step.target, AKS_API)

    async def follow(self, scene: Scene) -> Wait | Going | Done | Stopped:
        target = scene.step.target
        if scene.data.get("via") != Via.RESOURCE.value:
            going = await follow_operation(scene, target, AKS_API)
            if going is not None:
                return going
        body = await scene.write_clients.arm.get(target, AKS_API)
        progress = of_resource(target, body, scene.request_id, None)
        if progress.state is State.RUNNING:
            return Wait()
        return Done(f"the operation has ended: {last_name(target)} is {progress.said}")

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""

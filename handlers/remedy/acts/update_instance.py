"""Update one scale set instance to the latest model, and wait until its node is Ready."""

from __future__ import annotations

from handlers.clients.errors import NotFound
from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, failed, stale
from handlers.remedy.acts.follow_arm import COMPUTE_API, answered, find_sent_write, follow_operation, is_busy, state_of
from handlers.remedy.acts.node_back import machine_is_done, node_is_back
from handlers.resource_id import last_name


class UpdateInstance:
    """Exactly one instance, by its id; never all of them."""

    async def prepare(self, scene: Scene) -> Sending | Done | Stopped:
        target, number = scene.step.target, str(scene.step.arguments["instance_id"])
        if not number or number == "*":
            return failed("an instance must be named by its number; nothing was sent")
        try:
            raw = await scene.write_clients.arm.read(scene.step.arguments["machine"], COMPUTE_API)
        except NotFound:
            return stale(f"instance {number} of {last_name(target)} is not there any more")
        machine, state = raw.body, state_of(raw.body)
        if state.lower() == "succeeded":
            return Done(f"instance {number} is {state} meanwhile: it was left alone")
        if state.lower() != "failed":
            return stale(f"instance {number} was Failed, is {state}")
        if machine["properties"].get("latestModelApplied") is not True:
            return stale(f"instance {number} has not the latest model any more: updating it would re-image the node")

        async def send(request_id: str) -> Answered:
            body = {"instanceIds": [number]}
            path = f"{target}/manualupgrade"
            return answered(await scene.write_clients.arm.post(path, raw.api_version, body, request_id=request_id))

        return Sending("POST", f"{target}/manualupgrade", send, {"state": state})

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        return await find_sent_write(scene, scene.step.arguments["machine"], COMPUTE_API, written=scene.step.target)

    async def follow(self, scene: Scene) -> Wait | Going | Done | Stopped:
        if "machine_done_at" in scene.data:
            return await node_is_back(scene)
        machine = str(scene.step.arguments["machine"])
        going = await follow_operation(scene, machine, COMPUTE_API)
        if going is not None:
            return going
        state = state_of(await scene.write_clients.arm.get(machine, COMPUTE_API))
        if is_busy(state):
            return Wait()
        return machine_is_done(scene) if state.lower() == "succeeded" else failed(f"{last_name(machine)} is {state}")

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""

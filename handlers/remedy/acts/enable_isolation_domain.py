"""Enable an isolation domain of the network fabric, and wait until it is Enabled."""

from __future__ import annotations

from typing import Any

from handlers.evidence.nexus.fabric import FABRIC_API
from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, failed, stale
from handlers.remedy.acts.follow_arm import answered, find_sent_write, follow_operation, is_busy, state_of
from handlers.resource_id import last_name


class EnableIsolationDomain:
    """One isolation domain. Enabling it twice does no harm; it is sent once all the same."""

    async def prepare(self, scene: Scene) -> Sending | Done | Stopped:
        target = scene.step.target
        raw = await scene.write_clients.arm.read(target, FABRIC_API)
        state = state_of(raw.body)
        if is_busy(state):
            return stale(f"{last_name(target)} is {state}: another operation has begun")
        if _administrative(raw.body) == "enabled" and state.lower() == "succeeded":
            return Done(f"{last_name(target)} is Enabled meanwhile: it was left alone")

        async def send(request_id: str) -> Answered:
            action = f"{target}/updateAdministrativeState"
            wanted = {"state": "Enable", "resourceIds": [target]}
            return answered(await scene.write_clients.arm.post(action, raw.api_version, wanted, request_id=request_id))

        return Sending("POST", f"{target}/updateAdministrativeState", send, {"state": state})

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        return await find_sent_write(scene, scene.step.target, FABRIC_API)

    async def follow(self, scene: Scene) -> Wait | Going | Done | Stopped:
        target = scene.step.target
        if going := await follow_operation(scene, target, FABRIC_API):
            return going
        body = await scene.write_clients.arm.get(target, FABRIC_API)
        state = _administrative(body)
        if state == "enabled":
            return Done(f"{last_name(target)} is Enabled")
        if scene.has_settled:
            return failed(f"Azure has ended the operation, and {last_name(target)} is {state or 'without a state'}")
        return Wait()

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""


def _administrative(body: Any) -> str:
    properties = body.get("properties") if isinstance(body, dict) else None
    return str(properties.get("administrativeState") or "").lower() if isinstance(properties, dict) else ""

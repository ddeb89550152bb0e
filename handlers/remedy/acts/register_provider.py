"""Register a resource provider, and wait until it is registered."""

from __future__ import annotations

from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, stale, unknown

PROVIDERS_API = "2021-04-01"


class RegisterProvider:
    """Registering twice does no harm; it is sent once all the same."""

    async def prepare(self, scene: Scene) -> Sending | Going | Done | Stopped:
        path, namespace = _path(scene), scene.step.arguments["namespace"]
        state = await _state(scene)
        if state == "registered":
            return Done(f"{namespace} is registered already")
        if state == "registering":
            return Going({}, says=f"{namespace} is being registered already")
        if state not in ("notregistered", "unregistered"):
            return stale(f"{namespace} is {state}")

        async def send(request_id: str) -> Answered:
            arm, action = scene.write_clients.arm, f"{path}/register"
            sent = await arm.post(action, arm.to_ask_in(action, PROVIDERS_API), request_id=request_id)
            return Answered(str(sent.status), {}, sent.correlation_id)

        return Sending("POST", f"{path}/register", send)

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        state, namespace = await _state(scene), scene.step.arguments["namespace"]
        if state in ("registered", "registering"):
            return Going({}, 0.0, f"{namespace} is {state}: Azure has the request, or someone else's")
        if not scene.has_settled:
            return Wait()
        return unknown(
            f"{scene.lost('the request')}, and it is never sent twice: {namespace} is {state} as before",
            f"Look at {namespace} (az provider show --namespace {namespace} --query registrationState). "
            "If it is Registered, nothing is left to do; if not, check again and start a new fix.",
        )

    async def follow(self, scene: Scene) -> Wait | Done | Stopped:
        state, namespace = await _state(scene), scene.step.arguments["namespace"]
        if state == "registered":
            return Done(f"{namespace} is registered")
        # A read right after the request may still return the old state.
        if state != "registering" and scene.has_settled:
            return stale(f"{namespace} is {state}: it is being unregistered, or Azure did not take the request")
        return Wait()

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""


def _path(scene: Scene) -> str:
    return f"{scene.step.target.rstrip('/')}/providers/{scene.step.arguments['namespace']}"


async def _state(scene: Scene) -> str:
    body = await scene.write_clients.arm.get(_path(scene), PROVIDERS_API)
    return str(body.get("registrationState", "")).lower()

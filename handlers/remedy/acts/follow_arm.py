"""Long-running writes to Azure: sent once, followed by their operation, and searched for if their fate is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from handlers.clients.arm.activity_log import span
from handlers.clients.arm.operation import Progress, State, Via
from handlers.clients.arm.writer import Operation
from handlers.clients.errors import NotFollowed, NotFound, Refused
from handlers.evidence.errors import innermost
from handlers.remedy.acts.act import LOOK_AGAIN_S, Answered, Going, Scene, Stopped, Wait, failed, unknown
from handlers.resource_id import ResourceId, last_name, same

AKS_API = "2026-08-01"
COMPUTE_API = "2024-11-01"
_LOG_API = "2015-04-01"
_LOG = "Microsoft.Insights/eventtypes/management/values"
LOG_PATIENCE = timedelta(minutes=15)
"""The activity log tells of most events within minutes; of some only after a quarter of an hour."""
LONGEST_WAIT_S = 60.0
ENDED = frozenset({"succeeded", "failed", "canceled", "cancelled"})


def answered(operation: Operation) -> Answered:
    progress = operation.progress
    data = {"url": progress.url, "via": progress.via.value, "ended": progress.ended, "said": progress.said}
    wait = 0.0 if progress.ended else pause(progress)
    return Answered(str(operation.status), data, operation.correlation_id, wait)


def pause(progress: Progress) -> float:
    asked = progress.retry_after_s
    return LOOK_AGAIN_S if asked is None else min(asked, LONGEST_WAIT_S)


def state_of(body: Any) -> str:
    properties = body.get("properties") if isinstance(body, Mapping) else None
    return str(properties.get("provisioningState") or "") if isinstance(properties, Mapping) else ""


def is_busy(state: str) -> bool:
    return bool(state) and state.lower() not in ENDED


def etag_of(body: Mapping[str, Any]) -> str:
    for holder in (body, body.get("properties")):
        for name in ("eTag", "etag"):
            if isinstance(holder, Mapping) and isinstance(holder.get(name), str):
                return str(holder[name])
    return ""


async def follow_operation(scene: Scene, subject: str, api_version: str) -> Going | Stopped | None:
    """Poll once. None: it has succeeded. If Azure has forgotten the operation, the resource itself is read."""
    url, via = str(scene.data["url"]), Via(scene.data["via"])
    if scene.data.get("ended"):
        return None
    operation = scene.write_clients.arm.resume(url, via, scene.request_id)
    try:
        progress = await operation.poll()
    except (NotFound, NotFollowed) as lost:
        if via is Via.RESOURCE:
            return gone(subject)
        why = (
            "has forgotten the operation"
            if isinstance(lost, NotFound)
            else "gave no address to follow the operation at"
        )
        says = f"Azure {why}: what it was about is looked at instead"
        return Going({**scene.data, **of_resource(subject, api_version)}, 0.0, says)
    except Refused as refused:
        # A Location URL answers with the failure itself.
        if via is Via.LOCATION:
            return failed(f"Azure began and did not succeed: {told(refused.answer, refused.detail)}")
        raise
    if progress.state is State.RUNNING:
        data = {**scene.data, "url": progress.url, "via": progress.via.value, "said": progress.said}
        fresh = progress.said and progress.said != scene.data.get("said")
        return Going(data, pause(progress), f"Azure says: {progress.said}" if fresh else "")
    if progress.state is State.SUCCEEDED:
        return None
    why = told(progress.body, progress.error)
    return failed(f"Azure began and ended with {progress.state.value.capitalize()}: {why}")


def of_resource(subject: str, api_version: str) -> dict[str, Any]:
    return {"url": f"{subject}?api-version={api_version}", "via": Via.RESOURCE.value, "ended": False}


def told(body: Any, otherwise: str) -> str:
    """The innermost error of a failure: the outer ones only say that something below failed."""
    found = innermost(body)
    return str(found) if found else otherwise


def gone(subject: str) -> Stopped:
    return failed(f"{last_name(subject)} is not there any more")


async def find_sent_write(scene: Scene, subject: str, api_version: str, *, written: str = "") -> Wait | Going | Stopped:
    """Whether Azure received a write whose answer was lost. `written`: the resource it was sent to, if another."""
    body = await scene.write_clients.arm.get(subject, api_version)
    state, etag = state_of(body), etag_of(body)
    events = await _events(scene, written or subject)
    if any(_is(event, "failed") for event in events) and not is_busy(state):
        why = next(told(_message(event), "no reason was given") for event in events if _is(event, "failed"))
        return failed(f"Azure took the request and did not carry it out: {why}")
    if not scene.has_settled:
        return Wait(says=scene.once("it is unknown whether Azure has the request: checking"))
    if events:
        return _adopted(scene, subject, api_version, state, events)
    return _unproven(scene, subject, state, etag)


def _adopted(scene: Scene, subject: str, api_version: str, state: str, events: list[Mapping[str, Any]]) -> Wait | Going:
    """It is our write. A Failed state may be the old one as long as the activity log shows no end."""
    ended = any(_is(event, "succeeded") for event in events)
    if not ended and state.lower() == "failed" and scene.since("intended_at") < LOG_PATIENCE:
        return Wait(30.0)
    says = "Azure has the request: its activity log knows the request id. It is followed from there"
    return Going({**of_resource(subject, api_version), "ended": ended}, 0.0, says)


def _unproven(scene: Scene, subject: str, state: str, etag: str) -> Wait | Stopped:
    name = last_name(subject)
    was, was_tagged = str(scene.data.get("state", "")), str(scene.data.get("etag", ""))
    moved = state != was or (bool(was_tagged) and etag != was_tagged)
    if moved and scene.since("intended_at") < LOG_PATIENCE:
        return Wait(30.0)
    if moved and is_busy(state):
        return Wait(30.0)
    seen = (
        f"{name} was {was}, is {state}, and something wrote to it since; whose request that was cannot be told"
        if moved
        else f"{name} is {state or 'there'} as before, and Azure's activity log does not know the request"
    )
    return unknown(
        f"{scene.lost('the request')}, and it is never sent twice: {seen}",
        f"Look at {name} in the portal (Activity log, request id {scene.request_id}). "
        f"If it is well, nothing is left to do; if it is as before, check again and start a new fix.",
    )


async def _events(scene: Scene, written: str) -> list[Mapping[str, Any]]:
    """What the activity log says about our request."""
    resource = ResourceId.parse(written)
    since = scene.now - scene.since("intended_at") - timedelta(minutes=5)
    until = scene.now + timedelta(minutes=5)
    found = await scene.write_clients.reader.list(
        f"/subscriptions/{resource.subscription}/providers/{_LOG}",
        _LOG_API,
        params={"$filter": span(resource.resource_group or "", since, until)},
    )
    ours = [event for event in found.items if isinstance(event, Mapping) and _asked_by(event) == scene.request_id]
    return [event for event in ours if same(str(event.get("resourceId", "")), written)] or ours


def _asked_by(event: Mapping[str, Any]) -> str:
    request = event.get("httpRequest")
    return str(request.get("clientRequestId", "")) if isinstance(request, Mapping) else ""


def _is(event: Mapping[str, Any], status: str) -> bool:
    text = event.get("status")
    return isinstance(text, Mapping) and str(text.get("value", "")).lower() == status


def _message(event: Mapping[str, Any]) -> Any:
    properties = event.get("properties")
    return properties.get("statusMessage") if isinstance(properties, Mapping) else None

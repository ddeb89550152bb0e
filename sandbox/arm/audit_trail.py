"""Records writes in the activity log."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from sandbox.arm.paths import parse
from sandbox.arm.protocols import stamp
from sandbox.arm.site import Call, Site

Body = dict[str, Any]


def record(site: Site, call: Call, status: str, *, code: int | None = None, error: Body | None = None) -> None:
    """Record one event: Started when a write begins, Succeeded or Failed when it ends."""
    place = parse(call.place.parent) if call.method == "POST" and call.place.parent else call.place
    if not place.subscription:
        return
    now = site.clock()
    event_id = str(uuid.uuid4())
    begin = status == "Started"
    properties: Body = {
        "eventCategory": "Administrative",
        "entity": place.path,
        "message": call.action,
        "hierarchy": f"{site.world.tenant_id}/{place.subscription}",
    }
    if code is not None:
        properties["statusCode"] = HTTPStatus(code).phrase.replace(" ", "")
    if error is not None:
        properties["statusMessage"] = _message(error, code)
    event = {
        "authorization": {"action": call.action, "scope": place.path},
        "caller": call.principal.object_id,
        "channels": "Operation",
        "claims": {"appid": call.principal.client_id},
        "correlationId": call.correlation_id,
        "description": "",
        "eventDataId": event_id,
        "eventName": _localized("BeginRequest" if begin else "EndRequest"),
        "category": _localized("Administrative"),
        "eventTimestamp": stamp(now),
        "httpRequest": {
            "clientRequestId": call.headers.get("x-ms-client-request-id", call.request_id),
            "clientIpAddress": "127.0.0.1",
            "method": call.method,
        },
        "id": f"{place.path}/events/{event_id}/ticks/{int(now.timestamp() * 10_000_000) + 621_355_968_000_000_000}",
        "level": "Error" if status == "Failed" else "Informational",
        "resourceGroupName": place.group or "",
        "resourceProviderName": _localized(place.kind.split("/", 1)[0]),
        "resourceId": place.path,
        "resourceType": _localized(place.kind),
        "operationId": call.correlation_id,
        "operationName": _localized(call.action),
        "properties": properties,
        "status": _localized(status),
        "subStatus": _sub_status(code),
        "submissionTimestamp": stamp(now + timedelta(minutes=3)),
        "subscriptionId": place.subscription,
        "tenantId": site.world.tenant_id,
    }
    site.world.events.append(event)


def _localized(value: str) -> Body:
    return {"value": value, "localizedValue": value}


def _sub_status(code: int | None) -> Body:
    if code is None:
        return {"value": "", "localizedValue": ""}
    phrase = HTTPStatus(code).phrase
    return {"value": phrase.replace(" ", ""), "localizedValue": f"{phrase} (HTTP Status Code: {code})"}


def _message(error: Body, code: int | None) -> str:
    """A rejected request is logged with its response body; a failed operation's error is wrapped once more."""
    if code is not None:
        return json.dumps(error, separators=(",", ":"))
    outer = {
        "status": "Failed",
        "error": {
            "code": "ResourceOperationFailure",
            "message": "The resource operation completed with terminal provisioning state 'Failed'.",
            "details": [error],
        },
    }
    return json.dumps(outer, separators=(",", ":"))

"""Merges a request body into the stored resource."""

from __future__ import annotations

import uuid
from typing import Any

from sandbox.merge import merged

Body = dict[str, Any]

_READ_ONLY = {"id", "name", "type", "eTag", "etag", "systemData"}
_READ_ONLY_PROPERTIES = {
    "azurePortalFQDN",
    "currentKubernetesVersion",
    "currentOrchestratorVersion",
    "eTag",
    "etag",
    "fqdn",
    "instanceView",
    "maxAgentPools",
    "privateFQDN",
    "provisioningState",
    "resourceGuid",
    "resourceUID",
    "status",
    "timeCreated",
    "uniqueId",
    "vmId",
}


def stored(current: Body, sent: Body) -> Body:
    """The body to store after a PUT or PATCH: the sent values, except for those only the provider may set."""
    asked = {name: value for name, value in sent.items() if name not in _READ_ONLY}
    if isinstance(asked.get("properties"), dict):
        asked["properties"] = {
            name: value for name, value in asked["properties"].items() if name not in _READ_ONLY_PROPERTIES
        }
    result: Body = merged(current, asked)
    return result


def etag_of(body: Body) -> str | None:
    """The resource's eTag, wherever its provider puts it."""
    place = _etag_place(body)
    return None if place is None else str(place[0][place[1]])


def _etag_place(body: Body) -> tuple[Body, str] | None:
    for holder in (body, body.get("properties")):
        for name in ("eTag", "etag"):
            if isinstance(holder, dict) and isinstance(holder.get(name), str):
                return holder, name
    return None


def renew_etag(body: Body) -> None:
    """Change the eTag after a write, keeping its location and format."""
    place = _etag_place(body)
    if place is None:
        return
    holder, name = place
    old, new = holder[name], str(uuid.uuid4())
    holder[name] = f'W/"{new}"' if old.startswith("W/") else f'"{new}"' if old.startswith('"') else new

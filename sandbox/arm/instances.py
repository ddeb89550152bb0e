"""Instance views: omitted unless requested, and aggregated for a scale set."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer
from sandbox.arm.site import Call, Site

Body = dict[str, Any]


def without_instance_view(body: Body) -> Body:
    """Remove the instance view: Compute returns it only with `$expand=instanceView`."""
    if "instanceView" not in body.get("properties", {}):
        return body
    kept = {name: value for name, value in body["properties"].items() if name != "instanceView"}
    return {**body, "properties": kept}


def instance_view(site: Site, call: Call) -> Answer:
    """`…/instanceView` of a virtual machine, an instance or a scale set."""
    recorded = site.resource(call.place.path)
    if recorded is not None:
        return Answer(200, {name: value for name, value in recorded.items() if name != "id"})
    parent = site.resource(call.place.parent)
    if parent is None:
        raise errors.resource_not_found(call.place.display, call.place.group)
    view = parent.get("properties", {}).get("instanceView")
    if view is None and call.place.parent_kind.lower().endswith("scalesets"):
        view = _summary(site, parent)
    return Answer(200, view or {"statuses": []})


def _summary(site: Site, scale_set: Body) -> Body:
    below = scale_set["id"].lower() + "/virtualmachines/"
    views = [
        body.get("properties", {}).get("instanceView", {})
        for key, body in site.world.resources.items()
        if key.startswith(below) and "/" not in key[len(below) :]
    ]
    codes = Counter(_short(code) for view in views for code in _provisioning(view.get("statuses", ())))
    extensions: dict[str, Counter[str]] = {}
    for view in views:
        for extension in view.get("extensions", ()):
            counted = extensions.setdefault(extension["name"], Counter())
            counted.update(_short(code) for code in _provisioning(extension.get("statuses", ())))
    state = scale_set.get("properties", {}).get("provisioningState", "Succeeded").lower()
    return {
        "virtualMachine": {"statusesSummary": _counts(codes)},
        "extensions": [{"name": name, "statusesSummary": _counts(count)} for name, count in extensions.items()],
        "statuses": [
            {
                "code": f"ProvisioningState/{state}",
                "level": "Error" if state == "failed" else "Info",
                "displayStatus": f"Provisioning {state}",
            }
        ],
    }


def _provisioning(statuses: Any) -> list[str]:
    codes = [status["code"] for status in statuses]
    return [code for code in codes if code.lower().startswith("provisioningstate/")]


def _short(code: str) -> str:
    """The status code without its error suffix: the summary counts `ProvisioningState/failed`."""
    return "/".join(code.split("/")[:2])


def _counts(codes: Counter[str]) -> list[Body]:
    return [{"code": code, "count": count} for code, count in sorted(codes.items())]

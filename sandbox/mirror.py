"""Keeps the copies of child resources inside their parents in sync, so that a scenario states each fact once.

A cluster repeats its node pools in `agentPoolProfiles`, a virtual network its `subnets`, a security group its
`securityRules`, a route table its `routes`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Body = dict[str, Any]

_REPEATED = {
    "microsoft.containerservice/managedclusters/agentpools": "agentPoolProfiles",
    "microsoft.network/virtualnetworks/subnets": "subnets",
    "microsoft.network/networksecuritygroups/securityrules": "securityRules",
    "microsoft.network/routetables/routes": "routes",
}


def repeat_in_parent(resources: dict[str, Body], key: str) -> None:
    """Update the parent's copy of a resource; if the resource was deleted, remove the copy."""
    parts = key.rpartition("/providers/")[2].split("/")
    listed = _REPEATED.get("/".join([parts[0], *parts[1::2]]))
    parent = resources.get(key.rsplit("/", 2)[0])
    if listed is None or parent is None:
        return
    copies: list[Body] = parent.setdefault("properties", {}).setdefault(listed, [])
    place = next((at for at, copy in enumerate(copies) if str(copy.get("name")).lower() == parts[-1]), len(copies))
    copies[place : place + 1] = [_copy(resources[key], listed)] if key in resources else []


def _copy(body: Body, listed: str) -> Body:
    if listed != "agentPoolProfiles":
        return deepcopy(body)
    return {"name": body["name"], **deepcopy(body.get("properties", {}))}

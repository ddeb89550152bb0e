"""Checks before a write starts: eTags, running operations, locks in the node resource group, immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.arm import errors
from sandbox.arm.effects import CLUSTER, pools_of
from sandbox.arm.locks import all_locks
from sandbox.arm.merging import etag_of
from sandbox.arm.operations import TERMINAL
from sandbox.arm.paths import Place, within
from sandbox.arm.protocols import NETWORK, stamp
from sandbox.arm.site import Site
from sandbox.world import World

Body = dict[str, Any]


def check_precondition(place: Place, stored: Body | None, headers: Mapping[str, str]) -> None:
    """If-Match and If-None-Match: 412 from most providers, AKS's own 409."""
    aks = place.kind.startswith("Microsoft.ContainerService/")
    wanted, unwanted = headers.get("If-Match"), headers.get("If-None-Match")
    tag = etag_of(stored) if stored else None
    if wanted and (stored is None or (wanted != "*" and tag is not None and not _same(wanted, tag))):
        raise errors.aks_etag_mismatch() if aks else errors.precondition_failed(wanted, tag or "", place.path)
    if unwanted and stored is not None and (unwanted == "*" or (tag is not None and _same(unwanted, tag))):
        raise errors.aks_etag_mismatch() if aks else errors.precondition_failed(unwanted, tag or "", place.path)


def _same(name: str, other: str) -> bool:
    return name.removeprefix("W/").strip('"') == other.removeprefix("W/").strip('"')


def check_idle(site: Site, place: Place) -> None:
    """409 while another operation is running: on the cluster (AKS), or on the resource or its parent (Network)."""
    if CLUSTER in place.key:
        _check_cluster_idle(site, place)
    elif place.kind.startswith("Microsoft.Network/") and place.types:
        running = site.operations.running(place.parent or place.path, NETWORK.name)
        if running:
            raise errors.network_busy(running.status_url(site.url))


def _check_cluster_idle(site: Site, place: Place) -> None:
    cluster, _, pool = place.key.partition("/agentpools/")
    running = site.operations.running(place.key)
    own = next(
        (operation for operation in site.operations if not operation.done and operation.subject.lower() == cluster),
        None,
    )
    found = running or own
    if found:
        verb = "delete" if found.verb == "DELETE" else "update"
        raise errors.aks_busy(f"{verb} managed cluster", found.id, stamp(found.started)[:19] + "Z")
    touched = (
        [cluster, place.key] if pool else [cluster, *(pool["id"].lower() for pool in pools_of(site.world, cluster))]
    )
    for key in touched:
        state = _state(site.world, key)
        if state not in TERMINAL:
            word = {"Upgrading": "upgrade", "Creating": "create", "Deleting": "delete"}.get(state, "update")
            raise errors.aks_busy(
                f"{word} managed cluster", "00000000-0000-4000-8000-000000000000", stamp(site.clock())[:19] + "Z"
            )


def _state(world: World, key: str) -> str:
    body = world.resources.get(key, {})
    return str(body.get("properties", {}).get("provisioningState", "Succeeded"))


def check_node_group_unlocked(world: World, place: Place) -> None:
    """AKS rejects every operation while the node resource group, or any resource in it, has a lock."""
    if CLUSTER not in place.key:
        return
    cluster = world.resources.get(place.key.split("/agentpools/", 1)[0], {})
    group = cluster.get("properties", {}).get("nodeResourceGroup")
    if not group:
        return
    scope = f"/subscriptions/{place.subscription}/resourceGroups/{group}"
    if any(within(scope, at) for at, _ in all_locks(world)):
        raise errors.aks(
            400,
            "ResourceGroupLocked",
            f"Resource group '{group}' under subscription: '{place.subscription}' is locked, please remove lock "
            "and retry. Please see http://aka.ms/azure-lock-resources",
        )


_FIXED = {
    "Microsoft.ContainerService/managedClusters/agentPools": (
        "vmSize",
        "osType",
        "osDiskType",
        "vnetSubnetID",
        "maxPods",
    ),
    "Microsoft.ContainerService/managedClusters": ("dnsPrefix", "nodeResourceGroup", "enableRBAC"),
}


def check_aks_change(place: Place, stored: Body | None, sent: Body) -> None:
    """AKS's own validation: immutable values and invalid numbers."""
    properties = sent.get("properties") or {}
    before = (stored or {}).get("properties", {})
    for name in _FIXED.get(place.kind, ()):
        asked = properties.get(name)
        if asked is not None and name in before and str(asked).lower() != str(before[name]).lower():
            raise errors.aks(
                400,
                "PropertyChangeNotAllowed",
                f"Changing property 'properties.{name}' is not allowed.",
                target=f"properties.{name}",
            )
    count = properties.get("count")
    if isinstance(count, int) and not 0 <= count <= 1000:
        raise errors.aks(
            400,
            "InvalidParameter",
            "The value of parameter agentPoolProfile.count is invalid. Error details: Valid range is [0, 1000]. "
            "Please see https://aka.ms/aks-naming-rules for more details.",
            target="agentPoolProfile.count",
        )

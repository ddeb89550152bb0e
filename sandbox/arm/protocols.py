"""Each provider's long-running operation protocol: the polling URL, the status body and Retry-After."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Body = dict[str, Any]


class Running(Protocol):
    """The parts of an operation that a protocol needs."""

    id: str
    subscription: str
    group: str | None
    location: str
    subject: str
    status: str
    started: datetime
    ended: datetime | None
    error: Body | None
    polls: int

    @property
    def done(self) -> bool: ...


def stamp(moment: datetime) -> str:
    """A timestamp with seven fractional digits and Z, as .NET formats it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "6Z"


def stamp_with_offset(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "6+00:00"


@dataclass(frozen=True)
class LongOperation:
    """The protocol of one provider."""

    name: str
    status_path: Callable[[Running], str]
    status_body: Callable[[Running], Body]
    result_path: Callable[[Running], str] | None = None
    version: str | None = None
    """The api-version in the polling URL, where it is not the request's own."""
    first_wait_s: int | None = None
    poll_wait_s: Callable[[Running], int | None] = lambda _: None
    accepted_while_running: bool = False
    """Polls return 202 instead of 200 until the operation ends."""
    result_done: int = 204
    puts_have_location: bool = False
    aks: bool = False


def _ids(running: Running, namespace: str, word: str, location: str | None = None) -> str:
    place = location or running.location
    return f"/subscriptions/{running.subscription}/providers/{namespace}/locations/{place}/{word}/{running.id}"


def _aks_body(running: Running) -> Body:
    body: Body = {"name": running.id, "status": running.status, "startTime": stamp(running.started)}
    if running.ended:
        body["endTime"] = stamp(running.ended)
    if running.error:
        # The reconciler's last transient error stays in the status, even after success.
        body["error"] = running.error
    return body


def _compute_body(running: Running) -> Body:
    body: Body = {"startTime": stamp_with_offset(running.started)}
    if running.ended:
        body["endTime"] = stamp_with_offset(running.ended)
    body["status"] = running.status
    if running.status == "Failed" and running.error:
        body["error"] = running.error
    return body | {"name": running.id}


def _bare_status(running: Running) -> Body:
    if running.status == "Failed":
        return {"status": "Failed", "error": {"details": [], **(running.error or {})}}
    return {"status": running.status}


def _hub_name(running: Running) -> str:
    return f"{running.id}*{hashlib.sha256(running.subject.lower().encode()).hexdigest().upper()}"


def _hub_path(namespace: str, *, tenant_wide: bool = False) -> Callable[[Running], str]:
    def path(running: Running) -> str:
        above = "" if tenant_wide else f"/subscriptions/{running.subscription}"
        place = running.location.upper()
        return f"{above}/providers/{namespace}/locations/{place}/operationStatuses/{_hub_name(running)}"

    return path


def _hub_body(path: Callable[[Running], str]) -> Callable[[Running], Body]:
    def body(running: Running) -> Body:
        text: Body = {
            "id": path(running),
            "name": _hub_name(running),
            "resourceId": running.subject,
            "status": running.status,
            "startTime": stamp(running.started),
        }
        if running.ended:
            # An empty `error` is present even on success.
            text |= {"endTime": stamp(running.ended), "error": running.error or {}, "properties": None}
        return text

    return body


def _hub(namespace: str, *, tenant_wide: bool = False) -> LongOperation:
    path = _hub_path(namespace, tenant_wide=tenant_wide)
    return LongOperation(
        namespace,
        status_path=path,
        status_body=_hub_body(path),
        result_path=path,
        accepted_while_running=True,
        result_done=200,
    )


def _dns_path(running: Running) -> str:
    code = base64.urlsafe_b64encode(f"FrontEndAsyncOperation;{running.id}".encode()).decode()
    above = f"/subscriptions/{running.subscription}/resourceGroups/{running.group}"
    return f"{above}/providers/Microsoft.Network/privateDnsOperationStatuses/{code}"


def _extension_path(running: Running) -> str:
    return f"{running.subject}/operations/{running.id}"


def _group_path(running: Running) -> str:
    job = {"jobId": f"RESOURCEGROUPDELETIONJOB-{running.id}", "jobLocation": running.location}
    code = base64.urlsafe_b64encode(json.dumps(job, separators=(",", ":")).encode()).decode().rstrip("=")
    return f"/subscriptions/{running.subscription}/operationresults/{code}"


AKS = LongOperation(
    "Microsoft.ContainerService",
    status_path=lambda running: _ids(running, "Microsoft.ContainerService", "operations"),
    status_body=_aks_body,
    result_path=lambda running: _ids(running, "Microsoft.ContainerService", "operationresults"),
    version="2025-03-01",
    aks=True,
)
COMPUTE = LongOperation(
    "Microsoft.Compute",
    status_path=lambda running: _ids(running, "Microsoft.Compute", "operations"),
    status_body=_compute_body,
    result_path=lambda running: _ids(running, "Microsoft.Compute", "operations"),
    first_wait_s=10,
    poll_wait_s=lambda _: 30,
    result_done=200,
)
NETWORK = LongOperation(
    "Microsoft.Network",
    status_path=lambda running: _ids(running, "Microsoft.Network", "operations"),
    status_body=_bare_status,
    result_path=lambda running: _ids(running, "Microsoft.Network", "operationResults"),
    first_wait_s=10,
    poll_wait_s=lambda running: min(160, 10 * 2 ** max(0, running.polls - 1)),
)
PRIVATE_DNS = LongOperation(
    "Microsoft.Network/privateDnsZones",
    status_path=_dns_path,
    status_body=_bare_status,
    result_path=_dns_path,
    first_wait_s=30,
    accepted_while_running=True,
    result_done=200,
    puts_have_location=True,
)
EXTENSIONS = LongOperation(
    "Microsoft.KubernetesConfiguration",
    status_path=_extension_path,
    status_body=lambda running: {
        "id": _extension_path(running),
        "name": running.id,
        "status": running.status,
        **({"error": running.error} if running.status == "Failed" and running.error else {}),
    },
    puts_have_location=True,
)
GROUP_DELETE = LongOperation(
    "Microsoft.Resources",
    status_path=_group_path,
    status_body=_bare_status,
    result_path=_group_path,
    first_wait_s=15,
    poll_wait_s=lambda _: 15,
    accepted_while_running=True,
    result_done=200,
)
_BY_NAMESPACE = {
    "Microsoft.ContainerService": AKS,
    "Microsoft.Compute": COMPUTE,
    "Microsoft.Network": NETWORK,
    "Microsoft.NetworkCloud": _hub("Microsoft.NetworkCloud"),
    "Microsoft.ManagedNetworkFabric": _hub("Microsoft.ManagedNetworkFabric"),
    "Microsoft.ResourceConnector": _hub("Microsoft.ResourceConnector"),
    "Microsoft.Kubernetes": _hub("Microsoft.Kubernetes"),
    "Microsoft.HybridContainerService": _hub("Microsoft.HybridContainerService", tenant_wide=True),
    "Microsoft.KubernetesConfiguration": EXTENSIONS,
}
_AT_ONCE = {
    "Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
    "Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings",
}


def protocol_for(kind: str) -> LongOperation | None:
    """The protocol of a resource type; None if its writes are synchronous."""
    if kind in _AT_ONCE:
        return None
    if kind.startswith("Microsoft.Network/privateDnsZones"):
        return PRIVATE_DNS
    return _BY_NAMESPACE.get(kind.split("/", 1)[0])

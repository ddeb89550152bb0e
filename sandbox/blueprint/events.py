"""The activity log: expands a compact operation into the two or three events that Azure logs for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal

from sandbox.blueprint.clock import Clock, span, ticks, wire
from sandbox.blueprint.fleet import Fleet
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.strict import Strict
from sandbox.world import Body

CALLERS = {"aks": "7319c514-987d-4e9b-ac3d-d38c4f427f4c"}
"""AKS's own application id is the same in every tenant; the others are fictional."""
TITLES = {
    "Microsoft.ContainerService/managedClusters/write": "Create or Update Managed Cluster",
    "Microsoft.ContainerService/managedClusters/agentPools/write": "Create or Update Agent Pool",
    "Microsoft.ContainerService/managedClusters/agentPools/upgradeNodeImageVersion/action": (
        "Upgrade agent pool node image version"
    ),
    "Microsoft.ContainerService/managedClusters/rotateClusterCertificates/action": "Rotate certificates of the cluster",
    "Microsoft.ContainerService/managedClusters/agentPools/delete": "Delete Agent Pool",
    "Microsoft.Compute/virtualMachineScaleSets/write": "Create or Update Virtual Machine Scale Set",
    "Microsoft.Compute/virtualMachineScaleSets/delete/action": "Delete Virtual Machines in a Virtual Machine Scale Set",
    "Microsoft.Network/routeTables/write": "Create or Update Route Table",
    "Microsoft.Network/loadBalancers/write": "Create or Update Load Balancer",
    "Microsoft.Authorization/locks/write": "Add management locks",
    "Microsoft.Resources/tags/write": "Update tags of a resource",
}
DENY = "Microsoft.Authorization/policies/deny/action"
_EVENT_NAMES = {"BeginRequest": "Begin request", "EndRequest": "End request"}
_LAG = timedelta(seconds=94)
"""Events become readable a minute or two after they happen."""
_METHODS = {"write": "PUT", "delete": "DELETE"}


class EventSpec(Strict):
    """One operation in the activity log."""

    at: str
    operation: str
    resource: str
    outcome: Literal["Succeeded", "Failed", "Running", "Refused"] = "Succeeded"
    """Failed: accepted, then failed. Refused: rejected immediately with an error."""
    takes: str = "4s"
    caller: str = "pipeline"
    http: int | None = None
    """The status code of the rejection."""
    error: dict[str, Any] | None = None
    correlation: str | None = None
    """Operations with the same value share a correlation id."""


@dataclass(frozen=True, slots=True)
class Scribe:
    """Generates events in Azure's format."""

    fleet: Fleet
    clock: Clock
    mint: Mint

    def events(self, label: str, spec: EventSpec) -> Iterator[Body]:
        """All events of one operation, oldest first."""
        begin = self.clock.at(spec.at) - timedelta(microseconds=self.mint.number(0, 999_999, label, "at"))
        end = begin + span(spec.takes)
        yield self._event(label, spec, begin, "BeginRequest", "Started", HTTPStatus.OK, {})
        yield from self._policy_event(label, spec, end)
        if spec.outcome == "Refused":
            status = HTTPStatus(spec.http or 409)
            yield self._event(label, spec, end, "EndRequest", "Failed", status, _refusal(spec, status))
            return
        accepted = begin + min(timedelta(seconds=2), span(spec.takes) / 2)
        status = HTTPStatus.OK if spec.operation.endswith("/write") else HTTPStatus.ACCEPTED
        answer = {"statusCode": _code(status), "serviceRequestId": self.mint.guid(label, "service")}
        yield self._event(label, spec, accepted, "EndRequest", "Accepted", status, answer)
        if spec.outcome != "Running":
            yield self._event(label, spec, end, "EndRequest", spec.outcome, HTTPStatus.OK, _ending(spec))

    def _policy_event(self, label: str, spec: EventSpec, at: datetime) -> Iterator[Body]:
        """Azure Policy's own entry for a write that it denied, under the same correlation and operation id."""
        policies = [item["info"] for item in _additional_info(spec.error) if item.get("type") == "PolicyViolation"]
        if not policies or spec.operation.startswith("Microsoft.ContainerService/"):
            return  # AKS only repeats a denial that happened elsewhere
        own = spec.model_copy(
            update={"operation": DENY, "outcome": "Refused", "correlation": spec.correlation or label}
        )
        extra = {"isComplianceCheck": "False", "policies": json.dumps([_in_the_log(policy) for policy in policies])}
        body = self._event(f"{label}/policy", own, at, "EndRequest", "Failed", HTTPStatus.FORBIDDEN, extra)
        body["operationId"] = self.mint.guid("operation", label)
        body["category"] = {"value": "Policy", "localizedValue": "Policy"}
        body["properties"]["eventCategory"] = "Policy"
        yield body

    def _event(
        self, label: str, spec: EventSpec, at: datetime, name: str, status: str, http: HTTPStatus, extra: Body
    ) -> Body:
        resource, operation = spec.resource, spec.operation
        subscription = resource.split("/")[2]
        event_id = self.mint.guid(label, name, status)
        correlation = self.mint.guid("correlation", spec.correlation or label)
        sub_status = {"value": "", "localizedValue": ""}
        if status == "Accepted" or (status == "Failed" and spec.outcome == "Refused"):
            code = _code(http)
            sub_status = {"value": code, "localizedValue": f"{http.phrase} (HTTP Status Code: {http.value})"}
        kind = operation.rsplit("/", 2 if operation.endswith("/action") else 1)[0]
        return {
            "authorization": {"action": operation, "scope": resource},
            "caller": self._caller(spec),
            "channels": "Operation",
            "claims": self._claims(spec),
            "correlationId": correlation,
            "description": "",
            "eventDataId": event_id,
            "eventName": {"value": name, "localizedValue": _EVENT_NAMES[name]},
            "category": {"value": "Administrative", "localizedValue": "Administrative"},
            **(self._request(label, operation, resource) if name == "BeginRequest" or sub_status["value"] else {}),
            "id": f"{resource}/events/{event_id}/ticks/{ticks(at)}",
            "level": "Error" if status == "Failed" else "Informational",
            "resourceGroupName": _group(resource),
            "resourceProviderName": _same(operation.split("/")[0]),
            "resourceId": resource,
            "resourceType": _same(kind),
            "operationId": self.mint.guid("operation", label),
            "operationName": {"value": operation, "localizedValue": TITLES.get(operation, operation)},
            "properties": {
                **extra,
                "eventCategory": "Administrative",
                "entity": resource,
                "message": operation,
                "hierarchy": self._hierarchy(subscription),
            },
            "status": _same(status),
            "subStatus": sub_status,
            "eventTimestamp": wire(at),
            "submissionTimestamp": f"{min(at + _LAG, self.clock.now):%Y-%m-%dT%H:%M:%SZ}",
            "subscriptionId": subscription,
            "tenantId": self.fleet.tenant,
        }

    def _caller(self, spec: EventSpec) -> str:
        return CALLERS.get(spec.caller) or self.mint.guid("caller", spec.caller)

    def _claims(self, spec: EventSpec) -> Body:
        schema = "http://schemas.microsoft.com/identity/claims"
        return {
            "aud": "https://management.azure.com/",
            "iss": f"https://sts.windows.net/{self.fleet.tenant}/",
            "appid": self._caller(spec),
            "appidacr": "2",
            f"{schema}/identityprovider": f"https://sts.windows.net/{self.fleet.tenant}/",
            f"{schema}/objectidentifier": self.mint.guid("caller", spec.caller, "object"),
            f"{schema}/tenantid": self.fleet.tenant,
            "idtyp": "app",
            "ver": "1.0",
        }

    def _request(self, label: str, operation: str, resource: str) -> Body:
        return {
            "httpRequest": {
                "clientRequestId": self.mint.guid(label, "client"),
                "clientIpAddress": "203.0.113.24",
                "method": _METHODS.get(operation.rsplit("/", 1)[-1], "POST"),
                "uri": f"https://management.azure.com{resource}",
            }
        }

    def _hierarchy(self, subscription: str) -> str:
        groups = [spec.management_group for spec in self.fleet.subscriptions.values() if spec.id == subscription]
        return "/".join([self.fleet.tenant, *groups, subscription])


def _additional_info(error: Body | None) -> list[Body]:
    found = (error or {}).get("additionalInfo")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _in_the_log(policy: Body) -> Body:
    """The event only names the policies; the compared values are only in the HTTP response."""
    return {key: value for key, value in policy.items() if key != "evaluationDetails"}


def _refusal(spec: EventSpec, status: HTTPStatus) -> Body:
    """A synchronous error: the provider's own body, without the `error` envelope for AKS and with it for others."""
    bare = spec.operation.startswith("Microsoft.ContainerService/") and spec.error is not None
    body = spec.error if bare else {"error": spec.error}
    return {"statusCode": _code(status), "serviceRequestId": None, "statusMessage": json.dumps(body)}


def _ending(spec: EventSpec) -> Body:
    """The end of a long-running operation; a failure is wrapped once more."""
    if spec.outcome == "Succeeded":
        return {"statusCode": "OK", "serviceRequestId": None}
    message = "The resource operation completed with terminal provisioning state 'Failed'."
    details = [spec.error] if spec.error else []
    error = {"code": "ResourceOperationFailure", "message": message, "details": details}
    status_message = json.dumps({"status": "Failed", "error": error})
    return {"statusCode": "Conflict", "serviceRequestId": None, "statusMessage": status_message}


def _code(status: HTTPStatus) -> str:
    """`BadRequest` for 400, as .NET calls it."""
    return "OK" if status is HTTPStatus.OK else status.phrase.title().replace(" ", "")


def _group(resource: str) -> str:
    parts = resource.split("/")
    return parts[4] if len(parts) > 4 and parts[3].lower() == "resourcegroups" else ""


def _same(value: str) -> Body:
    return {"value": value, "localizedValue": value}

"""What an operation of the activity log is called: its subject, and what was done to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.changes.change import Part
from handlers.changes.roles import role_name
from handlers.changes.row import HEALTH, Row
from handlers.evidence.monitor import DENY_EVENT
from handlers.evidence.wire import text
from handlers.resource_id import BadResourceId, ResourceId, last_name

_CLUSTER = "microsoft.containerservice/managedclusters"
_SUBJECTS = {
    _CLUSTER: "cluster",
    f"{_CLUSTER}/agentpools": "node pool",
    f"{_CLUSTER}/maintenanceconfigurations": "maintenance window",
    "microsoft.networkcloud/kubernetesclusters": "cluster",
    "microsoft.networkcloud/kubernetesclusters/agentpools": "node pool",
    "microsoft.kubernetes/connectedclusters": "connected cluster",
    "microsoft.resourceconnector/appliances": "Arc resource bridge",
    "microsoft.compute/virtualmachinescalesets": "scale set",
    "microsoft.compute/virtualmachinescalesets/virtualmachines": "instance",
    "microsoft.compute/virtualmachines": "VM",
    "microsoft.compute/disks": "disk",
    "microsoft.network/loadbalancers": "load balancer",
    "microsoft.network/routetables": "route table",
    "microsoft.network/routetables/routes": "route",
    "microsoft.network/networksecuritygroups": "network security group",
    "microsoft.network/networksecuritygroups/securityrules": "security rule",
    "microsoft.network/virtualnetworks": "virtual network",
    "microsoft.network/virtualnetworks/subnets": "subnet",
    "microsoft.network/publicipaddresses": "public IP address",
    "microsoft.network/privatednszones": "private DNS zone",
    "microsoft.authorization/locks": "lock",
    "microsoft.authorization/roleassignments": "role",
    "microsoft.authorization/policyassignments": "policy assignment",
    "microsoft.authorization/policyexemptions": "policy exemption",
    "microsoft.resources/tags": "tags",
    "microsoft.insights/diagnosticsettings": "diagnostic setting",
}
"""What people call a type of resource; of others its own word is used."""
_ACTIONS = {
    "write": "created or updated",
    "delete": "deleted",
    "deletemachines": "machines deleted",
    "upgradenodeimageversion": "node image upgrade",
    "rotateclustercertificates": "certificates rotated",
    "abort": "operation aborted",
    "manualupgrade": "instances brought to the latest model",
    "performmaintenance": "maintenance performed",
    "reimage": "reimaged",
    "start": "started",
    "stop": "stopped",
    "restart": "restarted",
    "deallocate": "deallocated",
}
_RULES = ("microsoft.authorization/", "microsoft.resources/tags")


def part_of(row: Row, node_group: str) -> Part:
    """Where in a picture and in a list it belongs."""
    operation, group = row.operation, _group(row.event.resource)
    if operation.startswith(HEALTH):
        return Part.HEALTH
    if operation.startswith(_RULES[0]):
        return Part.RULES
    if node_group and group.lower() == node_group.lower():
        return Part.NODES
    return Part.CLUSTER if _kind(operation) in _SUBJECTS and "cluster" in _kind(operation) else Part.GROUP


def subject_of(row: Row) -> str:
    """`node pool apps`; for a role its name."""
    kind, name = _kind(row.operation), last_name(row.event.resource)
    if row.operation == DENY_EVENT or row.operation.startswith(HEALTH):
        return _resource(row.event.resource)
    if kind == "microsoft.authorization/roleassignments":
        return role_name(_role_of(row)) if _role_of(row) else "a role"
    if kind == "microsoft.resources/tags":
        return "tags"
    return f"{_SUBJECTS.get(kind, kind.rsplit('/', 1)[-1])} {name}"


def action_of(row: Row) -> str:
    """What was done to it."""
    if row.operation == DENY_EVENT:
        return "a request"
    if row.operation.startswith(HEALTH):
        return text(row.properties, "title") or row.title or "health event"
    kind, verb = _kind(row.operation), _verb(row.operation)
    if kind == "microsoft.authorization/roleassignments":
        given = "taken from" if verb == "delete" else "assigned to"
        return f"{given} {_principal_of(row)} on {_scope(row.event.resource)}"
    if kind == "microsoft.authorization/locks":
        return f"{'removed from' if verb == 'delete' else 'set on'} {_scope(row.event.resource)}"
    if kind == "microsoft.compute/virtualmachinescalesets" and row.operation.endswith("/delete/action"):
        return "instances deleted"
    return _ACTIONS.get(verb, row.title or verb)


def details_of(row: Row) -> Iterator[str]:
    """What the record says that it changed to."""
    if _kind(row.operation) != "microsoft.authorization/roleassignments":
        yield from row.said()


def _role_of(row: Row) -> str:
    asked = text(row.request, "properties", "roleDefinitionId") or text(row.request, "Properties", "RoleDefinitionId")
    return asked or text(row.properties, "roleDefinitionId")


def _principal_of(row: Row) -> str:
    """Its id: the log has no name."""
    asked = text(row.request, "properties", "principalId") or text(row.request, "Properties", "PrincipalId")
    kind = text(row.request, "properties", "principalType") or text(row.request, "Properties", "PrincipalType")
    found = asked or text(row.properties, "principalId")
    words = {"serviceprincipal": "service principal", "user": "user", "group": "group"}.get(kind.lower(), "principal")
    return f"{words} {found}" if found else "a principal"


def _kind(operation: str) -> str:
    """`microsoft.compute/disks` of `microsoft.compute/disks/write`."""
    parts = operation.split("/")
    if parts[-1] != "action":
        return "/".join(parts[:-1])
    return "/".join(parts[:-2])


def _verb(operation: str) -> str:
    parts = operation.split("/")
    return parts[-2] if parts[-1] == "action" and len(parts) > 1 else parts[-1]


def _scope(resource: str) -> str:
    """On what a lock or a role stands."""
    return _resource(resource[: resource.lower().rfind("/providers/microsoft.authorization/")] or resource)


def _resource(resource: str) -> str:
    try:
        meant = ResourceId.parse(resource)
    except BadResourceId:
        return last_name(resource) or "the subscription"
    kind = meant.type.lower()
    if kind == "microsoft.resources/subscriptions":
        return "the subscription"
    known = "resource group" if kind == "microsoft.resources/resourcegroups" else _SUBJECTS.get(kind, "")
    return f"{known} {meant.name}" if known else f"{kind.rsplit('/', 1)[-1]} {meant.name}"


def _group(resource: str) -> str:
    parts = resource.strip("/").split("/")
    return parts[3] if len(parts) > 3 and parts[2].lower() == "resourcegroups" else ""

"""The columns of other commonly listed kinds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.kube.printing.cells import NONE, UNSET, Printed, age, at, dig, name, pairs, since

Body = dict[str, Any]

_NAME, _AGE = Printed("Name", name), Printed("Age", age)
_CREATED = Printed("Created At", at("metadata", "creationTimestamp"))

NAMESPACES = (_NAME, Printed("Status", at("status", "phase")), _AGE)
ROLES = (_NAME, _CREATED)
LEASES = (_NAME, Printed("Holder", at("spec", "holderIdentity")), _AGE)


def _count(*path: str) -> Any:
    return lambda body, _: len(dig(body, *path, default=()))


CONFIG_MAPS = (
    _NAME,
    Printed("Data", lambda body, _: len(body.get("data") or ()) + len(body.get("binaryData") or ()), type="integer"),
    _AGE,
)
SECRETS = (
    _NAME,
    Printed("Type", at("type", default="Opaque")),
    Printed("Data", _count("data"), type="integer"),
    _AGE,
)
SERVICE_ACCOUNTS = (_NAME, Printed("Secrets", _count("secrets"), type="integer"), _AGE)


def _external_address(service: Body, _: datetime) -> str:
    spec = service.get("spec", {})
    fixed = ",".join(spec.get("externalIPs") or ())
    match spec.get("type", "ClusterIP"):
        case "LoadBalancer":
            given = dig(service, "status", "loadBalancer", "ingress", default=())
            found = [ingress.get("ip") or ingress.get("hostname", "") for ingress in given]
            return ",".join([*found, *([fixed] if fixed else [])]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return fixed or NONE


def _ports(service: Body, _: datetime) -> str:
    found = []
    for port in dig(service, "spec", "ports", default=()):
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        found.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(found) or NONE


SERVICES = (
    _NAME,
    Printed("Type", at("spec", "type", default="ClusterIP")),
    Printed("Cluster-IP", at("spec", "clusterIP", default=NONE)),
    Printed("External-IP", _external_address),
    Printed("Port(s)", _ports),
    _AGE,
    Printed("Selector", lambda body, _: pairs(dig(body, "spec", "selector")), wide=True),
)


def _first_seen(event: Body) -> str | None:
    return event.get("firstTimestamp") or event.get("eventTime")


def _last_seen(event: Body, now: datetime) -> str:
    last = dig(event, "series", "lastObservedTime") or event.get("lastTimestamp") or _first_seen(event)
    return since(last, now)


def _about(event: Body, _: datetime) -> str:
    about = event.get("involvedObject", {})
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


def _source(event: Body, _: datetime) -> str:
    component = dig(event, "source", "component") or event.get("reportingComponent", "")
    host = dig(event, "source", "host")
    return f"{component}, {host}" if host else str(component)


EVENTS = (
    Printed("Last Seen", _last_seen),
    Printed("Type", at("type")),
    Printed("Reason", at("reason")),
    Printed("Object", _about),
    Printed("Subobject", at("involvedObject", "fieldPath"), wide=True),
    Printed("Source", _source, wide=True),
    Printed("Message", lambda event, _: str(event.get("message", "")).strip()),
    Printed("First Seen", lambda event, now: since(_first_seen(event), now), wide=True),
    Printed("Count", lambda event, _: str(dig(event, "series", "count") or event.get("count") or 1), wide=True),
    Printed("Name", name, wide=True),
)


def _role(binding: Body, _: datetime) -> str:
    role = binding.get("roleRef", {})
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _subjects(kind: str, title: str) -> Printed:
    def cell(binding: Body, _: datetime) -> str:
        found = [subject for subject in binding.get("subjects") or () if subject["kind"] == kind]
        return ", ".join(
            f"{item['namespace']}/{item['name']}" if "namespace" in item else item["name"] for item in found
        )

    return Printed(title, cell, wide=True)


BINDINGS = (
    _NAME,
    Printed("Role", _role),
    _AGE,
    _subjects("User", "Users"),
    _subjects("Group", "Groups"),
    _subjects("ServiceAccount", "ServiceAccounts"),
)


def _claim(volume: Body, _: datetime) -> str:
    claim = dig(volume, "spec", "claimRef")
    return f"{claim['namespace']}/{claim['name']}" if claim else ""


def _modes(*path: str) -> Any:
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return lambda body, _: ",".join(short.get(mode, mode) for mode in dig(body, *path, default=()))


VOLUMES = (
    _NAME,
    Printed("Capacity", at("spec", "capacity", "storage")),
    Printed("Access Modes", _modes("spec", "accessModes")),
    Printed("Reclaim Policy", at("spec", "persistentVolumeReclaimPolicy")),
    Printed("Status", at("status", "phase")),
    Printed("Claim", _claim),
    Printed("StorageClass", at("spec", "storageClassName")),
    Printed("VolumeAttributesClass", at("spec", "volumeAttributesClassName", default=UNSET)),
    Printed("Reason", at("status", "reason")),
    _AGE,
    Printed("VolumeMode", at("spec", "volumeMode", default=UNSET), wide=True),
)
CLAIMS = (
    _NAME,
    Printed("Status", at("status", "phase")),
    Printed("Volume", at("spec", "volumeName")),
    Printed("Capacity", at("status", "capacity", "storage")),
    Printed("Access Modes", _modes("status", "accessModes")),
    Printed("StorageClass", at("spec", "storageClassName")),
    Printed("VolumeAttributesClass", at("spec", "volumeAttributesClassName", default=UNSET)),
    _AGE,
    Printed("VolumeMode", at("spec", "volumeMode", default=UNSET), wide=True),
)

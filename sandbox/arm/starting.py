"""Starts a write: returns the operation for the client to poll, or the error a scenario asks for."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from sandbox.arm import audit_trail
from sandbox.arm.answers import Refusal
from sandbox.arm.effects import apply_changes, remove, settle
from sandbox.arm.operations import Operation, location_of
from sandbox.arm.protocols import LongOperation
from sandbox.arm.site import Call, Site
from sandbox.world import WriteRule

Body = dict[str, Any]


def refused(site: Site, call: Call, rule: WriteRule) -> Refusal:
    status, body = rule.refuse or (400, {})
    audit_trail.record(site, call, "Started")
    audit_trail.record(site, call, "Failed", code=status, error=body)
    aks = call.place.kind.startswith("Microsoft.ContainerService/") and "error" not in body
    return Refusal(status, body, aks=aks)


def begin(
    site: Site,
    call: Call,
    subject: str,
    protocol: LongOperation,
    rule: WriteRule | None,
    before: Mapping[str, str] | None = None,
) -> Operation:
    """Start the operation that the client will poll."""
    audit_trail.record(site, call, "Started")
    place = call.place
    deleting = call.method == "DELETE"

    def finish(operation: Operation) -> None:
        if deleting and operation.status == "Succeeded":
            remove(site.world, subject)
            site.deleted.add(subject.lower())
        else:
            settle(site.world, subject, operation.status, operation.error, before)
        if rule and operation.status == rule.ends:
            apply_changes(site.world, rule.then)
        failed = operation.status != "Succeeded"
        audit_trail.record(site, call, "Failed" if failed else "Succeeded", error=operation.error if failed else None)

    operation = Operation(
        subject=subject,
        subscription=place.subscription or "",
        group=place.group,
        location=location_of(site.world.resources, subject),
        verb=call.method if call.method != "POST" else place.kind.rsplit("/", 1)[1],
        protocol=protocol,
        version=call.version,
        interim=list(rule.interim) if rule else [],
        ends=rule.ends if rule else "Succeeded",
        error=deepcopy(rule.error) if rule else None,
        finish=finish,
    )
    return site.operations.start(operation)

"""POST requests: read-only queries, and actions that change resources."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sandbox.arm import audit_trail, errors, graph
from sandbox.arm.answers import Answer
from sandbox.arm.effects import (
    CLUSTER,
    apply_changes,
    cluster_of,
    pool_states,
    set_state_of,
    settle,
)
from sandbox.arm.front_door import register_provider
from sandbox.arm.guards import check_idle, check_node_group_unlocked
from sandbox.arm.instances import instance_view
from sandbox.arm.operations import Operation, first_headers
from sandbox.arm.paths import Place, parse, within
from sandbox.arm.protocols import protocol_for
from sandbox.arm.providers import catalogue
from sandbox.arm.reads import not_found
from sandbox.arm.rules import take_rule
from sandbox.arm.site import Call, Handler, Site
from sandbox.arm.starting import begin, refused

Body = dict[str, Any]

_KEEPS_BODY = {"abort", "upgradenodeimageversion"}
"""AKS actions whose 202 carries the resource."""

_STATES = {
    "start": "Starting",
    "stop": "Stopping",
    "upgradenodeimageversion": "UpgradingNodeImageVersion",
    "deletemachines": "Scaling",
    "rotateclustercertificates": "RotatingClusterCertificates",
}


def post(site: Site, call: Call) -> Answer:
    """Answer a POST."""
    known = _QUERIES.get(call.place.kind)
    if known:
        return known(site, call)
    if call.place.namespace and call.place.types == ("register",):
        return register_provider(site, call)
    return _act(site, call)


def _act(site: Site, call: Call) -> Answer:
    place, subject = call.place, parse(call.place.parent or call.place.scope)
    parent_kind = catalogue().type(place.parent_kind)
    action = place.kind.rsplit("/", 1)[-1]
    if not place.collection or parent_kind is None or action not in parent_kind.actions:
        raise errors.method_not_allowed("POST")
    if site.resource(subject.path) is None:
        raise not_found(site, subject)
    if action.lower().startswith("list") or action.lower() == "runcommand":
        # These need the cluster's API server; `Site.answers` has their handlers if the sandbox serves the cluster too.
        served = site.answers.get(place.kind)
        if served is None:
            raise errors.wrapped(501, "NotImplemented", f"The action '{call.action}' is not served here.")
        return served(site, call)
    if action.lower() != "abort":
        check_idle(site, subject)
    rule = take_rule(site, "POST", subject.path, action)
    if rule and rule.refuse:
        raise refused(site, call, rule)
    if rule is None:
        check_node_group_unlocked(site.world, subject)
    return _start(site, call, subject, action, rule)


def _start(site: Site, call: Call, subject: Place, action: str, rule: Any) -> Answer:
    protocol = protocol_for(subject.kind)
    chosen = _chosen_instances(site, call, subject, action)
    if protocol is None:
        apply_changes(site.world, rule.then if rule else ())
        audit_trail.record(site, call, "Succeeded", code=200)
        return Answer(200)
    if action.lower() == "abort":
        _cancel(site, subject)
    before = pool_states(site.world, subject.path) if subject.kind.endswith("/managedClusters") else {}
    if action.lower() in _STATES:
        set_state_of(site.world, subject.path, _STATES[action.lower()])
        _switch(site, subject, action.lower())
    operation = begin(site, call, subject.path, protocol, rule, before)
    _then(site, operation, action.lower(), chosen)
    headers = first_headers(operation, site.url, location=True)
    if protocol.aks and action.lower() in _KEEPS_BODY:
        return Answer(202, site.world.resources[subject.key], headers, aks=True)
    return Answer(202, headers=headers, aks=protocol.aks)


def _then(site: Site, operation: Operation, action: str, chosen: list[str]) -> None:
    """The built-in effect of the action, applied before any scenario rule."""
    finish = operation.finish

    def finished(ended: Operation) -> None:
        if ended.status == "Succeeded":
            for key in chosen:
                _bring_up(site, key)
        finish(ended)
        if action == "abort":
            settle(site.world, ended.subject, "Canceled")

    operation.finish = finished


def _switch(site: Site, subject: Place, action: str) -> None:
    """The power state changes immediately: a cluster reads Stopped while the stop is still running."""
    code = {"start": "Running", "stop": "Stopped"}.get(action)
    if code is None or CLUSTER not in subject.key:
        return
    above = cluster_of(subject.key)
    for key in [key for key in site.world.resources if key == above or key.startswith(above + "/agentpools/")]:
        body = site.world.resources[key]
        properties = {**body["properties"], "powerState": {"code": code}}
        if key != above:
            properties["provisioningState"] = _STATES[action]
        site.world.put({**body, "properties": properties})


def _cancel(site: Site, subject: Place) -> None:
    """Abort ends the cluster's running operation; a cluster that is busy without one becomes Canceled too."""
    for running in list(site.operations):
        if not running.done and within(subject.path, running.subject):
            running.end("Canceled", {"code": "Canceled", "message": "Operation is being canceled by user"})


def _chosen_instances(site: Site, call: Call, subject: Place, action: str) -> list[str]:
    """The instances named in a `manualUpgrade`, `reimage`… request. An unknown id is rejected."""
    if subject.kind == "Microsoft.Compute/virtualMachines" and action == "reapply":
        return [subject.key]
    if not subject.kind.startswith("Microsoft.Compute/virtualMachineScaleSets"):
        return []
    if subject.kind.endswith("/virtualMachines"):
        return [subject.key]
    sent = call.json()
    named = sent.get("instanceIds") if isinstance(sent, dict) else None
    if action == "manualUpgrade" and not named:
        raise errors.wrapped(
            400, "InvalidParameter", "Required parameter 'instanceIds' is missing (null).", target="instanceIds"
        )
    above = subject.key + "/virtualmachines/"
    there = {
        key: body
        for key, body in site.world.resources.items()
        if key.startswith(above) and "/" not in key[len(above) :]
    }
    if not named or named == ["*"]:
        return list(there)
    for name in named:
        if f"{above}{name}".lower() not in there:
            raise errors.wrapped(
                400,
                "InvalidParameter",
                f"The provided instanceId {name} is not an active Virtual Machine Scale Set VM instanceId.",
                target="instanceIds",
            )
    return [f"{above}{name}".lower() for name in named]


def _bring_up(site: Site, key: str) -> None:
    """Mark an instance as provisioned and on the latest model."""
    body = deepcopy(site.world.resources[key])
    properties = body["properties"]
    properties["provisioningState"] = "Succeeded"
    if "latestModelApplied" in properties:
        properties["latestModelApplied"] = True
    view = properties.get("instanceView") or {}
    for statuses in [
        view.get("statuses", []),
        *(extension.get("statuses", []) for extension in view.get("extensions", [])),
    ]:
        for status in statuses:
            if status["code"].lower().startswith("provisioningstate/failed"):
                status |= {
                    "code": "ProvisioningState/succeeded",
                    "level": "Info",
                    "displayStatus": "Provisioning succeeded",
                }
                status.pop("message", None)
    site.world.put(body)


def policy_states(site: Site, call: Call) -> Answer:
    """Compliance of the resources below a scope."""
    scope = call.place.scope
    context = f"{site.url}{scope}/providers/Microsoft.PolicyInsights/policyStates/$metadata#latest"
    rows = [row for row in site.world.policy_states if within(scope, row.get("resourceId", ""))]
    wanted = call.filter.lower().replace(" ", "")
    if wanted:
        tests = {
            "iscomplianteqfalse": False,
            "compliancestateeq'noncompliant'": False,
            "iscomplianteqtrue": True,
            "compliancestateeq'compliant'": True,
        }
        if wanted not in tests:
            raise errors.wrapped(400, "InvalidFilterInQueryString", f"The filter '{call.filter}' is not supported.")
        rows = [
            row
            for row in rows
            if bool(row.get("isCompliant", row.get("complianceState") == "Compliant")) == tests[wanted]
        ]
    top = call.query.get("$top", "")
    rows = rows[: int(top)] if top.isdigit() else rows
    value = [{"@odata.id": None, "@odata.context": f"{context}/$entity", **row} for row in rows]
    return Answer(200, {"@odata.context": context, "@odata.count": len(value), "value": value})


_QUERIES: dict[str, Handler] = {
    "Microsoft.ResourceGraph/resources": graph.query,
    "Microsoft.PolicyInsights/policyStates/queryResults": policy_states,
    "Microsoft.Compute/virtualMachines/instanceView": instance_view,
}

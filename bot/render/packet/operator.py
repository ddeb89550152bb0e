"""Azure Service Operator in a support packet: what it is, and what each of its objects says.

Azure's support teams often do not know it and hand the case back, so the page begins with a sentence for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.render.clean import one_line
from bot.render.packet.fenced import fenced
from bot.render.packet.recorded import KUBE
from handlers.evidence.wire import dig, rows, text

if TYPE_CHECKING:
    from handlers.clients.recording.case import Recording

API_GROUPS = ".azure.com"
"""How the API groups of the operator's objects end: `containerservice.azure.com`, `dbforpostgresql.azure.com`."""
RESOURCE_ID = "serviceoperator.azure.com/resource-id"
_LABEL = "app.kubernetes.io/name=azure-service-operator"
_DEFINITIONS = "/customresourcedefinitions"
MOST_WELL = 100

WHAT_IT_IS = (
    "Azure Service Operator (ASO) is an operator in Kubernetes. For each of its objects it calls Azure Resource "
    "Manager's public REST API (PUT, GET and DELETE of the resource named by the annotation "
    f"`{RESOURCE_ID}`), as the Azure command line, Terraform or Bicep do. It adds no API of its own: an error below "
    "was answered by the resource provider, and the same request sent with `az rest` gets the same answer. The team "
    "of that resource provider can look it up by resource id, time and correlation id."
)


@dataclass(frozen=True, slots=True)
class Managed:
    """One object of the operator, and what its Ready condition says."""

    kind: str
    name: str
    resource: str
    ready: str
    reason: str
    severity: str
    since: str
    says: str

    @property
    def well(self) -> bool:
        return self.ready == "True"


def is_there(recording: Recording) -> bool:
    """Whether the cluster was seen to have the operator: its objects, or the definitions of their kinds."""
    return any(_objects(recording)) or any(_defined(recording))


def objects(recording: Recording) -> list[Managed]:
    """What it manages: what is not ready comes first."""
    known = {(body.kind, body.name): body for body in map(_read, _objects(recording))}
    return sorted(known.values(), key=lambda managed: (managed.well, managed.kind, managed.name))


def as_markdown(cluster: str, known: list[Managed]) -> str:
    unwell = [managed for managed in known if not managed.well]
    lines = [f"# Azure Service Operator in {cluster}", "", WHAT_IT_IS, ""]
    if not known:
        lines += ["Its objects were not read: `kubectl get <kind> --all-namespaces --output yaml` shows them.", ""]
    for managed in unwell:
        lines += _told(managed)
    if known:
        lines += [f"## Ready: {len(known) - len(unwell)} of {len(known)}", ""]
        ready = [managed for managed in known if managed.well]
        lines += [f"- {managed.kind} {managed.name}: `{managed.resource}`" for managed in ready[:MOST_WELL]]
        lines += [f"- and {len(ready) - MOST_WELL} more"] if len(ready) > MOST_WELL else []
    return "\n".join([*lines, ""])


def _told(managed: Managed) -> Iterator[str]:
    yield f"## {managed.kind} {managed.name}: {managed.reason or 'not ready'}"
    yield ""
    yield f"- resource id: `{managed.resource or 'not made yet: the annotation is missing'}`"
    yield f"- Ready: {managed.ready or 'no condition'}, severity {managed.severity or 'none'}, since {managed.since}"
    yield from ("", *fenced(managed.says or "no message"), "")


def _objects(recording: Recording) -> Iterator[Mapping[str, Any]]:
    for call in recording.calls:
        path = call.question.path
        if not path.startswith(f"{KUBE}/apis/") or not path.split("/")[3].endswith(API_GROUPS):
            continue
        for body in (call.answer, *rows(call.answer, "items")):
            if isinstance(body, Mapping) and text(body, "metadata", "name"):
                yield body


def _defined(recording: Recording) -> Iterator[Any]:
    for call in recording.calls:
        labelled = _LABEL in dict(call.question.params).get("labelSelector", "")
        if labelled and call.question.path.endswith(_DEFINITIONS):
            yield from rows(call.answer, "items")


def _read(body: Mapping[str, Any]) -> Managed:
    ready = next((row for row in rows(body, "status", "conditions") if text(row, "type") == "Ready"), {})
    namespace, name = text(body, "metadata", "namespace"), text(body, "metadata", "name")
    annotations = dig(body, "metadata", "annotations")
    return Managed(
        kind=one_line(text(body, "kind")),
        name=one_line("/".join(filter(None, (namespace, name)))),
        resource=one_line(str((annotations or {}).get(RESOURCE_ID, ""))),
        ready=text(ready, "status"),
        reason=one_line(text(ready, "reason")),
        severity=text(ready, "severity"),
        since=text(ready, "lastTransitionTime") or "unknown",
        says=text(ready, "message"),
    )

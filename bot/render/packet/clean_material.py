"""Redacts what a support packet is made of, before it is put on one line, into a table or into JSON.

A secret is known by what stands around it, and a page changes that: what is packed is redacted again, but then it may
be too late. Answers of Azure and of clusters were redacted when they came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.redaction import redacted
from bot.render.packet.material import Happened, Material
from handlers.clients.redact import redact_text
from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.azure import AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.compute import ScaleSets
from handlers.evidence.control_plane_logs import ControlPlaneLogs
from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster
from handlers.evidence.nexus.sites import NexusSite
from handlers.evidence.support import Deployments, NexusFabrics, Tenancy

if TYPE_CHECKING:
    from handlers.clients.recording.case import RecordedCall


SHOWN: tuple[type, ...] = (
    *(ManagedCluster, AgentPools, NetworkProfile, ScaleSets, HybridCluster, ConnectedCluster, NexusSite, ArcBridge),
    *(Tenancy, NexusFabrics, Deployments, ControlPlaneLogs),
)
"""The facts that pages show; the others, 150,000 pods among them, are left out."""


def clean_material(material: Material) -> Material:
    """The same without secrets."""
    return replace(
        material,
        recording=replace(material.recording, calls=tuple(map(_call, material.recording.calls))),
        done=tuple(map(_happened, material.done)),
        facts={kind: _value(material.facts[kind]) for kind in SHOWN if kind in material.facts},
    )


def _call(call: RecordedCall) -> RecordedCall:
    answer, body, detail = redacted(call.answer), redacted(call.body), redact_text(call.detail)
    if answer is call.answer and body is call.body and detail == call.detail:
        return call
    return replace(call, answer=answer, body=body, detail=detail)


def _happened(row: Happened) -> Happened:
    return replace(row, what=redact_text(row.what), about=redact_text(row.about), says=redact_text(row.says))


def _value(value: Any) -> Any:
    """A fact with all that is inside it."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, tuple):
        return tuple(map(_value, value))
    if isinstance(value, Mapping):
        return redacted(dict(value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _value(getattr(value, field.name)) for field in fields(value)})
    return value

"""The admission webhooks of the cluster: what may refuse a creation, and who answers for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, number, rows, text, texts
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence, NotApplicable

VALIDATING, MUTATING = "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
PATHS = {
    VALIDATING: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    MUTATING: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Which writes a webhook is asked about."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration."""

    kind: str
    configuration: str
    name: str
    fails_closed: bool
    service: str
    """`namespace/name`; empty where it has a URL."""
    url: str
    timeout_s: int
    rules: tuple[Rule, ...]
    namespaces: Mapping[str, Any]
    """Its namespaceSelector."""
    position: int
    """Its place in the configuration, from 0: a JSON patch knows it by that alone."""

    @property
    def subject(self) -> str:
        return f"{self.kind}/{self.configuration}"


@dataclass(frozen=True, kw_only=True)
class Webhooks(Evidence):
    """The cluster's admission webhooks."""

    webhooks: tuple[Webhook, ...]


@collector(
    reads=(),
    sees=(
        "list validatingwebhookconfigurations.admissionregistration.k8s.io",
        "list mutatingwebhookconfigurations.admissionregistration.k8s.io",
    ),
    deadline_s=15,
)
async def webhooks(unwell: UnwellNamespaces, kube: KubeReader) -> Webhooks | NotApplicable:
    """the admission webhooks"""
    if not unwell.namespaces:
        return NotApplicable("nothing is unwell in any namespace")
    validating = await kube.list(PATHS[VALIDATING], partial(read_webhooks, VALIDATING))
    mutating = await kube.list(PATHS[MUTATING], partial(read_webhooks, MUTATING))
    return Webhooks(
        source=f"{validating.source}; {mutating.source}",
        taken_at=validating.taken_at,
        truncated=validating.truncated or mutating.truncated,
        webhooks=tuple(webhook for found in (*validating.items, *mutating.items) for webhook in found),
    )


def read_webhooks(kind: str, body: Mapping[str, Any]) -> tuple[Webhook, ...]:
    """The webhooks of one configuration, from its wire body."""
    name = text(body, "metadata", "name")
    return tuple(_webhook(kind, name, row, position) for position, row in enumerate(rows(body, "webhooks")))


def _webhook(kind: str, configuration: str, row: Mapping[str, Any], position: int) -> Webhook:
    service = dig(row, "clientConfig", "service")
    return Webhook(
        kind=kind,
        configuration=configuration,
        name=text(row, "name"),
        fails_closed=text(row, "failurePolicy") != "Ignore",
        service=f"{text(service, 'namespace')}/{text(service, 'name')}" if service else "",
        url=text(row, "clientConfig", "url"),
        timeout_s=number(row, "timeoutSeconds") or 10,
        rules=tuple(_rule(item) for item in rows(row, "rules")),
        namespaces=dict(dig(row, "namespaceSelector") or {}),
        position=position,
    )


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(texts(row, "operations"), texts(row, "apiGroups"), texts(row, "resources"))

"""Which resource providers the subscription may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import each, from_subscription
from handlers.evidence.wire import need_text
from handlers.model import Evidence

PROVIDERS_API = "2021-04-01"


@dataclass(frozen=True, kw_only=True)
class ProviderRegistrations(Evidence):
    """The registration state of every resource provider that the cluster needs, by namespace."""

    states: Mapping[str, str]

    def state(self, namespace: str) -> str:
        """Empty where it could not be seen; then that is among the gaps."""
        return self.states.get(namespace.lower(), "")


@collector(reads=("Microsoft.Resources/subscriptions/providers/read",))
async def provider_registrations(cluster: ManagedCluster, arm: ArmReader) -> ProviderRegistrations:
    """the registrations of resource providers"""
    above = f"/subscriptions/{cluster.subscription}/providers"
    # One by one: the list of all providers, with every type and region of each, is several megabytes.
    names = [namespace for namespace, _ in cluster.namespaces]
    answers, gaps = await each(
        names, lambda name: from_subscription(cluster.subscription, arm.get(f"{above}/{name}", PROVIDERS_API))
    )
    states = {
        need_text(answer.body, "namespace").lower(): need_text(answer.body, "registrationState") for answer in answers
    }
    return ProviderRegistrations(
        source=f"GET {above}/{{{','.join(names)}}}",
        taken_at=min(answer.taken_at for answer in answers),
        gaps=gaps,
        states=states,
    )

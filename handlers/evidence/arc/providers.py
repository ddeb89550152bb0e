"""Whether the resource providers that a resource bridge needs are registered: its own, and those of its product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.gather import each, from_subscription
from handlers.evidence.providers import PROVIDERS_API
from handlers.evidence.wire import need_text
from handlers.model import Evidence, NotApplicable

ALWAYS = (
    ("Microsoft.ExtendedLocation", "custom locations"),
    ("Microsoft.ResourceConnector", "resource bridges"),
)
OF_PRODUCT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "vmware": (("Microsoft.ConnectedVMwarevSphere", "Arc-enabled VMware vSphere"),),
    "scvmm": (("Microsoft.ScVmm", "Arc-enabled System Center VMM"),),
    "hci": (
        ("Microsoft.AzureStackHCI", "Azure Local"),
        ("Microsoft.HybridContainerService", "AKS on Azure Local"),
    ),
}


def needed_by(bridge: ArcBridge) -> tuple[tuple[str, str], ...]:
    """Each provider that must be registered before this bridge is deployed, and what for."""
    return (*ALWAYS, *OF_PRODUCT.get(bridge.infrastructure.lower(), ()))


@dataclass(frozen=True, kw_only=True)
class BridgeProviders(Evidence):
    """The registration state of each provider that the bridge needs, by its name in lower case."""

    states: Mapping[str, str]

    def state(self, namespace: str) -> str:
        """Empty where it could not be seen; then that is among the gaps."""
        return self.states.get(namespace.lower(), "")

    def missing(self, bridge: ArcBridge) -> list[tuple[str, str, str]]:
        """Those that are not registered: the provider, what it is for, its state."""
        states = [(name, purpose, self.state(name)) for name, purpose in needed_by(bridge)]
        return [known for known in states if known[2] and known[2].lower() != "registered"]


@collector(reads=("Microsoft.Resources/subscriptions/providers/read",))
async def bridge_providers(bridge: ArcBridge, arm: ArmReader) -> BridgeProviders | NotApplicable:
    """the registrations of the bridge's resource providers"""
    if not bridge.unwell:
        return NotApplicable(f"{bridge.in_words}: nothing is to be explained")
    above = f"/subscriptions/{bridge.subscription}/providers"
    names = [name for name, _ in needed_by(bridge)]
    answers, gaps = await each(
        names, lambda name: from_subscription(bridge.subscription, arm.get(f"{above}/{name}", PROVIDERS_API))
    )
    return BridgeProviders(
        source=f"GET {above}/{{{','.join(names)}}}",
        taken_at=min(answer.taken_at for answer in answers),
        gaps=gaps,
        states={
            need_text(answer.body, "namespace").lower(): need_text(answer.body, "registrationState")
            for answer in answers
        },
    )

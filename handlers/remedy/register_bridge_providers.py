"""Register the resource providers that a resource bridge needs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.arc.providers import BridgeProviders
from handlers.evidence.arc.writer import BridgeWriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import some
from handlers.remedy.titles import titled

ETA, LIMIT = timedelta(minutes=2), timedelta(minutes=30)
"""Most providers are there within minutes; Azure names no end."""
REGISTERABLE = frozenset({"notregistered", "unregistered"})


@remedy(codes=("arc-bridge-offline-providers",), writes=("*/register/action",))
def register_bridge_providers(
    finding: Finding, bridge: ArcBridge, providers: BridgeProviders, may: BridgeWriterMay | Unavailable
) -> Iterator[Plan | Forbidden]:
    """Register the resource providers of the bridge; that alone does not heal it."""
    subscription = f"/subscriptions/{bridge.subscription}"
    missing = [(name, state) for name, _, state in providers.missing(bridge)]
    for name, state in missing:
        if state.lower() not in REGISTERABLE:
            yield Forbidden(f"{name} is {state}", "wait until that has ended, then check again")
        elif isinstance(may, BridgeWriterMay) and may.do(f"{name}/register/action", subscription) is False:
            what = f"the writer may not do {name}/register/action on subscription {bridge.subscription}"
            yield Forbidden(what, f"grant {name}/register/action on {subscription} to the writer's identity")
    several = f"{len(missing)} resource providers" if len(missing) > 1 else missing[0][0]
    yield Plan(
        remedy="register-bridge-providers",
        title=titled("Register {}", several),
        cluster=bridge.id,
        target=subscription,
        steps=tuple(_step(bridge.subscription, name) for name, _ in missing),
        before={f"registration of {name}": state for name, state in missing},
        undo=" && ".join(
            f"az provider unregister --subscription {bridge.subscription} --namespace {name}" for name, _ in missing
        ),
        verify=Verify(
            "arc-bridge-offline-providers",
            finding.subject,
            remains=f"Registered; {bridge.name} stays {bridge.state} until {_afterwards(bridge)}",
        ),
        risk=Risk.LOW,
        could_go_wrong=(
            f"it does not heal {bridge.name}: that stays {bridge.state} until {_afterwards(bridge)}",
            "someone may have unregistered it on purpose: its kinds of resources can be created again",
        ),
        eta=ETA,
        limit=LIMIT,
        warnings=(f"could not see {may}",) if isinstance(may, Unavailable) else (),
        effect=f"{some(name for name, _ in missing)}: registered in the subscription of {bridge.name}, where nothing "
        f"that runs is changed; {bridge.name} stays {bridge.state} until {_afterwards(bridge)}",
    )


def _afterwards(bridge: ArcBridge) -> str:
    """What ends its trouble. Azure Local has deployed its bridge itself, and nobody else may."""
    if bridge.of_azure_local:
        return "support has repaired it (part of Azure Local: do not delete or deploy it yourself)"
    return "it is deleted and deployed again"


def _step(subscription: str, namespace: str) -> Step:
    above = f"/subscriptions/{subscription}"
    return Step(
        verb=Verb.REGISTER_PROVIDER,
        target=above,
        says=f"Register {namespace} in subscription {subscription}",
        request=f"POST {above}/providers/{namespace}/register",
        command=f"az provider register --subscription {subscription} --namespace {namespace} --wait",
        arguments={"namespace": namespace},
    )

"""Register a resource provider in the cluster's subscription."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.evidence.azure import ManagedCluster
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import WriterMay
from handlers.evidence.providers import ProviderRegistrations
from handlers.model import Finding, NotApplicable, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import Act, doubts, stands_in_the_way
from handlers.remedy.titles import titled

ETA, LIMIT = timedelta(minutes=2), timedelta(minutes=30)
"""Most providers are there within minutes; Azure names no end."""
_NO_DENIALS = NotApplicable("deny assignments hold in the node resource group, not in the subscription")


@remedy(codes=("subscription-not-registered",), writes=("*/register/action",))
def register_provider(
    finding: Finding,
    cluster: ManagedCluster,
    providers: ProviderRegistrations,
    locks: Locks | Unavailable,
    may: WriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Register the resource provider in the subscription."""
    namespace = str(finding.facts["namespace"])
    subscription, state = f"/subscriptions/{cluster.subscription}", providers.state(namespace)
    if state.lower() not in ("notregistered", "unregistered"):
        # Registration ends by itself; while it unregisters, Azure accepts no other request.
        yield Forbidden(f"{namespace} is {state or 'in a state that could not be seen'}", "wait, then check again")
        return
    acts = (Act(f"{namespace}/register/action", subscription),)
    yield from stands_in_the_way(acts, cluster, locks, _NO_DENIALS, may)
    yield Plan(
        remedy="register-provider",
        title=titled("Register {}", namespace),
        cluster=cluster.id,
        target=subscription,
        steps=(
            Step(
                verb=Verb.REGISTER_PROVIDER,
                target=subscription,
                says=f"Register {namespace} in subscription {cluster.subscription}",
                request=f"POST {subscription}/providers/{namespace}/register",
                command=f"az provider register --subscription {cluster.subscription} --namespace {namespace} --wait",
                arguments={"namespace": namespace},
            ),
        ),
        before={f"registration of {namespace}": state},
        undo=f"az provider unregister --subscription {cluster.subscription} --namespace {namespace}",
        verify=Verify("subscription-not-registered", finding.subject),
        risk=Risk.LOW,
        could_go_wrong=("someone may have unregistered it on purpose: its kinds of resources can be created again",),
        eta=ETA,
        limit=LIMIT,
        warnings=doubts(acts, locks, _NO_DENIALS, may),
        effect=f"{namespace} is registered in the subscription of {cluster.name} ({cluster.subscription}): nothing "
        "that runs there is changed",
    )

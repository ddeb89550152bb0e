"""Can anything in the subscription be changed?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.node_machines import OFF
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import Instances, ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.subscriptions import READ_ONLY_CODE, Subscription, Subscriptions, named_subscription
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

CODE = READ_ONLY_CODE


@diagnostic(
    codes=(CODE,),
    area="governance",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, Instances, Nodes),
        "the subscription's own state says that it can be written to; the rest only tells what a disabled one has hit",
    ),
)
def read_only_disabled_subscription(
    cluster: ManagedCluster,
    subscriptions: Subscriptions,
    complaints: Complaints,
    instances: Instances | Unavailable,
    nodes: Nodes | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The subscription is disabled: Azure refuses every change in it."""
    for subscription in subscriptions.subscriptions:
        if subscription.read_only:
            yield _found(cluster, subscription, complaints, _switched_off(instances, nodes))
    if complaints.failures and complaints.gaps:
        yield complaints.gaps[0]  # an error that was not seen may name another subscription
    elif subscriptions.complete:
        yield Clear("; ".join(map(_well, subscriptions.subscriptions)))


def _well(subscription: Subscription) -> str:
    unpaid = ": an invoice is overdue, and every operation is still allowed" if subscription.past_due else ""
    return f"subscription {subscription.name or subscription.id} is {subscription.state}{unpaid}"


def _switched_off(instances: Instances | Unavailable, nodes: Nodes | Unavailable | NotApplicable) -> tuple[str, ...]:
    """Nodes whose machines are off: Azure deallocates the machines of a disabled subscription."""
    if not isinstance(instances, Instances) or not isinstance(nodes, Nodes):
        return ()
    off = {machine.id.lower() for machine in instances.machines if machine.power.lower() in OFF}
    return tuple(node.subject for node in nodes.nodes if node.machine.lower() in off and not node.is_ready)


def _found(
    cluster: ManagedCluster, subscription: Subscription, complaints: Complaints, off: tuple[str, ...]
) -> Finding:
    own = subscription.id == cluster.subscription.lower()
    told = [said for said in complaints.standing(CODE) if named_subscription(said) in ("", subscription.id)]
    # Azure does not say since when it is disabled: a failure is its doing only where Azure's error says so.
    harmed = complaints.claimed(_about(told, complaints), (CODE,))
    place = "the cluster's subscription" if own else "a subscription that the cluster depends on"
    return Finding(
        code=CODE,
        subject=f"/subscriptions/{subscription.id}",
        affects=(*harmed, *(off if own else ())),
        because=(
            (
                f"{place}, {subscription.name or subscription.id}, is {subscription.state}: "
                "it can be read, and every change is refused"
            ),
            *_terms(subscription),
            *([f"{len(off)} nodes are not Ready, and their machines are switched off"] if off and own else []),
            *(str(said) for said in told[:1]),
        ),
        facts={
            "disabled": subscription.id,
            "name": subscription.name or subscription.id,
            "state": subscription.state,
            "offer": subscription.offer,
            "spending_limit": subscription.spending_limit,
            "own": own,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _about(told: list[Complaint], complaints: Complaints) -> list[str]:
    """What failed because of this subscription. What a parent took over from its part is among the failures' own."""
    mine = [said.error for said in told]
    return [failure.subject for failure in complaints.failures if failure.error in mine]


def _terms(subscription: Subscription) -> Iterator[str]:
    if subscription.offer:
        limit = f", spending limit {subscription.spending_limit}" if subscription.spending_limit else ""
        yield f"it is paid for as {subscription.offer.partition('_')[0]}{limit}"

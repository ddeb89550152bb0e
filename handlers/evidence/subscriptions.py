"""The state of subscriptions: one that is disabled can be read, and nothing in it can be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.gather import each, from_subscription
from handlers.evidence.wire import need_text, text
from handlers.model import Evidence, Unavailable
from runbooks.linear import compile_linear

READ_ONLY_CODE = "read-only-disabled-subscription"
"""The finding code that Azure's refusals of this kind are recognised as."""
SUBSCRIPTIONS_API = "2022-12-01"
READ_ONLY = frozenset({"disabled", "warned", "expired", "deleted"})
"""Azure subscription states: in these, nothing can be created or updated. PastDue still allows every operation."""
MOST_NAMED = 3
"""Subscriptions beside the cluster's own that are asked about: networks live in one or two others."""
_NAMED = compile_linear(r"subscription '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'", ignore_case=True)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscription, as Azure Resource Manager tells it."""

    id: str
    name: str
    state: str
    spending_limit: str
    """On, Off or CurrentPeriodOff."""
    offer: str
    """`EnterpriseAgreement_2014-09-01`, `PayAsYouGo_2014-09-01`…: how it is paid for."""

    @property
    def read_only(self) -> bool:
        return self.state.lower() in READ_ONLY

    @property
    def past_due(self) -> bool:
        return self.state.lower() == "pastdue"


@dataclass(frozen=True, kw_only=True)
class Subscriptions(Evidence):
    """The cluster's subscription, and those that Azure's errors call disabled."""

    subscriptions: tuple[Subscription, ...]


def named_subscription(complaint: Complaint) -> str:
    """The id of the subscription that a refusal is about; empty where it names none."""
    found = _NAMED.search(complaint.error.message)
    return found[1].lower() if found else ""


@collector(reads=("Microsoft.Resources/subscriptions/read",))
async def subscriptions(cluster: ManagedCluster, complaints: Complaints | Unavailable, arm: ArmReader) -> Subscriptions:
    """the state of the subscription"""
    wanted = dict.fromkeys((cluster.subscription.lower(), *_named(complaints)))
    ids = [*wanted][: MOST_NAMED + 1]
    answers, gaps = await each(
        ids, lambda name: from_subscription(name, arm.get(f"/subscriptions/{name}", SUBSCRIPTIONS_API))
    )
    return Subscriptions(
        source=", ".join(answer.source for answer in answers),
        taken_at=min(answer.taken_at for answer in answers),
        truncated=len(wanted) > len(ids),
        gaps=gaps,
        subscriptions=tuple(read_subscription(answer.body) for answer in answers),
    )


def read_subscription(body: Mapping[str, Any]) -> Subscription:
    """A subscription from its wire body."""
    return Subscription(
        id=need_text(body, "subscriptionId").lower(),
        name=text(body, "displayName"),
        state=need_text(body, "state"),
        spending_limit=text(body, "subscriptionPolicies", "spendingLimit"),
        offer=text(body, "subscriptionPolicies", "quotaId"),
    )


def _named(complaints: Complaints | Unavailable) -> Iterator[str]:
    if isinstance(complaints, Complaints):
        yield from (
            found for complaint in complaints.standing(READ_ONLY_CODE) if (found := named_subscription(complaint))
        )

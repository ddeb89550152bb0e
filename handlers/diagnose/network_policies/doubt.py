"""Why a drop is no proof: policies are additive, and what was not read, or is of another kind, may allow it."""

from __future__ import annotations

from handlers.diagnose.network_policies.paths import Dropped
from handlers.evidence.policy_peers import OtherPolicies
from handlers.model import NotApplicable, Unavailable, Why

MOST_NAMED = 3


def doubt(
    path: Dropped, others: OtherPolicies | Unavailable | NotApplicable, *, all_read: bool = True
) -> Unavailable | None:
    """What keeps a policy from being blamed for this; None where the connection is surely dropped."""
    wanted = f"whether {path.source.namespace}/{path.source.name} reaches {path.target.name}"
    if isinstance(others, Unavailable):
        return others
    if not all_read:
        return Unavailable(wanted, Why.FAILED, "only a part of the network policies was read")
    if isinstance(others, NotApplicable):
        return None
    decision = path.decision
    ends = ((decision.egress, path.source.namespace), (decision.ingress, path.end.namespace))
    may = [(side, others.about(namespace)) for side, namespace in ends if not side.allowed]
    if not all(names for _, names in may):  # one end is enough, and nothing else is about that one
        return None
    restricting = dict.fromkeys(policy.subject for side, _ in may for policy in side.choosing)
    allowing = dict.fromkeys(name for _, names in may for name in names)
    names = ", ".join([*allowing][:MOST_NAMED])
    told = f"{', '.join([*restricting][:MOST_NAMED])} does not allow it, but what Calico and Cilium have themselves may: {names}"
    return Unavailable(wanted, Why.ABSENT, f"{told} (not evaluated here)")

"""Why a drop is no proof: policies are additive, and what was not read, or is of another kind, may allow it."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.diagnose.network_policies.decision import decide
from handlers.diagnose.network_policies.engine import Rules
from handlers.diagnose.network_policies.paths import Dropped, end_of
from handlers.diagnose.network_policies.rules import End
from handlers.evidence.policy_peers import OtherPolicies
from handlers.evidence.selectors import Labels
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
    told = f"{', '.join([*restricting][:MOST_NAMED])} does not allow it, but what Calico and Cilium have themselves may"
    return Unavailable(wanted, Why.ABSENT, f"{told}: {names} (not evaluated here)")


def depends_on_engine(path: Dropped, rules: Rules, namespaces: Mapping[str, Labels]) -> Unavailable | None:
    """Where only an ipBlock allows it, and the engine is not known."""
    if rules.strict is rules.loose:
        return None
    here, protocol = end_of(path.source, namespaces), path.target.protocol
    if not any(_differ(rules, here, end, port, protocol) for end, port in path.target.ends):
        return None
    wanted = f"whether {path.source.namespace}/{path.source.name} reaches {path.target.name}"
    told = "only an ipBlock allows it, which Cilium takes for no pod; which engine enforces policies here is not known"
    return Unavailable(wanted, Why.ABSENT, told)


def _differ(rules: Rules, here: End, end: End, port: int, protocol: str) -> bool:
    allowed = {decide(reading, here, end, port, protocol).allowed for reading in (rules.strict, rules.loose)}
    return len(allowed) > 1

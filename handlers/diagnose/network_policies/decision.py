"""May one end reach the other? Both directions asked, with the policies that restrict and the one that allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handlers.diagnose.network_policies.rules import EGRESS, INGRESS, End, Policy


@dataclass(frozen=True, slots=True)
class Side:
    """What one direction says: the policies that choose the pod at this end, and the first that lets it through."""

    direction: str
    choosing: tuple[Policy, ...] = ()
    allowing: Policy | None = None

    @property
    def allowed(self) -> bool:
        """As long as no policy chooses a pod, everything is allowed."""
        return not self.choosing or self.allowing is not None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a connection passes, and what each end says."""

    egress: Side
    ingress: Side

    @property
    def allowed(self) -> bool:
        return self.egress.allowed and self.ingress.allowed

    @property
    def blocking(self) -> Side | None:
        """The first side on the way that drops it."""
        return next((side for side in (self.egress, self.ingress) if not side.allowed), None)


def decide(policies: Sequence[Policy], source: End, target: End, port: int, protocol: str = "TCP") -> Decision:
    """Ask all policies about one connection."""
    if _within_itself(source, target):
        return Decision(Side(EGRESS), Side(INGRESS))
    outgoing = _side(policies, EGRESS, source, target, target, port, protocol)
    if _from_its_node(source, target):
        return Decision(outgoing, Side(INGRESS))
    return Decision(outgoing, _side(policies, INGRESS, target, source, target, port, protocol))


def _side(
    policies: Sequence[Policy], direction: str, own: End, other: End, target: End, port: int, protocol: str
) -> Side:
    choosing = tuple(policy for policy in policies if policy.chooses(own, direction))
    allowing = next((policy for policy in choosing if _lets(policy, direction, other, target, port, protocol)), None)
    return Side(direction, choosing, allowing)


def _lets(policy: Policy, direction: str, other: End, target: End, port: int, protocol: str) -> bool:
    return any(rule.lets(other, target, port, protocol, policy.namespace) for rule in policy.rules[direction])


def _within_itself(source: End, target: End) -> bool:
    """A pod always reaches itself."""
    return bool(source.namespace) and (source.namespace, source.name) == (target.namespace, target.name)


def _from_its_node(source: End, target: End) -> bool:
    """The node that a pod runs on always reaches it (probes), and with it what is in the node's own network."""
    of_node = not source.namespace or source.host_network
    return of_node and bool(source.node) and source.node == target.node

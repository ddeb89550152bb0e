"""How a remedy says what it is for and what it needs: like a diagnostic, by its annotations.

    @remedy(codes=("nodepool-failed",), writes=("Microsoft.ContainerService/managedClusters/agentPools/write",))
    def reconcile_pool(finding: Finding, pools: AgentPools, nodes: Nodes | Unavailable) -> Iterator[Plan | Forbidden]:
        ...

It yields one plan, or every reason why there is none. A fact that it cannot do without and that could not be seen is
such a reason by itself. It is pure: no client, no clock.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.engine.declare import BadDeclaration, Need, needs_of
from handlers.model import Finding, NotApplicable, Unavailable
from handlers.remedy.plan import Forbidden, Offer, Plan
from handlers.remedy.reasons import stopped_by

Planner = Callable[..., Iterator[Plan | Forbidden]]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A function that turns a finding and facts into a plan."""

    name: str
    codes: tuple[str, ...]
    plan: Planner
    needs: tuple[Need, ...]
    writes: tuple[str, ...]
    """Azure actions that the writer needs."""
    acts: tuple[str, ...]
    """Kubernetes verbs that the writer needs ("patch poddisruptionbudgets.policy")."""
    does: str
    when: Callable[[Finding], bool] = lambda _: True
    """Whether it is meant for this finding at all, where one code covers several kinds of things."""


def remedy(
    *,
    codes: tuple[str, ...],
    writes: tuple[str, ...] = (),
    acts: tuple[str, ...] = (),
    when: Callable[[Finding], bool] = lambda _: True,
) -> Callable[[Planner], Remedy]:
    """Declare a remedy for findings with these codes. Its docstring says what it does, to people."""

    def declare(plan: Planner) -> Remedy:
        where = f"{plan.__module__}.{plan.__qualname__}"
        finding, *rest = needs_of(plan)
        if finding.kind is not Finding:
            raise BadDeclaration(f"{where} must take the finding first")
        if not codes or not (writes or acts):
            raise BadDeclaration(f"{where} must name the codes it is for, and what it writes")
        if not inspect.isgeneratorfunction(plan):
            raise BadDeclaration(f"{where} must be a plain generator function: it yields a plan or the reasons against")
        text = inspect.getdoc(plan)
        if not text:
            raise BadDeclaration(f"{where} has no docstring: it is what people see")
        return Remedy(
            plan.__name__.replace("_", "-"), codes, plan, tuple(rest), writes, acts, text.split("\n\n")[0], when
        )

    return declare


def offer(remedy: Remedy, finding: Finding, facts: Mapping[type, Any]) -> Offer:
    """Run one remedy on one finding."""
    arguments = {need.name: facts[need.kind] for need in remedy.needs}
    blind = tuple(_blind(remedy, arguments))
    # If Azure named a cause, that is the first thing to fix, whatever else could not be seen.
    blind = (*stopped_by(finding), *blind) if blind else ()
    yielded = () if blind else tuple(remedy.plan(finding, **arguments))
    plans = [result for result in yielded if isinstance(result, Plan)]
    forbidden = (*blind, *(result for result in yielded if isinstance(result, Forbidden)))
    if not forbidden and len(plans) != 1:
        raise BadDeclaration(f"{remedy.name} yielded {len(plans)} plans and no reason for {finding.key}")
    # One reason against it is enough.
    return Offer(finding.code, finding.subject, remedy.name, None if forbidden else plans[0], forbidden)


def _blind(remedy: Remedy, arguments: Mapping[str, Any]) -> Iterator[Forbidden]:
    for need in remedy.needs:
        value = arguments[need.name]
        if isinstance(value, Unavailable) and not need.or_unavailable:
            do = f"grant {value.grant} to the bot, then check again" if value.grant else "check again"
            yield Forbidden(f"could not see {value}", do)
        if isinstance(value, NotApplicable) and not need.or_not_applicable:
            yield Forbidden(f"does not apply: {value.because}", "follow the steps")

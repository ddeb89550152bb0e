"""Is everything ready that Azure Service Operator manages from this cluster?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from handlers.counted import counted
from handlers.diagnose.aso.problems import Standings, alike, named
from handlers.diagnose.aso.refused import IDENTITY, REFUSED, by_identity, refused, without_permission
from handlers.diagnose.aso.standing import Stage, Standing
from handlers.diagnose.aso.waiting import (
    BUSY,
    WAITING,
    blocked,
    busy_cluster,
    by_cluster,
    by_what_is_missing,
    flapping,
    waiting,
)
from handlers.engine.declare import diagnostic
from handlers.evidence.aso.cluster_states import AsoClusterStates, awaited_cluster
from handlers.evidence.aso.resources import AsoResources
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why

MOST_NAMED = 5
"""Different problems of one kind: on a phone nobody reads a sixth."""


@diagnostic(codes=(REFUSED, IDENTITY, WAITING, BUSY), area="workloads")
def aso_resources(
    cluster: ManagedCluster,
    resources: AsoResources,
    events: WarningEvents | Unavailable,
    states: AsoClusterStates | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """An Azure resource that Azure Service Operator manages from this cluster is not ready."""
    said = Standings.of(resources, events)
    yield from _at_most(
        without_permission(one, resources, cluster) for one in said.problems(Stage.IDENTITY, by_identity)
    )
    yield from _at_most(refused(one, resources, cluster) for one in said.problems(Stage.REFUSED, alike))
    yield from _at_most(_held_back(said, cluster, states))
    yield from _at_most(flapping(one, resources, cluster) for one in said.problems(Stage.FLAPPING, alike))
    yield from _unsaid(said)
    if resources.complete:
        yield Clear(_in_words(said))


def _held_back(
    said: Standings, cluster: ManagedCluster, states: AsoClusterStates | Unavailable | NotApplicable
) -> Iterator[Judgement]:
    for problem in said.problems(Stage.WAITING, by_what_is_missing):
        yield from waiting(problem, said, cluster)
    for problem in said.problems(Stage.BLOCKED, lambda one: by_cluster(one, said.resources)):
        which = awaited_cluster(problem.first.resource, said.resources)
        if which:
            yield from busy_cluster(problem, which, said.resources, cluster, states)
        else:
            yield from blocked(problem, said.resources, cluster)


def _at_most(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """The first few findings, each with its name; the last of them counts the rest."""
    found: list[Finding] = []
    for judgement in judgements:
        if isinstance(judgement, Finding):
            found.append(judgement)
        else:
            yield judgement
    shown, rest = found[:MOST_NAMED], found[MOST_NAMED:]
    if rest:
        told = f"{counted(len(rest), 'more problem')} of this kind: {named(one.subject for one in rest)}"
        shown[-1] = replace(shown[-1], because=(*shown[-1].because, told))
    yield from shown


def _unsaid(said: Standings) -> Iterator[Unavailable]:
    silent = [one.subject for one in said.at(Stage.UNSAID)]
    if silent:
        detail = "Azure Service Operator has written no condition: it does not run, or does not watch that namespace"
        yield Unavailable(f"the state of {named(silent)}", Why.ABSENT, detail)


def _in_words(said: Standings) -> str:
    total = counted(len(said.all), "resource")
    ready = sum(1 for one in said.all if one.resource.is_ready)
    at_work = f", {len(said.all) - ready} being worked on" if ready < len(said.all) else ""
    return f"{total} of Azure Service Operator, {ready} Ready{at_work}{_over(said)}"


def _over(said: Standings) -> str:
    """Failures that ended well: harmless, and what somebody saw who asks."""
    ended = [one for one in said.at(Stage.READY) if one.failures and one.last]
    if not ended:
        return ""
    last: Standing = max(ended, key=lambda one: (one.failures, one.subject))
    tries = counted(last.failures, "try", "tries")
    return f"; {last.subject} is Ready after {tries} that failed, the last at {last.last:%H:%M} UTC"

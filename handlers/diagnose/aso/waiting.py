"""Findings about what Azure Service Operator waits for: something that is not there, or a managed cluster at work."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from datetime import timedelta

from handlers.diagnose.asked.unknown import nearest
from handlers.diagnose.aso.facts import also, facts_of, quoted, since, tries
from handlers.diagnose.aso.problems import Problem, Standings
from handlers.diagnose.aso.standing import Stage, Standing
from handlers.evidence.aso.cluster_states import AsoClusterStates, awaited_cluster
from handlers.evidence.aso.resources import AsoResources
from handlers.evidence.azure import ManagedCluster, still_runs
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why
from handlers.resource_id import ResourceId
from runbooks.linear import compile_linear

WAITING, BUSY = "aso-waiting-precondition", "aso-transient-cluster-state"
LOOKS_AGAIN = timedelta(minutes=15)
"""ASO looks at what waits every few minutes: what is over for longer it has not seen."""
AZURE_TAKES = timedelta(hours=1)
"""How long a service may be busy making what others wait for, before somebody should look there."""

_MISSING = compile_linear(
    r"\"?(?P<name>[\w.-]{1,253}/[\w.-]{1,253})\"?,? (?:Group/Kind: [\w./-]{1,120} )?"
    r"(?:does not exist|does not contain|not found)"
    r"|(?:[Ss]ecret|[Cc]onfig ?[Mm]ap) \\?\"(?P<bare>[\w./-]{1,253})\\?\"",
)
_GROUP_AND_KIND = compile_linear(r"Group/Kind: (?P<group>[\w.-]{1,120})/(?P<kind>\w{1,80})")


def by_what_is_missing(one: Standing) -> Hashable:
    """What is not there is one problem, however many wait for it."""
    return one.reason, one.resource.namespace, _missing(one)


def waiting(problem: Problem, standings: Standings, cluster: ManagedCluster) -> Iterator[Judgement]:
    """What waits for an owner that is here waits with it: the owner's own finding names those."""
    one, resources = problem.first, standings.resources
    above = standings.owner_of(one) if one.reason == "WaitingForOwner" else None
    if above is None and one.reason == "WaitingForOwner" and (unread := _unread(one, resources)):
        yield Unavailable(f"the owner of {one.subject}", Why.ABSENT, f"not every {unread} could be read")
    elif above is None:
        yield _finding(problem, "missing", (_who_waits(one, resources), *_near(one, resources)), resources, cluster)
    elif above.stage is Stage.READY and _for_long(above, resources) and _for_long(one, resources):
        told = f"its owner {above.subject} is Ready {since(above, resources.taken_at)}: it did not look again"
        yield _finding(problem, "stale", (_who_waits(one, resources), told), resources, cluster)


def _unread(one: Standing, resources: AsoResources) -> str:
    """The kind of the owner, if that was not read as a whole; where its kind is not known, that of any."""
    kind = _missing(one).rpartition(" ")[0]
    if kind:
        return kind if kind in resources.unread or resources.truncated else ""
    return "" if resources.complete else "kind of Azure Service Operator"


def _who_waits(one: Standing, resources: AsoResources) -> str:
    kind = {"WaitingForOwner": "its owner", "SecretNotFound": "secret", "ConfigMapNotFound": "config map"}
    what = kind.get(one.reason, "a resource that it refers to,")
    return f"{one.subject} has waited for {what} {_missing(one)} {since(one, resources.taken_at)}"


def _missing(one: Standing) -> str:
    owner = one.resource.owner
    if one.reason == "WaitingForOwner" and owner:
        found = _GROUP_AND_KIND.search(one.message)
        return f"{owner.kind or (found['kind'] if found else '')} {owner.name}".strip()
    found = _MISSING.search(one.message)
    name = (found["name"] or found["bare"]) if found else ""
    return name.removeprefix(f"{one.resource.namespace}/") or "(see the message)"


def _near(one: Standing, resources: AsoResources) -> Iterator[str]:
    """Where the owner is, if it was only misspelt or is in another namespace."""
    owner = one.resource.owner
    if one.reason != "WaitingForOwner" or owner is None:
        return
    kind = _missing(one).partition(" ")[0]
    same_kind = [other for other in resources.resources if other.kind.kind == kind]
    elsewhere = next((other for other in same_kind if other.name == owner.name), None)
    here = [other.name for other in same_kind if other.namespace == one.resource.namespace]
    if elsewhere:
        yield f"{kind} {owner.name} is in namespace {elsewhere.namespace}: owner and resource must be in the same one"
    elif here:
        yield f"there is {kind} {(nearest(owner.name, here) or here)[0]} in namespace {one.resource.namespace}"
    else:
        yield f"there is no {kind or 'owner'} in namespace {one.resource.namespace}"


def blocked(problem: Problem, resources: AsoResources, cluster: ManagedCluster) -> Iterator[Judgement]:
    """Blocked by the state of something that is no managed cluster."""
    one = problem.first
    if one.since is None or resources.taken_at - one.since >= AZURE_TAKES:
        told = f"{one.subject} has been held back {since(one, resources.taken_at)}: {one.message}"
        yield _finding(problem, "blocked", (told,), resources, cluster)


def flapping(problem: Problem, resources: AsoResources, cluster: ManagedCluster) -> Finding:
    """It was Ready before, and fails again and again."""
    one = problem.first
    told = f"{one.subject} is Ready, and {one.failures} tries to reconcile it failed in the last hour"
    last = f"the last at {one.last:%H:%M} UTC: {quoted(one)}" if one.last else quoted(one)
    return _finding(problem, "flapping", (told, last), resources, cluster)


def _finding(
    problem: Problem, cause: str, told: tuple[str, ...], resources: AsoResources, cluster: ManagedCluster
) -> Finding:
    one = problem.first
    own = () if cause in ("flapping", "blocked") else (f"{one.reason}: {one.message}", tries(one))
    return Finding(
        code=WAITING,
        subject=one.subject,
        severity=Severity.WARNING,
        affects=problem.affects,
        because=(*told, *own, *also(problem)),
        facts=facts_of(problem, cluster) | {"cause": cause, "owner": _owner(one), "missing": _missing(one)},
        began=one.since,
    )


def _owner(one: Standing) -> str:
    return one.resource.owner.name if one.resource.owner and one.reason == "WaitingForOwner" else ""


def _for_long(one: Standing, resources: AsoResources) -> bool:
    return one.since is None or resources.taken_at - one.since >= LOOKS_AGAIN


def by_cluster(one: Standing, resources: AsoResources) -> Hashable:
    which = awaited_cluster(one.resource, resources)
    return which.key if which else one.subject


def busy_cluster(
    problem: Problem,
    which: ResourceId,
    resources: AsoResources,
    cluster: ManagedCluster,
    states: AsoClusterStates | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """What ASO says of a managed cluster, beside what Azure says of it."""
    one = problem.first
    state = states.states.get(which.key, "") if isinstance(states, AsoClusterStates) else ""
    if not state:
        yield _unseen(which, states)
    elif still_runs(state):
        yield _busy(problem, which, state, resources, cluster)
    elif one.last and resources.taken_at - one.last < LOOKS_AGAIN:
        yield Clear(f"{which.name} is {state}: {one.subject} goes on at the next try")
    elif _for_long(one, resources):
        told = f"{one.subject} has been held back {since(one, resources.taken_at)}: {one.message}"
        proof = f"Azure has {which.name} as {state}, and no event of the last hour tells that it was looked at again"
        yield _finding(problem, "stale", (told, proof), resources, cluster)


def _unseen(which: ResourceId, states: AsoClusterStates | Unavailable | NotApplicable) -> Unavailable:
    if isinstance(states, Unavailable):
        return states
    gaps = states.gaps if isinstance(states, AsoClusterStates) else ()
    return next(iter(gaps), Unavailable(f"the state of {which.name}", Why.ABSENT, "Azure has no answer about it"))


def _busy(problem: Problem, which: ResourceId, state: str, resources: AsoResources, cluster: ManagedCluster) -> Finding:
    one = problem.first
    return Finding(
        code=BUSY,
        subject=one.subject,
        severity=Severity.INFO,
        affects=problem.affects,
        because=(
            f"{one.subject} has been held back {since(one, resources.taken_at)}: {one.message}",
            f"Azure has {which.name} as {state}: it refuses other writes until that ends",
            *also(problem),
        ),
        facts=facts_of(problem, cluster)
        | {
            "cluster": which.name,
            "group": which.resource_group or "<resource-group>",
            "subscription": which.subscription,
            "state": state,
        },
        began=one.since,
    )

"""Does a policy deny what the cluster wants to do?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.governance import Policies
from handlers.evidence.policy_refusals import PolicyRefusals, Refusal
from handlers.evidence.policy_violations import Violation
from handlers.evidence.signs import DENIED_BY_POLICY
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why
from handlers.resource_id import last_name, same, within
from runbooks.linear import compile_linear

CODE = DENIED_BY_POLICY
SHOWN = 3
"""Denied resources that are named; the rest is counted."""
_REASON = compile_linear(r"reasons?: '([^']{3,400})'", ignore_case=True)
_TAG = compile_linear(r"^tags\[['\"]?([^'\"\]]+)['\"]?\]$|^tags\.(.+)$", ignore_case=True)


@diagnostic(
    codes=(CODE,),
    area="governance",
    clear_without=ClearWithout(
        (PolicyRefusals, Policies),
        "where Azure and both activity logs tell of no denied request, no policy is asked about",
    ),
)
def request_disallowed_by_policy(
    cluster: ManagedCluster,
    complaints: Complaints,
    policies: PolicyRefusals | NotApplicable | Unavailable,
    assigned: Policies | Unavailable,
) -> Iterator[Judgement]:
    """A policy denies a request of the cluster, or of AKS for it."""
    if isinstance(policies, Unavailable):
        yield policies
        return
    refusals = policies.refusals if isinstance(policies, PolicyRefusals) else ()
    gone: list[str] = []
    for group in _by_policy(refusals):
        first = group[0]
        because = policies.gone(first) if isinstance(policies, PolicyRefusals) else ""
        if because and first.violation:
            gone.append(f"policy {_title(first.violation, policies)} {because}")
        else:
            yield _found(cluster, group, policies, complaints)
    blind = complaints.blind_spot()
    if blind and _only_silent(complaints) and _none_enforced(assigned):
        yield Clear(f"no policy is enforced on {cluster.node_group}")
    elif blind:
        yield blind
    elif gone:
        yield Clear("; ".join(gone))
    elif not refusals:
        yield Clear(f"no policy denied a request in the 24 hours up to {complaints.until}")


def _only_silent(complaints: Complaints) -> bool:
    """Whether all that could be told was told, and yet something has failed without a word."""
    spot = complaints.blind_spot()
    return bool(complaints.silent) and not complaints.gaps and spot is not None and spot.why is Why.ABSENT


def _none_enforced(assigned: Policies | Unavailable) -> bool:
    return (
        isinstance(assigned, Policies)
        and assigned.complete
        and not any(assignment.enforced for assignment in assigned.assignments)
    )


def _by_policy(refusals: tuple[Refusal, ...]) -> list[list[Refusal]]:
    """Those of one assignment and rule together; what names none, by what it is about."""
    groups: dict[tuple[str, ...], list[Refusal]] = {}
    for refusal in refusals:
        key = refusal.violation.key if refusal.violation else (refusal.complaint.about.lower(),)
        groups.setdefault(key, []).append(refusal)
    return list(groups.values())


def _found(
    cluster: ManagedCluster, group: list[Refusal], policies: PolicyRefusals | NotApplicable, complaints: Complaints
) -> Finding:
    first, violation = group[0], group[0].violation
    mine = [refusal.complaint.error for refusal in group]
    failed = [failure.subject for failure in complaints.failures if failure.error in mine]
    denied = [*dict.fromkeys(last_name(refusal.resource) for refusal in group)]
    since = policies.changed_since(first) if isinstance(policies, PolicyRefusals) else None
    unseen = policies.gaps if isinstance(policies, PolicyRefusals) else ()
    return Finding(
        code=CODE,
        subject=violation.assignment_id if violation else first.complaint.about,
        affects=complaints.claimed(failed, (CODE,)),
        because=(
            _denies(violation, policies, denied),
            *(str(differ) for differ in (violation.differs if violation else ())),
            *([f"it is assigned to {violation.scope}"] if violation and violation.scope else []),
            *([f"it was changed at {since:%Y-%m-%d %H:%M} UTC, after that: it may allow it now"] if since else []),
            *([f"whether it still applies was not seen: {unseen[0].detail}"] if unseen and violation else []),
            str(first.complaint),
        ),
        facts=_facts(cluster, first, violation, policies, denied),
    )


def _denies(violation: Violation | None, policies: PolicyRefusals | NotApplicable, denied: list[str]) -> str:
    more = f" and {len(denied) - SHOWN} more" if len(denied) > SHOWN else ""
    what = f"{', '.join(denied[:SHOWN])}{more}"
    if violation is None:
        return f"a policy denied {what}; Azure's answer does not say which"
    effect = f" (effect {violation.effect})" if violation.effect else ""
    return f"policy {_title(violation, policies)}{effect} denied {what}"


def _title(violation: Violation, policies: PolicyRefusals | NotApplicable) -> str:
    """The assignment's name as people gave it, and the definition's where that says more."""
    name, rule = _name(violation, policies), _rule(violation, policies)
    return f'"{name}" (rule "{rule}")' if rule and rule != name else f'"{name}"'


def _name(violation: Violation, policies: PolicyRefusals | NotApplicable) -> str:
    known = policies.assignments if isinstance(policies, PolicyRefusals) else {}
    assigned = known.get(violation.assignment_id.lower())
    return violation.assignment or (assigned.title if assigned else "") or violation.title


def _rule(violation: Violation, policies: PolicyRefusals | NotApplicable) -> str:
    known = policies.definitions if isinstance(policies, PolicyRefusals) else {}
    return violation.definition or known.get(violation.definition_id.lower(), "")


def _facts(
    cluster: ManagedCluster,
    refusal: Refusal,
    violation: Violation | None,
    policies: PolicyRefusals | NotApplicable,
    denied: list[str],
) -> dict[str, object]:
    error = refusal.complaint.error
    reason = _REASON.search(error.message)
    in_nodes = within(cluster.node_group_id, refusal.resource)
    return {
        "policy": _name(violation, policies) if violation else "",
        "assignment_id": violation.assignment_id if violation else "",
        "assignment": last_name(violation.assignment_id) if violation else "",
        "definition_id": violation.definition_id if violation else "",
        "reference": violation.reference if violation else "",
        "policy_scope": violation.scope if violation else "",
        "resource": ", ".join(denied[:SHOWN]),
        "differs": [str(differ) for differ in violation.differs] if violation else [],
        "tag": _tag(violation) if violation else "",
        "reason": reason[1] if reason else "",
        "by_azure": error.code.lower() == "requestdisallowedbyazure",
        "in_node_group": in_nodes or same(refusal.resource, cluster.node_group_id),
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "node_group": cluster.node_group,
        "cluster_id": cluster.id,
    }


def _tag(violation: Violation) -> str:
    """The tag that it wants, if it wants one."""
    found = next((match for differ in violation.differs if (match := _TAG.search(differ.field))), None)
    return (found[1] or found[2]) if found else ""

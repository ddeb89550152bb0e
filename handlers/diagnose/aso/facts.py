"""What the findings about Azure Service Operator share: the lines that prove them, and what fills their pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from handlers.ages import ago
from handlers.counted import counted
from handlers.diagnose.aso.problems import Problem, named
from handlers.diagnose.aso.standing import Standing
from handlers.evidence.aso.resources import AsoResource
from handlers.evidence.azure import ManagedCluster

NAMESPACES_SECRET, GLOBAL_SECRET = "aso-credential", "aso-controller-settings"
LONGEST_QUOTE = 600


def since(one: Standing, now: datetime) -> str:
    """`since 2026-11-18 02:42 UTC (25 min ago)`: support asks for the exact time."""
    return f"since {one.since:%Y-%m-%d %H:%M} UTC ({ago(one.since, now)})" if one.since else "since an unknown time"


def quoted(one: Standing) -> str:
    told = str(one.error) or one.message
    return told if len(told) <= LONGEST_QUOTE else f"{told[:LONGEST_QUOTE]}…"


def tries(one: Standing) -> str:
    """Whether Azure Service Operator goes on."""
    if one.given_up:
        return "severity Error: Azure Service Operator has given up until the resource is changed"
    often = f"; {counted(one.failures, 'failed try', 'failed tries')} in the last hour" if one.failures else ""
    return f"severity {one.severity or 'Warning'}: Azure Service Operator tries again by itself{often}"


def also(problem: Problem) -> Iterator[str]:
    """Who else has the problem, and who waits for those that have it."""
    if problem.others:
        have = "resource has" if len(problem.others) == 1 else "resources have"
        yield f"{len(problem.others)} more {have} the same problem: {named(problem.others)}"
    if problem.waiting:
        wait = "1 resource waits" if len(problem.waiting) == 1 else f"{len(problem.waiting)} resources wait"
        yield f"{wait} for that: {named(one.subject for one in problem.waiting)}"


def credential(resource: AsoResource) -> str:
    """Which secret ASO takes, in its own order: the resource's annotation, the namespace's secret, the global one."""
    if resource.credential:
        return f"secret {resource.credential} in namespace {resource.namespace} (annotation credential-from)"
    return f"the namespace's secret {NAMESPACES_SECRET} or the global one (not looked: secrets are never read)"


def facts_of(problem: Problem, cluster: ManagedCluster) -> dict[str, object]:
    """What every page of ASO's is filled in with. `subscription` and `group` are those of the resource in Azure."""
    one, resource = problem.first, problem.first.resource
    parts = resource.arm_id.split("/")
    return {
        "kind": resource.kind.qualified,
        "name": resource.name,
        "namespace": resource.namespace,
        "resource_id": resource.arm_id or "<arm-resource-id>",
        "reason": one.reason,
        "error_code": one.error.code or one.reason or "an error",
        "error_message": one.error.message or one.message,
        "time": f"{one.since:%Y-%m-%d %H:%M:%S} UTC" if one.since else "<time-in-utc>",
        "given_up": one.given_up,
        "credential": credential(resource),
        "own_credential": resource.credential,
        "others": problem.others,
        "waiting": [waits.subject for waits in problem.waiting],
        "cluster": cluster.name,
        "subscription": parts[2] if len(parts) > 2 else cluster.subscription,
        "group": parts[4] if len(parts) > 4 else "<resource-group>",
    }

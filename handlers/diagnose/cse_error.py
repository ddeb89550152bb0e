"""Why did the script that makes a node of a machine fail?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from handlers.diagnose.refused_nodes import Refusal, Refused
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import Instance, Instances, ScaleSets
from handlers.evidence.extension_errors import ExtensionError, read_extension_error, script_error
from handlers.evidence.growth import Growth
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable
from handlers.resource_id import last_name
from runbooks.cse_exit_codes import exit_code

CODE = "cse-error"
MOST_NAMED = 5
"""A phone shows about that many names."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the findings have in common."""

    cluster: ManagedCluster
    pools: AgentPools
    complaints: Complaints
    known: Mapping[str, Node]
    """The nodes, by the id of their machine in lower case."""


@diagnostic(
    codes=(CODE,),
    area="nodes",
    clear_without=ClearWithout(
        (Nodes, AutoscalerStatus, NodeClaims),
        "the machines and the activity logs hold every failure of the script; nodes only tell how severe it is",
    ),
)
def cse_error(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    growth: Growth,
    instances: Instances | Unavailable,
    sets: ScaleSets | Unavailable,
    scaler: AutoscalerStatus | NotApplicable | Unavailable,
    claims: NodeClaims | NotApplicable | Unavailable,
    nodes: Nodes | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The script that makes a node of a machine (extension vmssCSE) failed; its exit code says why."""
    known = {node.machine.lower(): node for node in nodes.nodes} if isinstance(nodes, Nodes) else {}
    case = Case(cluster, pools, complaints, known)
    refused = Refused(cluster, pools, complaints, growth, instances, sets, scaler, claims)
    named = list(refused.naming(CODE))
    told = [item for item in named if isinstance(item, Refusal)]
    unseen = [*refused.unseen(), *(item for item in named if isinstance(item, Unavailable))]
    found = [*_of_machines(case, instances)]
    seen = {finding.facts["pool_id"] for finding in found}
    found += [_of_log(case, refusal) for refusal in told if not refusal.pool or refusal.pool.id not in seen]
    yield from unseen
    yield from found
    if not found and not unseen and pools.complete:
        until = f"the 24 hours up to {complaints.until}"
        yield Clear(f"no node set-up script (vmssCSE) has failed on a machine, and Azure reported none in {until}")


def _of_machines(case: Case, instances: Instances | Unavailable) -> Iterator[Finding]:
    """One finding for all machines of a pool that failed alike."""
    alike: dict[tuple[str, tuple[str, str]], list[tuple[Instance, ExtensionError]]] = {}
    for machine in instances.machines if isinstance(instances, Instances) else ():
        error = script_error(machine) if machine.serves else None
        if error:
            alike.setdefault((machine.pool or machine.id, error.same_as), []).append((machine, error))
    about: set[str] = set()
    for failed in sorted(alike.values(), key=len, reverse=True):
        finding = _failed(case, [instance for instance, _ in failed], failed[0][1], about)
        about.add(finding.subject)
        yield finding


def _failed(case: Case, machines: Sequence[Instance], error: ExtensionError, about: set[str]) -> Finding:
    first = machines[0]
    pool = next((pool for pool in case.pools.pools if pool.name.lower() == first.pool.lower()), None)
    # A pool stands for one exit code; machines with another one are told by the first of them.
    together = len(machines) > 1 and pool is not None and pool.id not in about
    subject = pool.id if pool and together else first.id
    nodes = [node for machine in machines if (node := case.known.get(machine.id.lower()))]
    serve = len(nodes) == len(machines) and all(node.is_ready for node in nodes)
    harmed = (pool.id, case.cluster.id) if pool else ()
    rest = len(machines) - MOST_NAMED
    return Finding(
        code=CODE,
        subject=subject,
        severity=Severity.WARNING if serve else Severity.ERROR,
        affects=tuple(
            dict.fromkeys(
                (
                    *(case.complaints.affected((pool.id,), (CODE,)) if pool else ()),
                    *case.complaints.claimed(harmed, (CODE,)),
                    *(machine.id for machine in machines),
                    *(f"Node/{machine.computer or machine.name}" for machine in machines),
                    *(node.subject for node in nodes),
                )
            )
        ),
        because=(
            f"{_count(machines)} of {_owner(first)} failed in set-up: {_named(machines)}",
            str(error),
            *_meaning(error),
            *([f"pool {pool.name} is {pool.state}"] if pool and pool.failed else []),
        ),
        facts={
            **_facts(case.cluster, pool, error),
            "scale_set": last_name(first.scale_set) if first.scale_set else "",
            "instance_id": first.instance_id,
            "machine": first.name,
            "machine_id": first.id,
            "node": first.computer,
            "machines": [machine.name for machine in machines[:MOST_NAMED]],
            "more": max(0, rest),
            "provisioned_for": first.provisioned_for,
            "gone": False,
            "refused": False,
        },
    )


def _of_log(case: Case, refusal: Refusal) -> Finding:
    """The machines are gone by now, or were not seen: what Azure told is what is left."""
    error = read_extension_error(refusal.error)
    return Finding(
        code=CODE,
        subject=refusal.about,
        severity=Severity.ERROR if refusal.waits else Severity.WARNING,
        affects=refusal.harms(CODE, case.cluster, case.complaints),
        because=(*(_short(item, refusal, error) for item in refusal.says), *_meaning(error)),
        facts={
            **_facts(case.cluster, refusal.pool, error),
            "scale_set": "",
            "instance_id": "",
            "machine": "",
            "machine_id": "",
            "node": "",
            "machines": [],
            "more": 0,
            "provisioned_for": "",
            "gone": True,
            "refused": not refusal.waits,
        },
    )


def _short(line: str, refusal: Refusal, error: ExtensionError) -> str:
    """Such a message holds the whole trace of a script: its telling line will do."""
    message = refusal.error.message
    return line.replace(message, str(error)) if "extension '" in message else line


def _facts(cluster: ManagedCluster, pool: AgentPool | None, error: ExtensionError) -> dict[str, object]:
    return {
        "exit_code": str(error.exit_code) if error.exit_code else "",
        "windows": error.windows or (pool is not None and pool.os.lower() == "windows"),
        "windows_error": f"WINDOWS_CSE_ERROR_{error.windows_name}" if error.windows_name else "",
        "line": error.line,
        "pool": pool.name if pool else "",
        "pool_id": pool.id if pool else "",
        "cluster": cluster.name,
        "cluster_id": cluster.id,
        "group": cluster.group,
        "node_group": cluster.node_group,
        "subscription": cluster.subscription,
    }


def _meaning(error: ExtensionError) -> Iterator[str]:
    means = exit_code(error.exit_code, windows=error.windows)
    if means:
        yield f"exit code {means.number} is {means.name}: {means.means}"


def _count(machines: Sequence[Instance]) -> str:
    return f"{len(machines)} machine{'' if len(machines) == 1 else 's'}"


def _owner(machine: Instance) -> str:
    return f"pool {machine.pool}" if machine.pool else f"NodePool {machine.provisioned_for or 'unknown'}"


def _named(machines: Sequence[Instance]) -> str:
    more = f" and {len(machines) - MOST_NAMED} more" if len(machines) > MOST_NAMED else ""
    return ", ".join(machine.name for machine in machines[:MOST_NAMED]) + more

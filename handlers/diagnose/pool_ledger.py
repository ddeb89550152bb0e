"""The seven places where a failed node pool's cause may be, walked in the order of the Azure document.

Every step ends as ok, bad or unseen, with one line that says what was seen. A step that could not look says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from handlers.evidence.azure import AgentPool, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import ComputeUsages, Instances, ScaleSet, ScaleSets, VmSizes
from handlers.evidence.governance import Locks, Policies, PolicyStates, RoleAssignments
from handlers.evidence.monitor import ActivityLog, DiagnosticSetting, DiagnosticSettings, NodeActivityLog
from handlers.evidence.pool_sizes import SCALE_SETS
from handlers.evidence.quotas import Usage
from handlers.evidence.scale_set_settings import ScaleSetSettings
from handlers.evidence.signs import looked_for_at
from handlers.model import Causes, NotApplicable, Unavailable
from handlers.resource_id import last_name, within


class Seen(StrEnum):
    """What a place shows. `state`: the failure itself, which is no cause of it."""

    STATE = "state"
    OK = "ok"
    BAD = "bad"
    UNSEEN = "unseen"
    NOT_HERE = "not here"


MARKS = {Seen.STATE: "•", Seen.OK: "✓", Seen.BAD: "✗", Seen.UNSEEN: "?", Seen.NOT_HERE: "–"}


@dataclass(frozen=True, slots=True)
class Step:
    """One place, and what was seen there."""

    number: int
    place: str
    seen: Seen
    says: str


class Ledger:
    """The steps of one pool, filled in as they are walked."""

    def __init__(self, cluster: ManagedCluster, pool: AgentPool, complaints: Complaints, causes: Causes) -> None:
        self._cluster = cluster
        self._pool = pool
        self._complaints = complaints
        self._causes = causes
        failure = complaints.failure(pool.id)
        self._named = failure.names if failure else ""
        self._steps: list[Step] = []
        self._scale_set: ScaleSet | None = None
        self.broken_machine = ""
        """The id of an instance that is Failed or unhealthy."""

    def lines(self) -> tuple[str, ...]:
        return tuple(f"{MARKS[step.seen]} {step.number} {step.place}: {step.says}" for step in self._steps)

    def rows(self) -> list[dict[str, str | int]]:
        return [
            {"step": step.number, "place": step.place, "seen": str(step.seen), "says": step.says}
            for step in self._steps
        ]

    @property
    def scale_set_name(self) -> str:
        return self._scale_set.name if self._scale_set else ""

    @property
    def scale_set_id(self) -> str:
        return self._scale_set.id if self._scale_set else ""

    def pool_itself(self) -> None:
        behind = f", asked for {self._pool.version}, runs {self._pool.current_version}" if self._pool.upgrading else ""
        self._add(1, "node pool", Seen.STATE, f"{self._pool.state}{behind}")

    def scale_set(self, sets: ScaleSets | Unavailable) -> None:
        if isinstance(sets, Unavailable):
            return self._absent(2, "scale set", sets)
        found = sets.of(self._pool)
        if found is None:
            expected = self._pool.type.lower() == SCALE_SETS
            seen = Seen.NOT_HERE if not expected else Seen.BAD if sets.complete else Seen.UNSEEN
            return self._add(
                2, "scale set", seen, f"no scale set of pool {self._pool.name} in {self._cluster.node_group}"
            )
        self._scale_set = found
        seen = Seen.BAD if found.failed else Seen.OK
        return self._add(2, "scale set", seen, f"{found.name} is {found.state}, capacity {found.capacity}")

    def machines(self, instances: Instances | Unavailable) -> None:
        if isinstance(instances, Unavailable):
            return self._absent(3, "instances", instances)
        mine = instances.of(self._pool)
        bad = [instance for instance in mine if instance.failed or instance.errors]
        unhealthy = [instance for instance in mine if instance.unhealthy and instance not in bad]
        missing = self._pool.count - len(mine)
        said = f"{len(mine)} of {self._pool.count} exist, {len(bad)} failed"
        said += f": {bad[0].name} {bad[0].errors[0] if bad[0].errors else bad[0].state}" if bad else ""
        said += f", {len(unhealthy)} unhealthy: {unhealthy[0].name}" if unhealthy else ""
        bad += unhealthy
        self.broken_machine = bad[0].id if bad else ""
        seen = Seen.BAD if bad or missing > 0 else Seen.OK if instances.complete else Seen.UNSEEN
        return self._add(3, "instances", seen, said)

    def logs(
        self,
        log: ActivityLog | Unavailable,
        node_log: NodeActivityLog | Unavailable,
        settings: DiagnosticSettings | Unavailable,
        of_sets: ScaleSetSettings | NotApplicable | Unavailable,
    ) -> None:
        """Both activity logs, and the diagnostic settings of the cluster and of the pool's scale set."""
        if isinstance(log, Unavailable):
            return self._absent(4, "activity log", log)
        if isinstance(node_log, Unavailable):
            return self._absent(4, "activity log", node_log)
        sends, all_seen = self._where_logs_go(settings, of_sets)
        told = [complaint for complaint in self._complaints.about(self._pool.id) if complaint.at]
        since = max(log.reaches_back_to, node_log.reaches_back_to)
        quiet = f"none failed since {since:%m-%d}, known until {self._complaints.until}"
        said = f"failed writes: {told[0].error.code or 'without a code'}" if told else quiet
        whole = all_seen and not log.truncated and not node_log.truncated
        seen = Seen.BAD if told else Seen.OK if whole else Seen.UNSEEN
        return self._add(4, "activity log", seen, f"{said}; {sends}")

    def _where_logs_go(
        self, settings: DiagnosticSettings | Unavailable, of_sets: ScaleSetSettings | NotApplicable | Unavailable
    ) -> tuple[str, bool]:
        """What the diagnostic settings say, and whether all of them could be read."""
        cluster = settings.settings if isinstance(settings, DiagnosticSettings) and settings.complete else None
        said, all_seen = f"diagnostic settings of the cluster: {_destinations(cluster)}", cluster is not None
        if self._scale_set and not isinstance(of_sets, NotApplicable):
            own = of_sets.of(self._scale_set) if isinstance(of_sets, ScaleSetSettings) else None
            said += f", of the scale set: {_destinations(own)}"
            all_seen = all_seen and own is not None
        return said, all_seen

    def quota_and_capacity(self, usages: ComputeUsages | Unavailable, sizes: VmSizes | Unavailable) -> None:
        if isinstance(usages, Unavailable):
            return self._absent(5, "quota, capacity", usages)
        if isinstance(sizes, Unavailable):
            return self._absent(5, "quota, capacity", sizes)
        known = [size for nodes in self._pool.sizes if (size := sizes.of(nodes.size))]
        if not known or len(known) < len(self._pool.sizes):
            strange = [nodes.size for nodes in self._pool.sizes if nodes.size and sizes.of(nodes.size) is None]
            said = f"{', '.join(strange) or 'its size'} is not offered in {self._cluster.location}"
            return self._add(5, "quota, capacity", Seen.BAD if strange else Seen.UNSEEN, said)
        full: list[Usage] = []
        rows: list[Usage] = []
        for size in known:
            for name in ("lowPriorityCores",) if self._pool.spot else (size.family, "cores"):
                row = usages.row(name)
                rows += [row] if row and row not in rows else []
                full += [row] if row and row.free < size.cores and row not in full else []
        closed = [why for size in known for why in size.closed_to(self._pool.zones)]
        said = "; ".join([*(_room(row) for row in full or rows), *closed])
        whole = Seen.OK if usages.complete and sizes.complete else Seen.UNSEEN
        return self._add(5, "quota, capacity", Seen.BAD if full or closed else whole, said)

    def policies_and_roles(
        self,
        policies: Policies | Unavailable,
        states: PolicyStates | NotApplicable | Unavailable,
        roles: RoleAssignments | Unavailable,
    ) -> None:
        if isinstance(policies, Unavailable):
            return self._absent(6, "policies, roles", policies)
        if isinstance(states, Unavailable):
            return self._absent(6, "policies, roles", states)
        if isinstance(roles, Unavailable):
            return self._absent(6, "policies, roles", roles)
        enforced = [
            assignment
            for assignment in policies.assignments
            if assignment.enforced and assignment.id.lower() not in policies.exempted
        ]
        said = [f"{len(enforced)} policies enforced"]
        said += [f"{len(states.broken)} resources break one"] if isinstance(states, PolicyStates) else []
        denied = _role_gap(self._pool, roles)
        said.append(denied or f"{len(roles.roles)} role assignments of its identities")
        whole = policies.complete and roles.complete and isinstance(states, PolicyStates) and states.complete
        seen = Seen.UNSEEN if not whole else Seen.BAD if denied else Seen.OK
        return self._add(6, "policies, roles", seen, ", ".join(said))

    def locks(self, locks: Locks | Unavailable) -> None:
        if isinstance(locks, Unavailable):
            return self._absent(7, "locks", locks)
        group = self._cluster.node_group_id
        held = [lock for lock in locks.locks if within(group, lock.scope) or within(lock.scope, group)]
        held += [lock for lock in locks.locks if lock not in held and within(lock.scope, self._cluster.id)]
        if not held:
            seen = Seen.OK if locks.complete else Seen.UNSEEN
            return self._add(7, "locks", seen, "none on the cluster or its node resource group")
        # In the node resource group AKS deletes, too; elsewhere a CanNotDelete lock only guards.
        reaches = [lock for lock in held if within(group, lock.scope) or within(lock.scope, group)]
        blocking = [lock for lock in held if lock.read_only or lock in reaches]
        said = ", ".join(f"{lock.name} ({lock.level}) on {last_name(lock.scope)}" for lock in blocking or held)
        return self._add(7, "locks", Seen.BAD if blocking else Seen.OK, said)

    def _absent(self, number: int, place: str, missing: Unavailable) -> None:
        self._add(number, place, Seen.UNSEEN, f"could not look: {missing}")

    def _add(self, number: int, place: str, seen: Seen, says: str) -> None:
        self._steps.append(self._told_by_checks(Step(number, place, seen, says)))

    def _told_by_checks(self, step: Step) -> Step:
        """A place gets its tick only where Azure's error does not name it and every check behind it is clear."""
        behind = looked_for_at(step.number)
        if self._named in behind and step.seen is not Seen.BAD:
            return replace(step, seen=Seen.BAD, says=f"Azure's error names {self._named}; {step.says}")
        verdicts = [verdict for verdict in self._causes.verdicts if verdict.code in behind]
        not_clear = [verdict.code for verdict in verdicts if not verdict.clear]
        if step.seen is not Seen.OK or not not_clear:
            return step
        return replace(step, seen=Seen.UNSEEN, says=f"{step.says}; not ruled out: {', '.join(not_clear)}")


def _room(row: Usage) -> str:
    return f"{row.title or row.name} {row.used}/{row.limit}"


def _destinations(settings: tuple[DiagnosticSetting, ...] | None) -> str:
    if settings is None:
        return "could not be read"
    return "to " + ", ".join(last_name(setting.to) or setting.name for setting in settings) if settings else "none"


def _role_gap(pool: AgentPool, roles: RoleAssignments) -> str:
    """A pool in a subnet of its own needs an identity that may join nodes to it."""
    if not pool.subnet or not roles.complete or any(role.covers(pool.subnet) for role in roles.roles):
        return ""
    return f"no identity of the cluster has a role on {last_name(pool.subnet)}"

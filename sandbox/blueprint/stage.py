"""Sets up a scenario: builds the fleet, then applies every layer's changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.blueprint.build import Builder
from sandbox.blueprint.clock import BadMoment, Clock
from sandbox.blueprint.events import EventSpec, Scribe
from sandbox.blueprint.fleet import Fleet, misfits
from sandbox.blueprint.inside.stagehand import InsideStagehand
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.network import NoAddressLeft
from sandbox.blueprint.scenario_file import (
    CauseSpec,
    ChangeSpec,
    ExpectedSpec,
    KubeSpec,
    Layer,
    Lineage,
    LogSpec,
    QuestionSpec,
    RepairSpec,
    ScenarioSpec,
    UsageSpec,
    WriteSpec,
)
from sandbox.blueprint.strict import BadScenario, parse
from sandbox.blueprint.usage import is_usages, unknown_rows, usage_row
from sandbox.blueprint.variables import Resolver, inside_variables, variables
from sandbox.merge import merged
from sandbox.objects import NoSuchObject
from sandbox.world import Body, Cause, Change, Points, World, WriteRule

SEED = "aksbot"


@dataclass
class Staged:
    """A scenario that has been set up."""

    world: World
    expect: dict[str, list[ExpectedSpec]] = field(default_factory=dict)
    stays_open: dict[str, list[str]] = field(default_factory=dict)
    repairs: dict[str, list[RepairSpec]] = field(default_factory=dict)
    questions: dict[str, list[QuestionSpec]] = field(default_factory=dict)


def stage(lineage: Lineage, now: datetime, *, twin: bool = False) -> Staged:
    """Build the fleet and apply every layer; with `twin`, also the twin's change."""
    clock, mint = Clock(now), Mint(SEED)
    fleet = _fleet(lineage, clock, mint)
    try:
        world = Builder(fleet, clock, mint).build()
    except (BadMoment, NoAddressLeft) as error:
        changed = any(layer.spec.fleet for layer in lineage.layers)
        raise BadScenario(lineage.file if changed else lineage.fleet_file, "fleet", str(error)) from error
    staged = Staged(world, {name: [] for name in fleet.names})
    values, scribe = variables(fleet, mint), Scribe(fleet, clock, mint)
    values |= inside_variables(fleet, world.kubes, mint)
    for layer in lineage.layers:
        resolver = Resolver(values, clock, layer.file)
        spec = parse(ScenarioSpec, resolver.resolve(layer.raw), layer.file)
        with_twin = twin and layer is lineage.layers[-1]
        _Stagehand(staged, layer, spec, resolver, scribe).apply(with_twin=with_twin)
    world.events.sort(key=lambda event: datetime.fromisoformat(event["eventTimestamp"]), reverse=True)
    return staged


def _fleet(lineage: Lineage, clock: Clock, mint: Mint) -> Fleet:
    """The fleet description with each layer's patch applied; errors name the layer."""
    raw = lineage.fleet
    fleet = _described(raw, lineage.fleet_file, (), clock, mint)
    for layer in lineage.layers:
        raw = merged(raw, layer.spec.fleet)
        # A story may refer to a pool that its cluster does not have here; the including scenario handles that.
        if not layer.is_story and (layer.spec.fleet or layer.spec.stories):
            fleet = _described(raw, layer.file, ("fleet",), clock, mint)
    return fleet


def _described(raw: Body, file: Path, under: tuple[str, ...], clock: Clock, mint: Mint) -> Fleet:
    """Validate the fleet; its locks and policies may refer to its other parts by variable."""
    fleet = parse(Fleet, raw, file, under)
    for key, what in (*misfits(fleet), *unknown_rows(fleet)):
        raise BadScenario(file, ".".join([*under, key]), what)
    values = variables(fleet, mint)
    return parse(Fleet, Resolver(values, clock, file).resolve(raw, under), file, under)


@dataclass(frozen=True)
class _Stagehand:
    """Applies one layer."""

    staged: Staged
    layer: Layer
    spec: ScenarioSpec
    resolver: Resolver
    scribe: Scribe

    def apply(self, *, with_twin: bool) -> None:
        world, spec, twin = self.staged.world, self.spec, self.spec.twin
        events: Mapping[str, Any] = spec.events
        self._change("changes", spec.changes)
        self._count("usages", spec.usages)
        self._inside("kube", spec.kube)
        self._expect("expect", spec.expect)
        self.staged.stays_open |= spec.stays_open
        self.staged.questions |= spec.questions
        self._repair(spec.repairs)
        if with_twin and twin:
            self._same_labels(twin.events)
            self._change("twin.changes", twin.changes)
            self._count("twin.usages", twin.usages)
            self._inside("twin.kube", twin.kube)
            self._expect("twin.expect", twin.expect)
            self.staged.questions = twin.questions
            self.staged.stays_open = {
                **{name: checks for name, checks in self.staged.stays_open.items() if name not in twin.expect},
                **twin.stays_open,
            }
            events = merged(events, twin.events)
        for label, event in events.items():
            world.events.extend(self._events(label, event))
        world.policy_states.extend(self.resolver.moments(deepcopy(spec.policy_states)))
        self._measured(spec.metrics)
        self._logged(spec.logs | (twin.logs if with_twin and twin else {}))
        world.unindexed.update(field.lower() for field in spec.unindexed)
        world.cloud_as_of = spec.cloud_as_of or world.cloud_as_of
        world.writes[:0] = [self._rule(f"writes[{number}]", rule) for number, rule in enumerate(spec.writes)]

    @property
    def _file(self) -> Path:
        return self.layer.file

    def _change(self, key: str, changes: Iterable[ChangeSpec]) -> None:
        for number, spec in enumerate(changes):
            where = f"{key}[{number}].id"
            for change in self._checked(where, spec):
                self.staged.world.apply(change)

    def _checked(self, where: str, spec: ChangeSpec) -> tuple[Change, ...]:
        """The change, after checking that its target exists; a move is a create plus a delete."""
        if spec.cluster:
            return self._checked_inside(where, spec)
        stored = self.staged.world.resources.get(spec.id.lower())
        if spec.body is not None:
            return (Change(spec.id, body=self.resolver.moments(_completed(spec.id, spec.body))),)
        if stored is None and self._is_row_patch(spec):
            return (Change(spec.id, patch=self.resolver.moments(spec.patch), where=spec.where),)
        if stored is None:
            raise BadScenario(self._file, where, f"there is no resource {spec.id}")
        if spec.move is not None:
            return Change(spec.move, body={**stored, "id": spec.move}), Change(spec.id, delete=True)
        return (Change(spec.id, patch=self.resolver.moments(spec.patch), delete=spec.delete),)

    def _is_row_patch(self, spec: ChangeSpec) -> bool:
        return spec.patch is not None and bool(self.staged.world.rows(spec.id, spec.where))

    def _inside(self, key: str, kube: Mapping[str, KubeSpec]) -> None:
        for name, spec in kube.items():
            cluster = self.resolver.value(name)
            if cluster is None or cluster.lower() not in self.staged.world.kubes:
                raise BadScenario(self._file, f"{key}.{name}", "is no cluster of this fleet with an API server")
            self._stagehand(cluster).apply(f"{key}.{name}", spec)

    def _stagehand(self, cluster: str) -> InsideStagehand:
        kube = self.staged.world.kubes[cluster.lower()]
        return InsideStagehand(kube, self._file, self.resolver, self.scribe.clock.now)

    def _checked_inside(self, where: str, spec: ChangeSpec) -> tuple[Change, ...]:
        """The same for objects inside a cluster, one change per object."""
        try:
            found = list(self._stagehand(spec.cluster).each(where, spec))
        except (NoSuchObject, KeyError) as error:
            raise BadScenario(self._file, where, str(error)) from error
        patch, body = (self.resolver.moments(part, inside=True) for part in (spec.patch, spec.body))
        return tuple(
            Change(target, patch=patch, body=body, delete=spec.delete, cluster=spec.cluster) for target in found
        )

    def _measured(self, metrics: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> None:
        """The Azure Monitor metrics of a cluster's nodes."""
        for cluster, of_cluster in metrics.items():
            if cluster.lower() not in self.staged.world.kubes:
                raise BadScenario(self._file, f"metrics.{cluster}", "is no cluster of this fleet with an API server")
            kept = self.staged.world.metrics.setdefault(cluster.lower(), {})
            for metric, nodes in of_cluster.items():
                kept.setdefault(metric, {}).update({node: self._points(at) for node, at in nodes.items()})

    def _logged(self, logs: Mapping[str, Sequence[LogSpec]]) -> None:
        """The lines that control planes have sent to a workspace, as its tables hold them."""
        for workspace, lines in logs.items():
            if workspace.lower() not in self.staged.world.resources:
                raise BadScenario(self._file, f"logs.{workspace}", "is no workspace of this fleet")
            rows = self.staged.world.logs.setdefault(workspace.lower(), [])
            rows += [self._log_row(line) for line in lines]

    def _log_row(self, line: LogSpec) -> Body:
        """With klog's first letter in the older table, with a level in the newer one."""
        try:
            at = self.scribe.clock.at(line.at).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        except BadMoment as error:
            raise BadScenario(self._file, "logs", str(error)) from error
        about = {"TimeGenerated": at, "Category": line.category, "_ResourceId": line.cluster.lower()}
        if line.table == "AzureDiagnostics":
            return about | {"Table": line.table, "pod_s": line.pod, "log_s": f"{line.level[0]}{line.message}"}
        return about | {"Table": line.table, "Level": line.level, "PodName": line.pod, "Message": line.message}

    def _points(self, told: Mapping[str, float]) -> Points:
        try:
            return tuple(sorted((self.scribe.clock.at(moment), value) for moment, value in told.items()))
        except BadMoment as error:
            raise BadScenario(self._file, "metrics", str(error)) from error

    def _count(self, key: str, usages: Mapping[str, UsageSpec]) -> None:
        for row_id, spec in usages.items():
            row = self.staged.world.usage(row_id) or self._new_row(f"{key}.{row_id}", row_id, spec)
            row["limit"] = row["limit"] if spec.limit is None else spec.limit
            row["currentValue"] = row["currentValue"] if spec.current is None else spec.current

    def _new_row(self, key: str, row_id: str, spec: UsageSpec) -> Body:
        """Add a quota row that the blueprint does not compute, creating the provider's table if needed."""
        table, _, name = row_id.rpartition("/")
        if not spec.title or not is_usages(table):
            raise BadScenario(self._file, key, "there is no such quota row; a new one has title, limit and current")
        row = usage_row(name, spec.title, 0, 0)
        self.staged.world.tables.setdefault(table.lower(), []).append(row)
        return row

    def _expect(self, key: str, expect: Mapping[str, list[ExpectedSpec]]) -> None:
        for cluster, findings in expect.items():
            if cluster not in self.staged.expect:
                raise BadScenario(self._file, f"{key}.{cluster}", "is nothing that this fleet has")
            others = self.staged.expect[cluster] if self.layer.is_story else []
            self.staged.expect[cluster] = [*others, *findings]

    def _repair(self, repairs: Mapping[str, list[RepairSpec]]) -> None:
        for cluster, ends in repairs.items():
            if cluster not in self.staged.expect:
                raise BadScenario(self._file, f"repairs.{cluster}", "is nothing that this fleet has")
            others = self.staged.repairs.get(cluster, []) if self.layer.is_story else []
            self.staged.repairs[cluster] = [*others, *ends]

    def _events(self, label: str, event: Any) -> Iterable[Body]:
        spec = parse(EventSpec, event, self._file, under=("events", label))
        folder = self._file.parent.name
        spec = spec.model_copy(update={"correlation": f"{folder}/{spec.correlation or label}"})
        try:
            return list(self.scribe.events(f"{folder}/{label}", spec))
        except BadMoment as error:
            raise BadScenario(self._file, f"events.{label}", str(error)) from error

    def _same_labels(self, events: Mapping[str, Any]) -> None:
        for label in events:
            if label not in self.spec.events:
                raise BadScenario(self._file, f"twin.events.{label}", "is no event of this scenario")

    def _rule(self, key: str, spec: WriteSpec) -> WriteRule:
        return WriteRule(
            method=spec.method,
            id=spec.id,
            action=spec.action,
            interim=tuple(spec.interim),
            ends=spec.ends,
            error=spec.error,
            then=tuple(
                change
                for number, change_spec in enumerate(spec.then)
                for change in self._checked(f"{key}.then[{number}].id", change_spec)
            ),
            refuse=(spec.refuse.status, spec.refuse.body) if spec.refuse else None,
            times=spec.times,
            only_while=_cause(spec.only_while),
        )


def _cause(spec: CauseSpec | None) -> Cause | None:
    if spec is None:
        return None
    path = tuple(filter(None, spec.path.split(".")))
    return Cause(spec.id, path, spec.equals, spec.room_below, spec.cluster, spec.absent)


def _completed(resource: str, body: Body) -> Body:
    """A new resource's body; fields given by its id are filled in."""
    tail = resource.rsplit("/providers/", 1)[-1].split("/")
    kind = "/".join([tail[0], *tail[1::2]])
    return {"id": resource, "name": tail[-1], "type": kind, **body}

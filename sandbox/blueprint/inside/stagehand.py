"""Applies a scenario's changes to one cluster, then runs the simulated controllers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sandbox.blueprint.inside.settle import Controllers
from sandbox.blueprint.scenario_file import ChangeSpec, KubeSpec, UsedSpec
from sandbox.blueprint.strict import BadScenario
from sandbox.blueprint.variables import Resolver
from sandbox.kube.world import KubeWorld, Run, RunCommands, Usage, stamp
from sandbox.objects import (
    NoSuchObject,
    find_object,
    kind_of,
    matching,
    patch_object,
    remove_object,
    replace_object,
)


@dataclass(frozen=True)
class InsideStagehand:
    """Applies one layer's changes to one cluster."""

    kube: KubeWorld
    file: Path
    resolver: Resolver
    now: datetime

    def apply(self, key: str, spec: KubeSpec) -> None:
        touched = set()
        for number, change in enumerate(spec.changes):
            where = f"{key}.changes[{number}].id"
            try:
                for target in self.each(where, change):
                    self._change(target, change)
                    if (change.patch and "status" in change.patch) or (change.body and "status" in change.body):
                        touched.add(target)
            except NoSuchObject as error:
                raise BadScenario(self.file, where, str(error)) from error
        self._server(spec)
        if spec.changes:
            Controllers(self.kube, self.now, frozenset(touched)).settle()

    def each(self, where: str, change: ChangeSpec) -> Iterator[str]:
        """The objects a change applies to; there must be at least one, unless it creates one."""
        if change.body is not None:
            kind_of(self.kube, change.id)
            yield change.id
            return
        found = list(matching(self.kube, change.id, change.where)) if change.many else [change.id]
        if not found or (not change.many and find_object(self.kube, change.id) is None):
            raise BadScenario(self.file, where, f"there is no {change.id}")
        yield from found

    def _change(self, object_id: str, change: ChangeSpec) -> None:
        if change.body is not None:
            body = self.resolver.moments(change.body, inside=True)
            born = {"creationTimestamp": body.get("firstTimestamp") or stamp(self.now)}
            replace_object(self.kube, object_id, {**body, "metadata": {**born, **body.get("metadata", {})}})
        elif change.patch is not None:
            patch_object(self.kube, object_id, self.resolver.moments(change.patch, inside=True))
        elif change.move is not None:
            stored = find_object(self.kube, object_id) or {}
            replace_object(self.kube, change.move, {**stored, "metadata": {**stored["metadata"], "uid": None}})
            remove_object(self.kube, object_id)
        else:
            remove_object(self.kube, object_id)

    def _measure(self, usage: Usage, spec: UsedSpec) -> None:
        usage.nodes.update({name: node.model_dump() for name, node in spec.nodes.items()})
        for name, containers in spec.pods.items():
            usage.pods[name] = {container: amount_spec.model_dump() for container, amount_spec in containers.items()}

    def _server(self, spec: KubeSpec) -> None:
        kube = self.kube
        if spec.reachable is not None:
            kube.reachable = spec.reachable
        if spec.refuses is not None:
            kube.refuses = spec.refuses
        if spec.not_ready is not None:
            kube.not_ready = dict(spec.not_ready)
        if spec.metrics == "absent":
            kube.usage = None
        elif spec.metrics is not None and kube.usage is not None:
            kube.usage.answering = spec.metrics == "fine"
        if spec.usage is not None and kube.usage is not None:
            self._measure(kube.usage, spec.usage)
        kube.logs.update(spec.logs)
        kube.listens.update(spec.listens)
        kube.runs.update({image: Run(run.log, run.exit_code) for image, run in spec.runs.items()})
        if spec.run_command is not None:
            kube.run_commands = RunCommands(fails=spec.run_command.fails, polls=spec.run_command.polls)

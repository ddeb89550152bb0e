"""Scenarios: YAML folders that define the Azure resources, the effect of writes, and the findings a check must report.

    Scenario.load("quota-blocks-upgrade")   a built-in scenario by name, or any folder by path
    scenario.world                          the Azure resources
    scenario.expect["prod-weu"]             the findings expected for that cluster; may be empty
    scenario.twin_world()                   the same world with one fact changed, so that the root cause is gone

A folder holds `scenario.yaml`, and `fleet.yaml` unless it is based on another scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from sandbox.blueprint.scenario_file import ExpectedSpec, Lineage, read_lineage
from sandbox.blueprint.stage import Staged, stage
from sandbox.blueprint.strict import BadScenario
from sandbox.world import World

__all__ = ["BadScenario", "Expected", "Repair", "Scenario", "Twin"]

FOLDER = Path(__file__).parent / "scenarios"


@dataclass(frozen=True, slots=True)
class Expected:
    """One finding that a check must report."""

    code: str
    subject: str
    explained_by: tuple[str, ...] = ()

    @property
    def root(self) -> bool:
        return not self.explained_by


@dataclass(frozen=True, slots=True)
class Question:
    """A specific question about a cluster (`from 203.0.113.9`) and the findings it must produce."""

    ask: str
    expect: tuple[Expected, ...]
    stays_open: bool


Questions = Mapping[str, tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Repair:
    """A fix that must be offered, and its outcome."""

    remedy: str
    ends: str


Repairs = Mapping[str, tuple[Repair, ...]]
"""The fixes that must be offered, by cluster."""

Expectation = Mapping[str, tuple[Expected, ...]]


@dataclass(frozen=True, slots=True)
class Twin:
    """The scenario with one fact changed."""

    title: str
    expect: Expectation
    stays_open: Mapping[str, tuple[str, ...]]
    questions: Questions = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """A scenario's metadata, read in milliseconds without building its fleet: enough to list scenarios and pick one."""

    name: str
    title: str
    has_twin: bool
    repairs: Repairs


@dataclass(frozen=True, slots=True)
class Scenario:
    """A loaded scenario."""

    name: str
    title: str
    story: str
    expect: Expectation
    twin: Twin | None
    world: World
    lineage: Lineage
    now: datetime
    repairs: Repairs
    stays_open: Mapping[str, tuple[str, ...]]
    """The checks that stay inconclusive, by cluster."""
    questions: Questions = field(default_factory=dict)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The scenarios that come with the sandbox."""
        return tuple(sorted(file.parent.name for file in FOLDER.glob("*/scenario.yaml")))

    @classmethod
    def heads(cls) -> tuple[Head, ...]:
        """The heads of all scenarios that come with the sandbox."""
        return tuple(map(_head, cls.names()))

    @classmethod
    def load(cls, name_or_path: str | Path, *, now: datetime | None = None) -> Scenario:
        """Load a scenario; its times are relative to `now`."""
        folder = _folder(name_or_path)
        moment = (now or datetime.now(UTC)).astimezone(UTC)
        lineage = read_lineage(folder, FOLDER)
        staged = stage(lineage, moment)
        twin = lineage.own.twin
        as_twin = stage(lineage, moment, twin=True) if twin else None
        return cls(
            name=folder.name,
            title=lineage.own.title,
            story=lineage.own.story,
            expect=_expectation(staged.expect),
            twin=Twin(twin.title, _expectation(as_twin.expect), _checks(as_twin), _questions(as_twin))
            if twin and as_twin
            else None,
            world=staged.world,
            lineage=lineage,
            now=moment,
            repairs={
                cluster: tuple(Repair(repair.remedy, repair.ends) for repair in ends)
                for cluster, ends in staged.repairs.items()
            },
            stays_open=_checks(staged),
            questions=_questions(staged),
        )

    @property
    def speaks_of(self) -> tuple[str, ...]:
        """The clusters that this scenario, or a story in it, changes; the others are the base fleet's."""
        own = [layer.spec for layer in self.lineage.layers if layer.is_story or layer.spec is self.lineage.own]
        return tuple(dict.fromkeys(cluster for spec in own for cluster in spec.expect))

    def twin_world(self) -> World:
        """Build a new World for the twin."""
        if self.twin is None:
            raise BadScenario(self.lineage.file, "twin", "there is none")
        return stage(self.lineage, self.now, twin=True).world


@cache
def _head(name: str) -> Head:
    lineage = read_lineage(_folder(name), FOLDER)
    repairs: dict[str, tuple[Repair, ...]] = {}
    for layer in lineage.layers:
        for cluster, ends in layer.spec.repairs.items():
            others = repairs.get(cluster, ()) if layer.is_story else ()
            repairs[cluster] = (*others, *(Repair(repair.remedy, repair.ends) for repair in ends))
    return Head(name, lineage.own.title, lineage.own.twin is not None, repairs)


def _folder(name_or_path: str | Path) -> Path:
    named = FOLDER / str(name_or_path)
    folder = named if isinstance(name_or_path, str) and "/" not in name_or_path else Path(name_or_path)
    if not (folder / "scenario.yaml").is_file():
        known = ", ".join(Scenario.names())
        raise BadScenario(folder / "scenario.yaml", "", f"there is no such scenario; there are {known}")
    return folder


def _checks(staged: Staged) -> dict[str, tuple[str, ...]]:
    return {cluster: tuple(checks) for cluster, checks in staged.stays_open.items()}


def _questions(staged: Staged) -> dict[str, tuple[Question, ...]]:
    return {
        cluster: tuple(Question(one.ask, _expectation({"": one.expect})[""], one.stays_open) for one in questions)
        for cluster, questions in staged.questions.items()
    }


def _expectation(expect: Mapping[str, list[ExpectedSpec]]) -> dict[str, tuple[Expected, ...]]:
    return {
        cluster: tuple(Expected(finding.code, finding.subject, tuple(finding.explained_by)) for finding in findings)
        for cluster, findings in expect.items()
    }

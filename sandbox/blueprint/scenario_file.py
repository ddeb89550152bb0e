"""The schema of `scenario.yaml`, and the chain of scenarios that one is based on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from sandbox.blueprint.strict import BadScenario, Strict, parse, read_yaml

Json = dict[str, Any]


class ChangeSpec(Strict):
    """A change to one resource: exactly one of patch, body, delete and move (to another id, unchanged).

    With `cluster` it is an object inside that cluster: `Node/name` or `namespace/Kind/name`. `*` is a wildcard,
    and `where` selects those whose fields have these values. Table rows have no id in Azure; here it is the table path
    plus the row's name (`${prod-weu.usage}/cores`, `${prod-weu.sizes}/Standard_D8s_v5`), and can be patched.
    """

    id: str
    patch: Json | None = None
    body: Json | None = None
    delete: bool = False
    move: str | None = None
    cluster: str = ""
    where: Json = Field(default_factory=dict)

    @model_validator(mode="after")
    def _does_one_thing(self) -> ChangeSpec:
        if sum([self.patch is not None, self.body is not None, self.delete, self.move is not None]) != 1:
            raise ValueError("needs exactly one of patch, body, delete: true and move")
        return self

    @property
    def many(self) -> bool:
        return bool(self.where) or "*" in self.id


class LogSpec(Strict):
    """A line of a control plane's log, sent to Log Analytics."""

    at: str
    """`now-5m`."""
    cluster: str
    category: str = "kube-apiserver"
    level: Literal["INFO", "WARNING", "ERROR", "FATAL"] = "ERROR"
    pod: str = "kube-apiserver-0"
    message: str
    table: Literal["AKSControlPlane", "AzureDiagnostics"] = "AKSControlPlane"


class UsageSpec(Strict):
    """A change to one quota row; with a `title`, a new row."""

    title: str = ""
    limit: int | None = None
    current: int | None = None

    @model_validator(mode="after")
    def _is_whole_if_new(self) -> UsageSpec:
        if self.title and (self.limit is None or self.current is None):
            raise ValueError("a new row (it has a title) needs limit and current")
        return self


class CauseSpec(Strict):
    """A condition that must hold for a rule to apply."""

    id: str
    cluster: str = ""
    path: str = ""
    equals: Any = None
    room_below: int | None = None
    absent: bool = False
    """True if the resource must not exist."""


class RefusalSpec(Strict):
    status: int = Field(ge=400, le=599)
    body: Json


class WriteSpec(Strict):
    """The effects of a write to one resource."""

    method: Literal["PUT", "PATCH", "POST", "DELETE"]
    id: str = Field(pattern=r"^(/|\$\{)")
    action: str = ""
    only_while: CauseSpec | None = None
    interim: list[str] = Field(default_factory=list)
    ends: Literal["Succeeded", "Failed", "Canceled"] = "Succeeded"
    error: Json | None = None
    then: list[ChangeSpec] = Field(default_factory=list)
    refuse: RefusalSpec | None = None
    times: int | None = None


class RunCommandSpec(Strict):
    """The behavior of `az aks command invoke`."""

    fails: str = ""
    polls: int = 1


class RunSpec(Strict):
    """The simulated run of a container image: its output, then exit."""

    log: str
    exit_code: int = 0


class AmountSpec(Strict):
    """Quantities such as `250m` and `1Gi`."""

    cpu: str = "100m"
    memory: str


class UsedSpec(Strict):
    """Resource usage: by node, and by `namespace/pod` and container."""

    nodes: dict[str, AmountSpec] = Field(default_factory=dict)
    pods: dict[str, dict[str, AmountSpec]] = Field(default_factory=dict)


class KubeSpec(Strict):
    """Overrides for one cluster's API server and its objects."""

    changes: list[ChangeSpec] = Field(default_factory=list)
    reachable: bool | None = None
    refuses: bool | None = None
    """Unreachable: connections are refused immediately."""
    not_ready: dict[str, str] | None = None
    """Failing `/readyz` checks, with their reasons."""
    metrics: Literal["fine", "silent", "absent"] | None = None
    """Whether the metrics server works, does not respond, or is not installed."""
    usage: UsedSpec | None = None
    """Overrides of the metrics server's default usage."""
    logs: dict[str, str] = Field(default_factory=dict)
    """By `namespace/pod/container`; with the suffix `:previous`, for the container before the last restart."""
    listens: dict[str, list[int]] = Field(default_factory=dict)
    """The ports that a pod listens on, by `namespace/pod`; of any other pod, those that its containers declare."""
    runs: dict[str, RunSpec] = Field(default_factory=dict)
    """Simulated runs of pods with restartPolicy Never, by image."""
    run_command: RunCommandSpec | None = None


class ExpectedSpec(Strict):
    """One finding that a check must report."""

    code: str = Field(pattern=r"^[a-z][a-z0-9-]+$")
    subject: str
    explained_by: list[str] = Field(default_factory=list)


class QuestionSpec(Strict):
    """A specific question about a cluster, as typed, and the findings it must produce."""

    ask: str
    expect: list[ExpectedSpec] = Field(default_factory=list)
    stays_open: bool = False
    """The question is inconclusive: no findings, but no all-clear either."""


class RepairSpec(Strict):
    """A fix that must be offered, and its required outcome after approval."""

    remedy: str = Field(pattern=r"^[a-z][a-z-]+$")
    ends: Literal["fixed", "not-fixed", "answered", "unverified", "failed", "stale"] = "fixed"


class TwinSpec(Strict):
    """The one fact that differs, and the findings expected then."""

    title: str
    changes: list[ChangeSpec] = Field(default_factory=list)
    usages: dict[str, UsageSpec] = Field(default_factory=dict)
    kube: dict[str, KubeSpec] = Field(default_factory=dict)
    events: dict[str, Json | None] = Field(default_factory=dict)
    """Merge patches to the scenario's own events."""
    logs: dict[str, list[LogSpec]] = Field(default_factory=dict)
    """In place of the scenario's own lines of these workspaces."""
    expect: dict[str, list[ExpectedSpec]] = Field(default_factory=dict)
    stays_open: dict[str, list[str]] = Field(default_factory=dict)
    questions: dict[str, list[QuestionSpec]] = Field(default_factory=dict)


class StorySpec(Strict):
    """Another scenario played in this fleet; `names` maps its cluster and pools to names in this fleet."""

    scenario: str
    names: dict[str, str] = Field(default_factory=dict)


class ScenarioSpec(Strict):
    """The whole file. `fleet` is a merge patch to the fleet description of the base scenario and the stories."""

    title: str
    story: str
    based_on: str | None = None
    stories: list[StorySpec] = Field(default_factory=list)
    fleet: Json = Field(default_factory=dict)
    changes: list[ChangeSpec] = Field(default_factory=list)
    usages: dict[str, UsageSpec] = Field(default_factory=dict)
    kube: dict[str, KubeSpec] = Field(default_factory=dict)
    """By cluster name."""
    events: dict[str, Json] = Field(default_factory=dict)
    policy_states: list[Json] = Field(default_factory=list)
    metrics: dict[str, dict[str, dict[str, dict[str, float]]]] = Field(default_factory=dict)
    """Azure Monitor, by cluster, metric and node: the values by timestamp (`now-40m: 81`)."""
    logs: dict[str, list[LogSpec]] = Field(default_factory=dict)
    """Log Analytics, by workspace id: the lines of control planes."""
    unindexed: list[str] = Field(default_factory=list)
    cloud_as_of: str = Field(default="", pattern=r"^(\d{4}-\d\d-\d\d)?$")
    """The date of the newest api-versions of a cloud that lags behind."""
    writes: list[WriteSpec] = Field(default_factory=list)
    expect: dict[str, list[ExpectedSpec]] = Field(default_factory=dict)
    stays_open: dict[str, list[str]] = Field(default_factory=dict)
    """By cluster: the checks that stay inconclusive there. All others must reach a verdict."""
    questions: dict[str, list[QuestionSpec]] = Field(default_factory=dict)
    """By cluster: specific questions and their expected answers."""
    repairs: dict[str, list[RepairSpec]] = Field(default_factory=dict)
    """By cluster: every fix that must be offered there. No others may be offered."""
    twin: TwinSpec | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One scenario of a chain: its parsed file."""

    file: Path
    raw: Json
    spec: ScenarioSpec
    is_story: bool = False
    """Whether it is one of several stories in one fleet, whose expectations are combined."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A scenario and its bases, the lowest first."""

    layers: tuple[Layer, ...]
    fleet_file: Path
    fleet: Json

    @property
    def own(self) -> ScenarioSpec:
        return self.layers[-1].spec

    @property
    def file(self) -> Path:
        return self.layers[-1].file


def read_lineage(folder: Path, library: Path) -> Lineage:
    """Read the scenario in a folder and all scenarios it is based on."""
    layers: list[Layer] = []
    while True:
        file = folder / "scenario.yaml"
        raw = read_yaml(file)
        spec = parse(ScenarioSpec, raw, file)
        if any(layer.file == file for layer in layers):
            raise BadScenario(file, "based_on", "is based on itself")
        layers[:0] = [*_stories(file, spec, library), Layer(file, raw, spec)]
        if spec.based_on is None:
            return Lineage(tuple(layers), folder / "fleet.yaml", read_yaml(folder / "fleet.yaml"))
        below = library / spec.based_on
        if not (below / "scenario.yaml").is_file():
            raise BadScenario(file, "based_on", f"there is no scenario {spec.based_on!r}")
        folder = below


def _stories(file: Path, spec: ScenarioSpec, library: Path) -> Iterator[Layer]:
    """The scenarios combined in this one."""
    for number, story in enumerate(spec.stories):
        told = library / story.scenario / "scenario.yaml"
        if not told.is_file():
            raise BadScenario(file, f"stories[{number}]", f"there is no scenario {story.scenario!r}")
        raw = renamed(read_yaml(told), story.names)
        told_spec = parse(ScenarioSpec, raw, told)
        if told_spec.based_on != spec.based_on or told_spec.stories:
            what = f"{story.scenario!r} is not based on {spec.based_on!r} alone, as this is"
            raise BadScenario(file, f"stories[{number}]", what)
        yield Layer(told, raw, told_spec, is_story=True)


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """A copy with names replaced where they are whole words: in keys, variables and Azure's messages."""
    if not names:
        return data
    # Not in `apps/v1`, nor in `vnet-prod-weu`: these name other things.
    word = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w/-])")

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {of(key): of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [of(item) for item in value]
        return word.sub(lambda found: names[found[1]], value) if isinstance(value, str) else value

    return of(data)

"""What `scenario.yaml` may say, and the chain of scenarios that one is based on."""

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
    """What is changed of one resource: exactly one of patch, body, delete and move (to another id, as it is).

    With `cluster` it is an object inside that cluster: `Node/name` or `namespace/Kind/name`. Stars mean all of them,
    and `where` those whose fields have these values. A row of a table has no id in Azure; here it has the table's path
    and its name (`${prod-weu.usage}/cores`, `${prod-weu.sizes}/Standard_D8s_v5`), and can be patched.
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


class UsageSpec(Strict):
    """What is changed of one quota row; with a `title`, a row that is not there yet."""

    title: str = ""
    limit: int | None = None
    current: int | None = None

    @model_validator(mode="after")
    def _is_whole_if_new(self) -> UsageSpec:
        if self.title and (self.limit is None or self.current is None):
            raise ValueError("a new row (it has a title) needs limit and current")
        return self


class CauseSpec(Strict):
    """What must still be so for a rule to apply."""

    id: str
    cluster: str = ""
    path: str = ""
    equals: Any = None
    room_below: int | None = None
    absent: bool = False
    """That there is no such resource."""


class RefusalSpec(Strict):
    status: int = Field(ge=400, le=599)
    body: Json


class WriteSpec(Strict):
    """What happens after a write to one resource."""

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
    """How `az aks command invoke` fares."""

    fails: str = ""
    polls: int = 1


class RunSpec(Strict):
    """What a container of some image writes before it ends."""

    log: str
    exit_code: int = 0


class AmountSpec(Strict):
    """Quantities such as `250m` and `1Gi`."""

    cpu: str = "100m"
    memory: str


class UsedSpec(Strict):
    """What is in use: by node, and by `namespace/pod` of each container."""

    nodes: dict[str, AmountSpec] = Field(default_factory=dict)
    pods: dict[str, dict[str, AmountSpec]] = Field(default_factory=dict)


class KubeSpec(Strict):
    """What is different about one cluster's API server and the objects that it holds."""

    changes: list[ChangeSpec] = Field(default_factory=list)
    reachable: bool | None = None
    refuses: bool | None = None
    """Not reachable, and told so at once."""
    not_ready: dict[str, str] | None = None
    """The checks of `/readyz` that fail, with their reasons."""
    metrics: Literal["fine", "silent", "absent"] | None = None
    """Whether a metrics server answers, does not, or is not installed."""
    usage: UsedSpec | None = None
    """What the metrics server measures, where it is not the usual."""
    logs: dict[str, str] = Field(default_factory=dict)
    """By `namespace/pod/container`; with `:previous` behind it, of the container before the last restart."""
    runs: dict[str, RunSpec] = Field(default_factory=dict)
    """What pods do that are not restarted, by their image."""
    run_command: RunCommandSpec | None = None


class ExpectedSpec(Strict):
    """One finding that a check must make."""

    code: str = Field(pattern=r"^[a-z][a-z0-9-]+$")
    subject: str
    explained_by: list[str] = Field(default_factory=list)


class QuestionSpec(Strict):
    """Something in particular that is asked about a cluster, as it is typed, and what must be found then."""

    ask: str
    expect: list[ExpectedSpec] = Field(default_factory=list)
    stays_open: bool = False
    """Nothing is found, and the answer is no all-clear."""


class RepairSpec(Strict):
    """A fix that is offered there, and how it must end when it is approved."""

    remedy: str = Field(pattern=r"^[a-z][a-z-]+$")
    ends: Literal["fixed", "not-fixed", "unverified", "failed", "stale"] = "fixed"


class TwinSpec(Strict):
    """The one fact that differs, and what is then to be found."""

    title: str
    changes: list[ChangeSpec] = Field(default_factory=list)
    usages: dict[str, UsageSpec] = Field(default_factory=dict)
    kube: dict[str, KubeSpec] = Field(default_factory=dict)
    events: dict[str, Json | None] = Field(default_factory=dict)
    """Merge patches to the scenario's own events."""
    expect: dict[str, list[ExpectedSpec]] = Field(default_factory=dict)
    stays_open: dict[str, list[str]] = Field(default_factory=dict)
    questions: dict[str, list[QuestionSpec]] = Field(default_factory=dict)


class StorySpec(Strict):
    """A scenario that happens in this fleet too; `names` are what its cluster and its pools are called here."""

    scenario: str
    names: dict[str, str] = Field(default_factory=dict)


class ScenarioSpec(Strict):
    """The whole file. `fleet` is a merge patch to the description of the fleet below it, and of its stories."""

    title: str
    story: str
    based_on: str | None = None
    stories: list[StorySpec] = Field(default_factory=list)
    fleet: Json = Field(default_factory=dict)
    changes: list[ChangeSpec] = Field(default_factory=list)
    usages: dict[str, UsageSpec] = Field(default_factory=dict)
    kube: dict[str, KubeSpec] = Field(default_factory=dict)
    """By the cluster's name."""
    events: dict[str, Json] = Field(default_factory=dict)
    policy_states: list[Json] = Field(default_factory=list)
    metrics: dict[str, dict[str, dict[str, dict[str, float]]]] = Field(default_factory=dict)
    """Azure Monitor, by cluster, metric and node: what was measured at which moments (`now-40m: 81`)."""
    unindexed: list[str] = Field(default_factory=list)
    cloud_as_of: str = Field(default="", pattern=r"^(\d{4}-\d\d-\d\d)?$")
    """A cloud that lags behind offers the api-versions of that day, and none newer."""
    writes: list[WriteSpec] = Field(default_factory=list)
    expect: dict[str, list[ExpectedSpec]] = Field(default_factory=dict)
    stays_open: dict[str, list[str]] = Field(default_factory=dict)
    """By cluster: the checks that cannot come to a verdict there. What is not named must come to one."""
    questions: dict[str, list[QuestionSpec]] = Field(default_factory=dict)
    """By cluster: questions about something in particular, with their answers."""
    repairs: dict[str, list[RepairSpec]] = Field(default_factory=dict)
    """By cluster: every fix that is offered there. What is not named must not be offered."""
    twin: TwinSpec | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One scenario of a chain: its file, as read."""

    file: Path
    raw: Json
    spec: ScenarioSpec
    is_story: bool = False
    """One of several that happen in one fleet: what it expects comes on top of the others'."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A scenario and those below it, the lowest first."""

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
    """The scenario in a folder, with everything that it is based on."""
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
    """The scenarios that happen together in this one."""
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
    """The same with other names, wherever one stands as a word: in keys, in variables and in what Azure says."""
    if not names:
        return data
    # Not in `apps/v1`, nor in `vnet-prod-weu`: these are other things' names.
    word = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w/-])")

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {of(key): of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [of(item) for item in value]
        return word.sub(lambda found: names[found[1]], value) if isinstance(value, str) else value

    return of(data)

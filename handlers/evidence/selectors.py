"""Label selectors, as Kubernetes evaluates them: of services, network policies, affinity and topology spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence.wire import dig, rows, text, texts

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a selector: a key, an operator, and the values that it names."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Labels) -> bool:
        """Whether labels meet it. An operator that is not known meets nothing, as the scheduler has it."""
        test = _OPERATORS.get(self.operator)
        return test is not None and test(labels.get(self.key), self.values)

    def __str__(self) -> str:
        match self.operator, self.values:
            case "In", (only,):
                return f"{self.key}={only}"
            case "NotIn", (only,):
                return f"{self.key}!={only}"
            case "Exists", _:
                return self.key
            case "DoesNotExist", _:
                return f"no label {self.key}"
            case "Gt" | "Lt", _:
                return f"{self.key} {'>' if self.operator == 'Gt' else '<'} {', '.join(self.values)}"
        return f"{self.key} {'not in' if self.operator == 'NotIn' else 'in'} ({', '.join(self.values)})"


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector. One without requirements chooses everything; `NOTHING` stands for one that is absent."""

    requirements: tuple[Requirement, ...] = ()
    absent: bool = False

    @property
    def everything(self) -> bool:
        return not self.absent and not self.requirements

    def matches(self, labels: Labels) -> bool:
        return not self.absent and all(requirement.holds(labels) for requirement in self.requirements)

    def missed(self, labels: Labels) -> tuple[Requirement, ...]:
        """The requirements that these labels do not meet."""
        return tuple(requirement for requirement in self.requirements if not requirement.holds(labels))

    def narrowed(self, more: tuple[Requirement, ...]) -> Selector:
        return self if self.absent else Selector((*self.requirements, *more))

    def __str__(self) -> str:
        return ", ".join(map(str, self.requirements)) or ("nothing" if self.absent else "all")


NOTHING = Selector(absent=True)


def read_selector(body: Any) -> Selector:
    """A `LabelSelector` from its wire body; None chooses nothing, an empty one everything."""
    if not isinstance(body, Mapping):
        return NOTHING
    return Selector((*equal_to(dig(body, "matchLabels")), *read_requirements(body, "matchExpressions")))


def equal_to(labels: Any) -> tuple[Requirement, ...]:
    """The requirements of a map of labels, such as a service's selector or a pod's nodeSelector."""
    pairs = labels.items() if isinstance(labels, Mapping) else ()
    return tuple(Requirement(str(key), "In", (str(value),)) for key, value in sorted(pairs))


def read_requirements(body: Any, name: str) -> tuple[Requirement, ...]:
    return tuple(Requirement(text(row, "key"), text(row, "operator"), texts(row, "values")) for row in rows(body, name))


def _is_in(value: str | None, values: tuple[str, ...]) -> bool:
    return value is not None and value in values


def _is_not_in(value: str | None, values: tuple[str, ...]) -> bool:
    return value is None or value not in values


def _exceeds(value: str | None, values: tuple[str, ...]) -> bool:
    pair = _numbers(value, values)
    return pair is not None and pair[0] > pair[1]


def _is_below(value: str | None, values: tuple[str, ...]) -> bool:
    pair = _numbers(value, values)
    return pair is not None and pair[0] < pair[1]


def _numbers(value: str | None, values: tuple[str, ...]) -> tuple[int, int] | None:
    try:
        return int(value or ""), int(values[0])
    except (ValueError, IndexError):
        return None


_OPERATORS: Mapping[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": _is_in,
    "NotIn": _is_not_in,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": _exceeds,
    "Lt": _is_below,
}

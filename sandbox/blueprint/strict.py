"""Strict parsing of scenario files: unknown input is rejected with the file and the key."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml

try:
    # Ten times as fast, if PyYAML was built with libyaml.
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]
from pydantic import BaseModel, ConfigDict, ValidationError


class BadScenario(ValueError):
    """A scenario file is invalid."""

    def __init__(self, file: Path, key: str, what: str) -> None:
        super().__init__(f"{file}: {key}: {what}" if key else f"{file}: {what}")
        self.file, self.key, self.what = file, key, what


class Strict(BaseModel):
    """Base model for parts of a scenario file. Unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Part = TypeVar("Part", bound=Strict)


_MERGE = "tag:yaml.org,2002:merge"


class _Loader(SafeLoader):
    """Rejects duplicate YAML keys, of which PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and key.tag != _MERGE:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} stands twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_yaml(file: Path) -> dict[str, Any]:
    """Read the mapping in a YAML file."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadScenario(file, "", f"cannot be read ({error.strerror})") from error
    try:
        data = yaml.load(text, _Loader)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise BadScenario(file, f"line {line}", str(error.problem)) from error
    if not isinstance(data, dict):
        raise BadScenario(file, "", "is not a mapping")
    return data


def parse(model: type[Part], data: Any, file: Path, under: tuple[int | str, ...] = ()) -> Part:
    """Validate data as a model; reports the first error with its location in the file, prefixed with `under`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = f"is not known here; known are {', '.join(_fields(model, first['loc']))}"
        raise BadScenario(file, dotted((*under, *first["loc"])), what) from error


def dotted(where: tuple[int | str, ...]) -> str:
    """Format `('changes', 2, 'patch')` as `changes[2].patch`."""
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _fields(model: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    """The valid keys at a location inside `model`."""
    found: Any = model
    for step in where[:-1]:
        fields = getattr(found, "model_fields", {})
        found = fields[step].annotation if step in fields else found
        found = _inner(found)
    return [field.alias or name for name, field in getattr(found, "model_fields", {}).items()]


def _inner(annotation: Any) -> Any:
    """The model inside `dict[str, Part]`, `tuple[Part, ...]` or `Part | None`."""
    for argument in getattr(annotation, "__args__", ()):
        inner = _inner(argument)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return annotation

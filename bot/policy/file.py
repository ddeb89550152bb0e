"""The policy file (`AKSBOT_POLICY`): read, and refused by name and line if it is invalid."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.policy.fixes import KNOWN_REMEDIES, NO_SUCH_REMEDY
from bot.policy.lines import Loc, duplicate_keys, line_of
from bot.policy.model import Policy
from bot.policy.section import EXPLAINED
from handlers.problem import Exit, Problem
from runbooks.yaml_text import NotPlain, compose_yaml, load_yaml, read_text

_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    """One thing that is wrong with the file, and what to do about it."""

    line: int
    what: str
    do: str


def load(file: Path | None, *, remedies: Collection[str] | None = None) -> Policy:
    """The policy in force. Without a file, everybody in the workspace except guests may view every cluster.

    `remedies`: the names of all remedies. A rule about any other name is refused.
    """
    if file is None:
        return Policy()
    policy, complaints = read(file, remedies=remedies)
    if policy is None:
        first = complaints[0]
        more = f", and {len(complaints) - 1} more (`aksbot policy lint` lists all)" if len(complaints) > 1 else ""
        what = f"cannot use the policy in {file}"
        raise Problem(what, f"line {first.line}: {first.what}{more}", first.do, code=Exit.USAGE)
    return policy


def read(file: Path, *, remedies: Collection[str] | None = None) -> tuple[Policy | None, list[Complaint]]:
    """The policy, or everything that is wrong with it."""
    try:
        written = read_text(file)
    except (OSError, UnicodeDecodeError) as unreadable:
        why = getattr(unreadable, "strerror", None) or str(unreadable)
        do = "set AKSBOT_POLICY to a file that exists and that aksbot may read"
        raise Problem(f"cannot read the policy in {file}", why, do, code=Exit.USAGE) from unreadable
    try:
        root, values = compose_yaml(written), load_yaml(written)
    except yaml.YAMLError as malformed:
        return None, [_malformed(malformed)]
    complaints = [
        Complaint(line, f"`{name}` is there twice", "keep one of them") for line, name in duplicate_keys(root)
    ]
    policy = None
    try:
        policy = Policy.model_validate({} if values is None else values, context={KNOWN_REMEDIES: remedies})
    except ValidationError as invalid:
        complaints += _complaints(invalid, root)
    return (None if complaints else policy), sorted(complaints)


def _malformed(error: yaml.YAMLError) -> Complaint:
    mark = getattr(error, "problem_mark", None)
    why = getattr(error, "problem", None) or str(error).partition("\n")[0]
    what = why if isinstance(error, NotPlain) else f"it is not YAML: {why}"
    return Complaint(mark.line + 1 if mark else 1, what, "correct that line")


def _complaints(invalid: ValidationError, root: yaml.Node | None) -> Iterator[Complaint]:
    for error in invalid.errors(include_url=False):
        loc = error["loc"]
        what, do = _unknown(loc) if error["type"] == "extra_forbidden" else _wrong(loc, error)
        yield Complaint(line_of(root, loc), what, do)


def _unknown(loc: Loc) -> tuple[str, str]:
    known = ", ".join(_model(loc).model_fields)
    return f"`{_dotted(loc)}` is not a key of the policy", f"remove it; allowed there: {known}"


def _wrong(loc: Loc, error: ErrorDetails) -> tuple[str, str]:
    field = next((key for key in reversed(loc) if isinstance(key, str)), None)
    if field is None:
        return "it holds no keys", f"begin with one of {', '.join(Policy.model_fields)}"
    upto = loc[: len(loc) - list(reversed(loc)).index(field)]
    if error["type"] == NO_SUCH_REMEDY:
        what = f"`{_dotted(upto)}` names {_shown(error['input'])}, and no remedy is called so"
        return what, f"correct it, or remove it; there are {error['ctx']['known']}"
    if error["type"] == EXPLAINED:
        return f"`{_dotted(loc)}` {error['ctx']['what']}", error["ctx"]["do"]
    known = _model(upto).model_fields.get(field)
    do = f"give it {known.description}" if known else "correct it"
    if error["type"] == "missing":
        return f"`{_dotted(upto)}` is missing", do
    return f"`{_dotted(upto)}` cannot be {_shown(error['input'])}", do


def _model(loc: Loc) -> type[BaseModel]:
    """The model that contains the last key of `loc`."""
    model: type[BaseModel] = Policy
    for step in loc[:-1]:
        if isinstance(step, str) and (inner := _section_in(model.model_fields[step].annotation)):
            model = inner
    return model


def _section_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_section_in(argument) for argument in getattr(annotation, "__args__", ()))
    return next((part for part in inner if part), None)


def _dotted(loc: Loc) -> str:
    """`look.rules.2.clusters`: rules are counted from 1."""
    return ".".join(str(key + 1) if isinstance(key, int) else key for key in loc)


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}…"

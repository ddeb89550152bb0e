"""Every key of the policy file, read from the models: `docs/policy.md` holds it, and a test compares."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from enum import Enum
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.policy.fixes import END_OF_DAY
from bot.policy.model import Policy
from bot.render.clean import one_line

BEGINS, ENDS = "<!-- keys: begin -->", "<!-- keys: end -->"
"""Between these the document is generated (`make generate`)."""
_LIST = "[]"


def keys() -> str:
    """A table for each section and for each kind of rule in it."""
    return "\n".join(_tables(Policy, ""))


def written_into(document: str) -> str:
    """The document with the tables as they are now."""
    before, _, rest = document.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}\n{keys()}\n{ENDS}{after}"


def _tables(model: type[BaseModel], path: str) -> Iterator[str]:
    plain = {name: field for name, field in model.model_fields.items() if path or not _inner(field.annotation)}
    if plain:
        yield f"\n### `{path or 'the file'}`\n"
        yield f"{_about(model)}\n"
        yield "| key | what it is | without it |"
        yield "|---|---|---|"
        yield from (
            f"| `{name}` | {_cell(field.description or '')} | {_default(field)} |" for name, field in plain.items()
        )
    for name, field in model.model_fields.items():
        if inner := _inner(field.annotation):
            many = field.annotation is not inner
            yield from _tables(inner, f"{path}.{name}".strip(".") + (_LIST if many else ""))


def _about(model: type[BaseModel]) -> str:
    return one_line((model.__doc__ or "").strip().partition("\n")[0].removeprefix("The section. "))


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|").replace("*", "\\*")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be there"
    value = field.default
    if value is PydanticUndefined or isinstance(value, BaseModel):
        return "as its own keys say"
    return f"`{_plain(value)}`"


def _plain(value: Any) -> str:
    """As it would be written in the file."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, time):
        return "24:00" if value == END_OF_DAY else f"{value:%H:%M}"
    if isinstance(value, BaseModel):
        return f"{{{', '.join(f'{name}: {_plain(getattr(value, name))}' for name in sorted(value.model_fields_set))}}}"
    return str(value.value if isinstance(value, Enum) else value)


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The section or the rule that a key holds, also in a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner, getattr(annotation, "__args__", ()))), None)

"""What the sections of a policy file are made of. Nothing in them is guessed, nothing unknown is passed over."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic_core import PydanticCustomError

ClusterGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_*?\[\]!-]{1,100}$")]


def listed(value: Any) -> Any:
    """YAML has lists; what is kept cannot be changed."""
    return tuple(value) if isinstance(value, list) else value


EXPLAINED = "explained"
"""The type of an error whose context says itself what is wrong (`what`) and what to do about it (`do`)."""


def explained(what: str, do: str) -> PydanticCustomError:
    """An error in words of its own; where it is in the file is said by whoever reads the file."""
    return PydanticCustomError(EXPLAINED, "{what}", {"what": what, "do": do})


def not_empty(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """An empty list would never hold, and leave the rule below it, which may be laxer, to decide."""
    if not value:
        raise explained("is empty, so that it never holds", "name what it is about, or remove the whole entry")
    return value


ClustersOrNone = Annotated[tuple[ClusterGlob, ...], BeforeValidator(listed)]
Clusters = Annotated[ClustersOrNone, AfterValidator(not_empty)]


class Section(BaseModel):
    """A part of the file: nothing in it is guessed, and nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

"""The base of the policy's sections: nothing is guessed, and unknown keys are refused."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic_core import PydanticCustomError

ClusterGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_*?\[\]!-]{1,100}$")]


def listed(value: Any) -> Any:
    """YAML has lists; the stored value must be immutable."""
    return tuple(value) if isinstance(value, list) else value


EXPLAINED = "explained"
"""The type of an error whose context says itself what is wrong (`what`) and what to do about it (`do`)."""


def explained(what: str, do: str) -> PydanticCustomError:
    """An error with its own text; the caller adds where in the file it is."""
    return PydanticCustomError(EXPLAINED, "{what}", {"what": what, "do": do})


def not_empty(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """An empty list would never match, and leave the decision to the next rule, which may be laxer."""
    if not value:
        raise explained("is empty, so that it never holds", "name what it is about, or remove the whole entry")
    return value


PersonOrGroup = Annotated[str, StringConstraints(pattern=r"^(T[A-Z0-9]{2,}:[UW][A-Z0-9]{2,}|S[A-Z0-9]{2,})$")]
PeopleOrGroups = Annotated[tuple[PersonOrGroup, ...], BeforeValidator(listed)]
ClustersOrNone = Annotated[tuple[ClusterGlob, ...], BeforeValidator(listed)]
Clusters = Annotated[ClustersOrNone, AfterValidator(not_empty)]


class Section(BaseModel):
    """A section of the file: nothing is guessed, and unknown keys are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

"""What the sections of a policy file are made of. Nothing in them is guessed, nothing unknown is passed over."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

ClusterGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_*?\[\]!-]{1,100}$")]


def listed(value: Any) -> Any:
    """YAML has lists; what is kept cannot be changed."""
    return tuple(value) if isinstance(value, list) else value


Clusters = Annotated[tuple[ClusterGlob, ...], BeforeValidator(listed)]


class Section(BaseModel):
    """A part of the file: nothing in it is guessed, and nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

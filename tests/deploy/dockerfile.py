"""Parses the subset of Dockerfile syntax that we use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCKERFILE = Path(__file__).parents[2] / "deploy" / "Dockerfile"
IGNORED = DOCKERFILE.with_name("Dockerfile.dockerignore")


@dataclass(frozen=True)
class Instruction:
    """One instruction, its continued lines joined; `stage` counts the FROMs."""

    word: str
    rest: str
    stage: int


def instructions() -> list[Instruction]:
    text = re.sub(r"(?m)^\s*#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"))
    found: list[Instruction] = []
    stage = -1
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.partition(" ")
        stage += word == "FROM"
        found.append(Instruction(word, rest.strip(), stage))
    return found


def of(word: str, *, stage: int | None = None) -> list[str]:
    """The arguments of each instruction of one kind."""
    return [one.rest for one in instructions() if one.word == word and stage in (None, one.stage)]

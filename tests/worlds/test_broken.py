"""Generated clusters with one or two causes, and Azure's errors in all of their wordings."""

from __future__ import annotations

import pytest

from tests.worlds.broken import Broken, draw_broken
from tests.worlds.properties import contradictions

WORLDS = 500


@pytest.mark.parametrize("seed", range(WORLDS))
async def test_a_diagnosis_does_not_contradict_its_own_evidence(seed: int) -> None:
    broken = draw_broken(seed)
    lines = await contradictions(broken)
    if lines:
        told = "\n".join(lines)
        less = await smallest(broken, lines[0])
        pytest.fail(f"world {seed}:\n{told}\nfor the first, this is enough:\n{less}", pytrace=False)


async def smallest(broken: Broken, line: str) -> Broken:
    """Shrink a world to a minimal one with the same contradiction."""
    found = True
    while found:
        found = False
        for less in broken.smaller():
            if line in await contradictions(less):
                broken, found = less, True
                break
    return broken

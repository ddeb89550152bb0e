"""With one kind of evidence denied in a generated world, no diagnostic that depends on it is clear."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from handlers.model import Evidence, Outcome
from tests.chaos.test_permissions import ACTIONS, SIGHTS, verb_and_resource
from tests.checking import wrongly_clear
from tests.worlds.answering import InProcess
from tests.worlds.broken import draw_broken, make
from tests.worlds.build import build
from tests.worlds.expecting import GRAPH, check
from tests.worlds.shape import draw

WORLDS = 300


class Denial:
    """One Azure action or Kubernetes verb that the bot is denied."""

    def __init__(self, dice: Random) -> None:
        self.text = dice.choice((*ACTIONS, *SIGHTS))
        self._transport: InProcess | None = None

    def __call__(self, transport: InProcess) -> None:
        self._transport = transport
        if self.text in ACTIONS:
            transport.deny(self.text)
        else:
            transport.deny_inside(*verb_and_resource(self.text))

    @property
    def met(self) -> bool:
        """Whether a request was actually denied: what is never requested in this world is not missing."""
        asked = self.text if self.text in ACTIONS else " ".join(verb_and_resource(self.text))
        return self._transport is not None and asked in self._transport.refused

    @property
    def lost(self) -> frozenset[type[Evidence]]:
        return frozenset(one.makes for one in GRAPH.wanted if self._sights & {*one.reads, *one.sees})

    @property
    def _sights(self) -> set[str]:
        """Those of the denied requests: of one object's own name, or of every name."""
        assert self._transport is not None
        if self.text in ACTIONS:
            return {self.text}
        asked = {
            said for said in self._transport.refused if said.startswith(f"{' '.join(verb_and_resource(self.text))}:")
        }
        of_one = asked & set(SIGHTS)
        return of_one if of_one and of_one == asked else {self.text, *of_one}


@pytest.mark.parametrize("seed", range(WORLDS))
async def test_what_was_not_seen_is_not_clear(seed: int) -> None:
    dice = Random(f"unseen {seed}")
    denial, healthy = Denial(dice), seed % 3 != 0
    cluster = build(draw(seed)) if healthy else make(replace(draw_broken(seed), failed=("pool", "cluster")))
    diagnosis = (await check(cluster, denial)).diagnosis
    told = f"world {seed} without {denial.text}:\n{cluster.shape}"
    assert Outcome.CRASHED not in {one.outcome for one in diagnosis.checks}, told
    if not denial.met:
        return
    assert wrongly_clear(diagnosis, denial.lost, in_health=healthy) == {}, told
    assert diagnosis.unseen, told  # the gap is reported even if the verdict does not need it
    if healthy:  # missing evidence must not lead to more findings
        known = {one.finding.key for one in (await check(cluster)).diagnosis.findings}
        assert {one.finding.key for one in diagnosis.findings} <= known, told

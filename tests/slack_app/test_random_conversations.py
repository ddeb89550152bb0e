"""Random conversations about incidents: several people, clusters, edits, alert storms, and what is over."""

from __future__ import annotations

import random

import pytest

from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.workspace import make_id
from tests.slack_app.conversation import MONITOR, Conversation, worlds
from tests.slack_app.hearing import Reads, reads

__all__ = ["reads"]

SEEDS, EVENTS = 12, 8


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_each_thread_has_one_cluster_everybody_is_answered_titles_are_true_and_what_is_clear_is_not_red(
    reads: Reads, control: Control, arm: ArmServer, seed: int
) -> None:
    chance = random.Random(seed)
    allowed = f"channels:\n  alert_apps: [{make_id('A', control.team.domain, MONITOR)}]\n"
    async with reads(allowed):
        talk = Conversation(control, arm, chance)
        await talk.begin()
        for world in worlds(chance):
            await talk.becomes(world)
            for _ in range(EVENTS):
                talk.happens()
            assert await talk.settled() == []

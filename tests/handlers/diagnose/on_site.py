"""Checks of on-premises clusters, with changed resources or denied permissions."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from handlers.model import Check, Diagnosis, Finding, Outcome
from sandbox.merge import merged
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import azure, check
from tests.runbooks.first_lines import wrong_first_lines

Body = dict[str, Any]


def world_of(scenario: str = "healthy-fleet") -> World:
    return Scenario.load(scenario).world


def change(world: World, ending: str, patch: Body) -> str:
    """Apply a patch to the resource whose id has this suffix; returns its id."""
    body = next(body for key, body in world.resources.items() if key.endswith(ending.lower()))
    world.put(merged(deepcopy(body), patch))
    return str(body["id"])


async def diagnosed(world: World, name: str, denied: Iterable[str] = ()) -> Diagnosis:
    async with azure(world) as server:
        for action in denied:
            server.deny("reader", action)
        diagnosis = await check(server, name)
    assert not (wrong := wrong_first_lines(diagnosis)), wrong
    return diagnosis


async def asked(code: str, world: World, name: str, denied: Iterable[str] = ()) -> Check:
    diagnosis = await diagnosed(world, name, denied)
    return next(ended for ended in diagnosis.checks if code in ended.codes)


async def found(code: str, world: World, name: str, denied: Iterable[str] = ()) -> Finding:
    ended = await asked(code, world, name, denied)
    assert ended.outcome is Outcome.FOUND, ended.why
    return next(finding for finding in ended.findings if finding.code == code)

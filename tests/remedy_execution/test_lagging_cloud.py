"""A cloud that does not offer the api-versions that fixes were written for: one body, one version."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from handlers.remedy.execution import Outcome
from tests.remedy_execution.stage import Stage


def versions(stage: Stage, method: str, path: str) -> list[str]:
    sent = [one for one in stage.azure.log if one.principal == "writer" and one.method == method]
    return [parse_qs(one.query)["api-version"][0] for one in sent if one.path.lower() == path.lower()]


@pytest.mark.parametrize("as_of", ["2025-08-15", "2024-03-31"])
async def test_a_pool_is_put_in_the_version_that_it_was_read_in(failed_pool: Stage, as_of: str) -> None:
    stage = failed_pool
    stage.azure.world.cloud_as_of = as_of
    pool = stage.pool("general")
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert stage.writes == [("PUT", pool)]
    read, *_ = versions(stage, "GET", pool)[1:]
    assert versions(stage, "PUT", pool) == [read]
    assert read <= as_of
    assert versions(stage, "GET", pool)[0] == "2026-08-01"
    polls = [one for one in stage.azure.log if one.principal == "writer" and "/operations/" in one.path]
    assert {(one.status, parse_qs(one.query)["api-version"][0]) for one in polls} == {(200, "2025-03-01")}


async def test_a_cluster_is_put_in_the_version_that_it_was_read_in(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.world.cloud_as_of = "2025-08-15"
    ended = await stage.run(stage.plan(stage.put_pool("general"), stage.put_cluster(without=("general",))))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert versions(stage, "PUT", stage.cluster) == ["2025-08-01"]

"""The detectors of a cluster: a list without results, each run by itself over at most a day, strict about times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sandbox.kube.world import KubeWorld
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import CLUSTER, small_world

VERSION = "2024-08-01"
PATH = f"{CLUSTER}/detectors"
ACTION = "Microsoft.ContainerService/managedClusters/detectors/read"


@pytest.fixture
def world() -> World:
    """A cluster whose budget allows nothing."""
    world = small_world()
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"},
        "status": {"expectedPods": 2, "disruptionsAllowed": 0},
    }
    world.kubes[CLUSTER.lower()] = KubeWorld.of([budget])
    return world


def span(since: timedelta, until: timedelta = timedelta()) -> dict[str, str]:
    now = datetime.now(UTC)
    return {"startTime": f"{now - since:%Y-%m-%dT%H:%M:%SZ}", "endTime": f"{now - until:%Y-%m-%dT%H:%M:%SZ}"}


async def test_the_list_says_what_there_is_and_no_results(reader: Caller) -> None:
    reply = await reader.get(PATH, VERSION)
    assert reply.status == 200
    assert {"ProvisioningStatusNodePool", "incorrect-pod-disruption-budgets"} <= set(reply.names)
    assert {one["properties"]["status"]["statusId"] for one in reply.body["value"]} == {4}
    assert {one["properties"]["metadata"]["type"] for one in reply.body["value"]} == {"Detector", "CategoryOverview"}


async def test_one_that_is_run_says_what_the_cluster_shows(reader: Caller) -> None:
    reply = await reader.get(f"{PATH}/incorrect-pod-disruption-budgets", VERSION, **span(timedelta(hours=24)))
    [insights, _] = reply.body["properties"]["dataset"]
    assert insights["renderingProperties"]["type"] == 7
    assert insights["table"]["rows"][0][:2] == [
        "Warning",
        "Pod Disruption Budget shop/web allows no disruption: draining its nodes will fail.",
    ]
    assert reply.body["properties"]["status"]["statusId"] == 1


async def test_the_overview_of_a_category_names_its_detectors(reader: Caller) -> None:
    reply = await reader.get(f"{PATH}/aks-category-crud", VERSION)
    named = reply.body["properties"]["dataset"][0]["renderingProperties"]["detectorIds"]
    assert "agentpool-put-failures" in named


@pytest.mark.parametrize(
    "times",
    [
        span(timedelta(hours=25)),
        span(timedelta(hours=1), timedelta(hours=2)),
        span(timedelta(days=40), timedelta(days=39, hours=1)),
        {"startTime": "yesterday", "endTime": "today"},
    ],
    ids=["over a day", "backwards", "too long ago", "no time"],
)
async def test_times_that_azure_does_not_take_are_refused(reader: Caller, times: dict[str, str]) -> None:
    assert (await reader.get(f"{PATH}/cluster-dns", VERSION, **times)).status == 400


async def test_a_detector_or_a_cluster_that_does_not_exist_is_not_found(reader: Caller) -> None:
    assert (await reader.get(f"{PATH}/no-such-detector", VERSION)).status == 404
    assert (await reader.get(f"{CLUSTER}x/detectors", VERSION)).status == 404


async def test_an_api_version_that_is_not_offered_is_refused(reader: Caller) -> None:
    assert (await reader.get(PATH, "2016-01-01")).status == 400


async def test_who_may_not_read_detectors_is_told_the_action(nobody: Caller) -> None:
    reply = await nobody.get(PATH, VERSION)
    assert reply.status == 403
    assert ACTION in reply.error["message"]

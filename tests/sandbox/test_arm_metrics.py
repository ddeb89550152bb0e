"""Azure Monitor's metrics of a cluster: by node where a filter asks for it, and refused as Azure refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sandbox.kube.world import KubeWorld, Usage
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import CLUSTER, VNET, small_world

VERSION = "2024-02-01"
METRIC = "node_memory_working_set_percentage"
PATH = f"{CLUSTER}/providers/Microsoft.Insights/metrics"
ALL = "node eq '*'"
NODES = 12


@pytest.fixture
def world() -> World:
    """A cluster of twelve half-full nodes; the last one has scenario metrics of how it filled up."""
    world = small_world()
    kube = KubeWorld.of(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "labels": {"agentpool": "apps"}},
            "status": {"allocatable": {"cpu": "4", "memory": "10Gi"}},
        }
        for number in range(NODES)
    )
    kube.usage = Usage({f"node-{number}": {"cpu": "1", "memory": "5Gi"} for number in range(NODES)})
    world.kubes[CLUSTER.lower()] = kube
    now = datetime.now(UTC)
    points = ((now - timedelta(hours=1), 50.0), (now, 110.0))
    world.metrics[CLUSTER.lower()] = {METRIC: {f"node-{NODES - 1}": points}}
    return world


def asked(**more: str) -> dict[str, str]:
    until = datetime.now(UTC)
    span = f"{until - timedelta(minutes=30):%Y-%m-%dT%H:%M:%SZ}/{until:%Y-%m-%dT%H:%M:%SZ}"
    usual = {"metricnames": METRIC, "timespan": span, "interval": "PT5M", "aggregation": "Average"}
    return usual | {name.replace("dollar_", "$"): value for name, value in more.items()}


async def test_without_a_filter_it_is_one_line_for_the_cluster(reader: Caller) -> None:
    reply = await reader.get(PATH, VERSION, **asked())
    [metric] = reply.body["value"]
    [line] = metric["timeseries"]
    assert (metric["name"]["value"], metric["unit"], metric["errorCode"]) == (METRIC, "Percent", "Success")
    assert line["metadatavalues"] == []
    assert len(line["data"]) == 6
    assert (reply.body["interval"], reply.body["resourceregion"]) == ("PT5M", "westeurope")


async def test_split_by_node_ten_lines_come_unless_more_are_asked_for_and_the_fullest_is_first(reader: Caller) -> None:
    ten = await reader.get(PATH, VERSION, **asked(dollar_filter=ALL))
    every = await reader.get(PATH, VERSION, **asked(dollar_filter=ALL, top="100"))
    lines = every.body["value"][0]["timeseries"]
    assert [len(one.body["value"][0]["timeseries"]) for one in (ten, every)] == [10, NODES]
    assert lines[0]["metadatavalues"][0]["value"] == f"node-{NODES - 1}"
    told = [point["average"] for point in lines[0]["data"]]
    assert told == sorted(told)
    assert 79 < told[0] < 81, "halfway between what is told of an hour ago and of now"
    assert lines[1]["data"][0]["average"] == 50.0


async def test_one_node_can_be_asked_for(reader: Caller) -> None:
    reply = await reader.get(PATH, VERSION, **asked(dollar_filter="node eq 'node-3'"))
    [line] = reply.body["value"][0]["timeseries"]
    assert line["metadatavalues"][0]["value"] == "node-3"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"metricnames": "memory"}, "Valid metrics: node_cpu_usage_percentage"),
        ({"interval": "PT7M"}, "invalid time grain"),
        ({"timespan": "yesterday"}, "Invalid timespan"),
        ({"aggregation": "Median"}, "Invalid aggregation"),
        ({"dollar_filter": "pod eq '*'"}, "does not support requested dimension"),
        ({"timespan": "2020-01-01T00:00:00Z/2020-01-02T00:00:00Z"}, "more than 93 days"),
    ],
)
async def test_what_is_not_understood_is_refused_bare(reader: Caller, wrong: dict[str, str], says: str) -> None:
    reply = await reader.get(PATH, VERSION, **asked(**wrong))
    assert reply.status == 400
    assert reply.body["code"] == "BadRequest"
    assert says in reply.body["message"]


async def test_of_what_is_no_cluster_there_are_none(reader: Caller) -> None:
    network = await reader.get(f"{VNET}/providers/Microsoft.Insights/metrics", VERSION, **asked())
    missing = await reader.get(f"{CLUSTER}2/providers/Microsoft.Insights/metrics", VERSION, **asked())
    assert (network.status, missing.status) == (400, 404)


async def test_who_may_not_look_is_told_the_action(nobody: Caller) -> None:
    reply = await nobody.get(PATH, VERSION, **asked())
    assert reply.status == 403
    assert "'Microsoft.Insights/metrics/read'" in reply.error["message"]


async def test_an_unknown_version_is_refused(reader: Caller) -> None:
    reply = await reader.get(PATH, "2015-01-01", **asked())
    assert (reply.status, reply.error["code"]) == (404, "InvalidResourceType")

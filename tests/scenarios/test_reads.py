"""How often a check of a healthy cluster with five node pools reads ARM: a subscription's budget of reads is shared."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.checks.clients import clients
from handlers.clients.kube.access import KubeAccess
from handlers.evidence.lookups import NamedResources, RareResources, Workspaces
from handlers.model import State, Target
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import access, azure, cluster_id, diagnose

MOST = 40
LOOKED_UP = {kind.__name__ for kind in (NamedResources, RareResources, Workspaces)}
"""Existence checks of resources a cluster refers to: one read per id, so not counted."""
POOLS = {
    "batch": {"size": "Standard_D4s_v5", "count": 2, "max_pods": 50, "autoscale": [1, 4]},
    "ingress": {"size": "Standard_D4ds_v5", "count": 2, "max_pods": 50, "zones": ["1", "2", "3"]},
    "reports": {"size": "Standard_D4s_v5", "count": 2, "max_pods": 50},
}
CLUSTERS = {
    "prod-weu": {pool: POOLS[pool] for pool in ("batch", "ingress")},
    "payments-prod": POOLS,
    "staging-neu": POOLS,
}
"""Clusters, with pools added to make five: with its own subnet; private, with a pod subnet; with a route table."""


def five_pools(tmp_path: Path, cluster: str) -> World:
    spec: dict[str, Any] = {
        "title": "A healthy cluster with five node pools",
        "story": "Nothing is wrong with it.",
        "based_on": "healthy-fleet",
        "fleet": {"clusters": {cluster: {"pools": CLUSTERS[cluster]}}},
    }
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(spec))
    return Scenario.load(tmp_path).world


@pytest.mark.parametrize("cluster", CLUSTERS)
async def test_a_healthy_cluster_with_five_pools_takes_at_most_forty_reads(tmp_path: Path, cluster: str) -> None:
    async with azure(five_pools(tmp_path, cluster)) as server:
        async with clients(access(server), KubeAccess()) as opened:
            diagnosis = await diagnose(opened, Target(cluster_id(server.world, cluster)))
            kinds = {call.request_id: call.kind for call in opened.arm.calls}
        sent = [kinds[request.client_request_id or ""] for request in server.log if request.principal == "reader"]
    assert diagnosis.state is State.CLEAR
    counted = Counter(kind for kind in sent if kind not in LOOKED_UP)
    assert counted["Instances"] == 5
    assert counted.total() <= MOST, counted.most_common()

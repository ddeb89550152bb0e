"""What is inside the clusters: nodes that are the machines, pods that fit on them, and statuses that add up."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.kube.world import KubeWorld
from sandbox.merge import merged_by_name
from sandbox.scenario import Scenario
from sandbox.world import Change, World

Body = dict[str, Any]
NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
NAMES = Scenario.names()
MACHINES = (
    "microsoft.compute/virtualmachines",
    "microsoft.compute/virtualmachinescalesets/virtualmachines",
)


def insides(name: str) -> Iterator[tuple[World, Body, KubeWorld]]:
    """Every AKS cluster of a scenario and of its twin, with its API server's world."""
    scenario = Scenario.load(name, now=NOW)
    for world in [scenario.world, *([scenario.twin_world()] if scenario.twin else [])]:
        for key, kube in world.kubes.items():
            if "/managedclusters/" in key:
                yield world, world.resources[key], kube


def inside(world: World, name: str) -> KubeWorld:
    return next(kube for key, kube in world.kubes.items() if key.endswith(f"/{name}"))


def described(tmp_path: Path, spec: Body) -> World:
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump({"title": "T", "story": "S", **spec}))
    return Scenario.load(tmp_path, now=NOW).world


def based(**more: Any) -> Body:
    return {"based_on": "healthy-fleet", **more}


def condition(body: Body, name: str) -> Body:
    found: Body = next(one for one in body["status"]["conditions"] if one["type"] == name)
    return found


def machines(world: World, cluster: Body) -> dict[str, Body]:
    """The machines of a node resource group, by lower-case id."""
    group = cluster["id"].split("/providers/")[0].rsplit("/", 1)[0]
    above = f"{group}/{cluster['properties']['nodeResourceGroup']}/".lower()
    return {
        key: body
        for key, body in world.resources.items()
        if key.startswith(above) and str(body.get("type", "")).lower() in MACHINES
    }


# -- agreement with Azure --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_node_is_a_machine_and_every_machine_a_node(name: str) -> None:
    for world, cluster, kube in insides(name):
        there = machines(world, cluster)
        nodes = {node["spec"]["providerID"].removeprefix("azure://").lower(): node for node in kube.every("nodes")}
        assert nodes.keys() == there.keys()
        for key, node in nodes.items():
            assert node["metadata"]["name"] == there[key]["properties"]["osProfile"]["computerName"]


def test_nodes_of_a_healthy_pool_run_its_version_and_its_image() -> None:
    for _, cluster, kube in insides("healthy-fleet"):
        pools = {pool["name"]: pool for pool in cluster["properties"]["agentPoolProfiles"]}
        for node in kube.every("nodes"):
            pool = pools[node["metadata"]["labels"]["agentpool"]]
            assert node["status"]["nodeInfo"]["kubeletVersion"] == f"v{pool['currentOrchestratorVersion']}"
            image = node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"]
            assert image == pool["nodeImageVersion"]
            assert node["metadata"]["labels"]["kubernetes.azure.com/mode"] == pool["mode"].lower()


def test_kubenet_gives_each_node_the_range_that_its_route_leads_to() -> None:
    world = Scenario.load("healthy-fleet", now=NOW).world
    table = next(body for key, body in world.resources.items() if key.endswith("/routetables/rt-staging-neu"))
    routes = {one["name"].split("____")[0]: one["properties"]["addressPrefix"] for one in table["properties"]["routes"]}
    nodes = {node["metadata"]["name"]: node["spec"]["podCIDR"] for node in inside(world, "staging-neu").every("nodes")}
    assert nodes == routes


def test_entra_clusters_take_no_certificates_where_local_accounts_are_off() -> None:
    found = {
        cluster["name"]: ("aadProfile" in cluster["properties"], cluster["properties"]["disableLocalAccounts"])
        for _, cluster, _ in insides("healthy-fleet")
    }
    assert found == {
        "prod-weu": (True, True),
        "prod-eus2": (True, False),
        "staging-neu": (False, False),
        "dev-shared": (False, False),
        "payments-prod": (True, True),
    }


# -- agreement with itself -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_pods_sit_on_nodes_that_have_room_and_have_addresses_of_their_own(name: str) -> None:
    for _, _, kube in insides(name):
        room = {node["metadata"]["name"]: int(node["status"]["allocatable"]["pods"]) for node in kube.every("nodes")}
        running = [pod for pod in kube.every("pods") if pod["status"]["phase"] == "Running"]
        used = Counter(pod["spec"]["nodeName"] for pod in running)
        assert used.keys() <= room.keys()
        assert all(count <= room[node] for node, count in used.items())
        own = [pod["status"]["podIP"] for pod in running if not pod["spec"].get("hostNetwork")]
        assert len(own) == len(set(own))


@pytest.mark.parametrize("name", NAMES)
def test_what_belongs_to_something_belongs_to_something_that_is_there(name: str) -> None:
    for _, _, kube in insides(name):
        everything = [body for table in kube.objects.values() for body in table.values()]
        known = {body["metadata"]["uid"] for body in everything}
        assert len(known) == len(everything)
        lost = [
            body["metadata"]["name"]
            for body in everything
            for owner in body["metadata"].get("ownerReferences", ())
            if owner["uid"] not in known and body["status"].get("phase") != "Unknown"
        ]
        assert lost == []


@pytest.mark.parametrize("name", NAMES)
def test_budgets_say_what_their_pods_allow(name: str) -> None:
    for _, _, kube in insides(name):
        for budget in kube.every("poddisruptionbudgets"):
            status, spec = budget["status"], budget["spec"]
            labels = spec["selector"]["matchLabels"].items()
            pods = [
                pod
                for pod in kube.every("pods", budget["metadata"]["namespace"])
                if labels <= pod["metadata"].get("labels", {}).items() and "deletionTimestamp" not in pod["metadata"]
            ]
            healthy = sum(
                condition(pod, "Ready")["status"] == "True" for pod in pods if pod["status"]["phase"] != "Pending"
            )
            assert status["currentHealthy"] == healthy
            assert status["disruptionsAllowed"] == max(0, healthy - status["desiredHealthy"])
            if spec.get("maxUnavailable") == 0:
                assert status["disruptionsAllowed"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_leases_are_fresh_where_nodes_are_heard_of_and_stale_where_not(name: str) -> None:
    for _, _, kube in insides(name):
        for node in kube.every("nodes"):
            lease = kube.find("leases", node["metadata"]["name"], "kube-node-lease")
            assert lease is not None
            age = NOW - datetime.fromisoformat(lease["spec"]["renewTime"])
            assert (age > timedelta(seconds=40)) == (condition(node, "Ready")["status"] == "Unknown")


def _is_of_azure(rule: Body) -> bool:
    """A rule about what the Azure Service Operator holds. Its kinds are many, and none of them holds a secret."""
    groups = rule.get("apiGroups", ())
    return bool(groups) and all(group.endswith(".azure.com") for group in groups)


def test_the_reader_may_look_and_nothing_else() -> None:
    for world, _, kube in insides("healthy-fleet"):
        role = kube.find("clusterroles", "aksbot-reader")
        assert role is not None
        creates = [rule for rule in role["rules"] if "create" in rule["verbs"]]
        assert [rule["resources"] for rule in creates] == [["subjectaccessreviews"]]  # a question, which stores nothing
        assert {verb for rule in role["rules"] if rule not in creates for verb in rule["verbs"]} == {"get", "list"}
        named = [rule for rule in role["rules"] if not _is_of_azure(rule)]
        assert not {"secrets", "*"} & {one for rule in named for one in rule.get("resources", ())}
        binding = kube.find("clusterrolebindings", "aksbot-reader")
        reader = next(one for one in world.principals if one.name == "reader")
        assert binding is not None
        assert [one["name"] for one in binding["subjects"]] == [reader.object_id]


# -- nodes of other kinds --------------------------------------------------------------------------------------------


def test_windows_nodes_and_provisioned_nodes_are_told_by_their_labels(tmp_path: Path) -> None:
    pools = {"npwin": {"size": "Standard_D4s_v5", "count": 2, "os": "Windows"}, "builds": {"autoscale": None}}
    spec = {"auto": {"default": {"Standard_D4as_v5": 2}}, "pools": pools}
    world = described(tmp_path, based(fleet={"clusters": {"dev-shared": spec}}))
    kube = inside(world, "dev-shared")
    nodes = list(kube.every("nodes"))
    windows = [one for one in nodes if one["metadata"]["labels"]["kubernetes.io/os"] == "windows"]
    assert [one["metadata"]["name"][:8] for one in windows] == ["aksnpwin"] * 2
    assert all(len(one["metadata"]["name"]) <= 15 for one in windows)
    provisioned = [one for one in nodes if "karpenter.sh/nodepool" in one["metadata"]["labels"]]
    assert len(provisioned) == len(list(kube.every("nodeclaims"))) == 2
    assert not any("agentpool" in one["metadata"]["labels"] for one in provisioned)
    where = {
        pod["spec"]["nodeName"] for pod in kube.every("pods") if pod["spec"]["containers"][0]["name"] == "invoices"
    }
    assert where == {one["metadata"]["name"] for one in windows}


def test_a_cluster_of_many_nodes_is_described_by_two_numbers(tmp_path: Path) -> None:
    spec = {"pods_per_node": 30, "pools": {"builds": {"count": 300, "autoscale": None}}}
    kube = inside(described(tmp_path, based(fleet={"clusters": {"dev-shared": spec}})), "dev-shared")
    assert sum(1 for _ in kube.every("nodes")) == 304
    assert sum(1 for _ in kube.every("pods")) > 300 * 30


# -- what follows from a change --------------------------------------------------------------------------------------


def silent(since: str) -> Body:
    ready = {"status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": since}
    patch = {"status": {"conditions": {"Ready": ready}}}
    return {"prod-weu": {"changes": [{"id": "Node/${prod-weu.node.apps.2}", "patch": patch}]}}


def on_lost_node(kube: KubeWorld) -> tuple[Body, list[Body]]:
    [node] = [one for one in kube.every("nodes") if condition(one, "Ready")["status"] != "True"]
    return node, [one for one in kube.every("pods") if one["spec"]["nodeName"] == node["metadata"]["name"]]


def test_a_silent_node_is_tainted_and_its_pods_are_not_ready(tmp_path: Path) -> None:
    node, pods = on_lost_node(inside(described(tmp_path, based(kube=silent("now-3m"))), "prod-weu"))
    taints = {(one["key"], one["effect"]) for one in node["spec"]["taints"]}
    assert taints == {("node.kubernetes.io/unreachable", effect) for effect in ("NoSchedule", "NoExecute")}
    assert {condition(node, name)["status"] for name in ("MemoryPressure", "DiskPressure", "PIDPressure")} == {
        "Unknown"
    }
    assert {condition(pod, "Ready")["status"] for pod in pods} == {"False"}
    assert not any("deletionTimestamp" in pod["metadata"] for pod in pods)


def test_after_five_minutes_its_pods_are_made_anew_elsewhere(tmp_path: Path) -> None:
    kube = inside(described(tmp_path, based(kube=silent("now-20m"))), "prod-weu")
    _, pods = on_lost_node(kube)
    going = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
    staying = [pod for pod in pods if pod not in going]
    assert {pod["metadata"]["ownerReferences"][0]["kind"] for pod in staying} == {"DaemonSet"}
    assert going
    for deployment in kube.every("deployments"):
        assert deployment["status"]["readyReplicas"] == deployment["spec"]["replicas"]
    # A StatefulSet makes no second pod of the same name while the first may still run somewhere.
    short = [one for one in kube.every("statefulsets") if one["status"]["readyReplicas"] < one["spec"]["replicas"]]
    assert [one["metadata"]["name"] for one in short] == ["search"]


def test_a_budget_that_is_changed_is_reckoned_anew(tmp_path: Path) -> None:
    change = {"id": "shop/PodDisruptionBudget/cart", "patch": {"spec": {"maxUnavailable": 0}}}
    kube = inside(described(tmp_path, based(kube={"prod-weu": {"changes": [change]}})), "prod-weu")
    budget = kube.find("poddisruptionbudgets", "cart", "shop")
    assert budget is not None
    assert budget["status"]["disruptionsAllowed"] == 0
    assert condition(budget, "DisruptionAllowed")["status"] == "False"


def test_what_a_write_brings_about_may_be_inside_a_cluster() -> None:
    world = Scenario.load("healthy-fleet", now=NOW).world
    key, kube = next((key, kube) for key, kube in world.kubes.items() if key.endswith("/prod-weu"))
    node = next(iter(kube.every("nodes")))
    name = f"Node/{node['metadata']['name']}"
    world.apply(Change(name, patch={"spec": {"unschedulable": True}}, cluster=key))
    changed = kube.find("nodes", node["metadata"]["name"])
    assert changed is not None
    assert changed["spec"]["unschedulable"] is True
    assert "unschedulable" not in node["spec"]
    world.apply(Change(name, delete=True, cluster=key))
    assert kube.find("nodes", node["metadata"]["name"]) is None


def test_a_mapping_over_a_list_changes_the_items_that_it_names() -> None:
    conditions = [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}]
    patched = merged_by_name(
        conditions, {"Ready": {"status": "False"}, "DiskPressure": None, "New": {"status": "True"}}
    )
    assert patched == [{"type": "Ready", "status": "False"}, {"type": "New", "status": "True"}]
    assert merged_by_name({"a": conditions}, {"a": [1]}) == {"a": [1]}

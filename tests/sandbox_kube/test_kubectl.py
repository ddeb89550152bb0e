"""The real `kubectl` is content with the server, through the kubeconfig that ARM hands out."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from sandbox.arm.server import ArmServer
from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox.worlds import CLUSTER, small_world
from tests.sandbox_calls import trusting
from tests.sandbox_kube import bodies
from tests.sandbox_kube.kubectl import Kubectl, needs_kubectl

pytestmark = needs_kubectl


@pytest.fixture
def world() -> KubeWorld:
    return bodies.small_world(logs={"default/web-1/main": "one\ntwo\nthree\n"})


@pytest.fixture
async def arm(world: KubeWorld) -> AsyncIterator[ArmServer]:
    azure = small_world()
    azure.kubes[CLUSTER.lower()] = world
    async with ArmServer(azure) as arm:
        yield arm


@pytest.fixture
def kube(arm: ArmServer) -> KubeServer:
    return arm.kube[CLUSTER.lower()]


@pytest.fixture
async def kubectl(arm: ArmServer, tmp_path: Path) -> Kubectl:
    async with trusting(arm.ca_file) as session:
        address = f"{arm.url}{CLUSTER}/listClusterUserCredential?api-version=2026-08-01"
        async with session.post(address, headers={"Authorization": f"Bearer {arm.token('writer')}"}) as response:
            (row,) = (await response.json())["kubeconfigs"]
    return Kubectl(tmp_path, base64.b64decode(row["value"]).decode())


def as_user(kube: KubeServer, folder: Path, token: str) -> Kubectl:
    return Kubectl(folder, kube.kubeconfig(token=token))


async def test_it_lists_several_kinds_in_all_namespaces(kubectl: Kubectl) -> None:
    said = await kubectl("get", "nodes,pods,pdb", "-A")
    assert said.err == ""
    assert said.lines[1][:3] == ["node/node-1", "Ready", "<none>"]
    assert said.lines[5][:5] == ["default", "pod/web-1", "1/1", "Running", "0"]
    assert said.lines[-1][:5] == ["default", "poddisruptionbudget.policy/web", "2", "N/A", "0"]


async def test_it_prints_wide_json_yaml_and_names(kubectl: Kubectl) -> None:
    wide = (await kubectl("get", "nodes", "-o", "wide")).lines
    assert wide[1][5:9] == ["10.224.0.4", "<none>", "Ubuntu", "22.04.5"]
    pods = json.loads((await kubectl("get", "pods", "-n", "kube-system", "-o", "json")).out)
    assert [pod["metadata"]["name"] for pod in pods["items"]] == ["coredns-1"]
    assert yaml.safe_load((await kubectl("get", "pdb", "web", "-o", "yaml")).out)["spec"]["minAvailable"] == 2
    assert (await kubectl("get", "node", "-l", "agentpool=system", "-o", "name")).out == "node/node-2\n"
    assert (await kubectl("get", "po", "--field-selector", "spec.nodeName=node-2", "-o", "name")).out == "pod/web-2\n"


async def test_it_describes_nodes_pods_and_budgets(kubectl: Kubectl) -> None:
    node = (await kubectl("describe", "node", "node-1")).out
    assert "Non-terminated Pods:          (2 in total)" in node
    pod = (await kubectl("describe", "pod", "web-1")).out
    assert "Status:       Running" in pod or "Status:           Running" in pod
    assert "Events:" in pod
    budget = (await kubectl("describe", "pdb", "web")).out
    assert "Allowed disruptions:  0" in budget


async def test_it_deletes_and_waits_until_it_is_gone(kubectl: Kubectl) -> None:
    said = await kubectl("delete", "pod", "web-1", "--timeout=20s")
    assert (said.code, said.out) == (0, 'pod "web-1" deleted\n')
    missing = await kubectl("get", "pod", "web-1")
    assert missing.err == 'Error from server (NotFound): pods "web-1" not found\n'


async def test_a_pod_on_a_silent_node_goes_by_force_only(world: KubeWorld, kubectl: Kubectl) -> None:
    world.put(bodies.node("node-1", ready=False))
    stuck = await kubectl("delete", "pod", "web-1", "--timeout=1s")
    assert "timed out waiting for the condition" in stuck.err
    assert (await kubectl("get", "pod", "web-1")).lines[1][2] == "Terminating"
    assert (await kubectl("delete", "pod", "web-1", "--force", "--grace-period=0")).code == 0
    assert (await kubectl("get", "pod", "web-1")).code == 1


async def test_a_drain_is_refused_by_the_budget(kubectl: Kubectl) -> None:
    said = await kubectl("drain", "node-1", "--force", "--timeout=1s")
    assert said.code == 1
    assert (
        'error when evicting pods/"web-1" -n "default" (will retry after 5s): Cannot evict pod as it would violate the '
        "pod's disruption budget."
    ) in said.err
    assert "global timeout reached: 1s" in said.err
    assert (await kubectl("get", "node", "node-1")).lines[1][1] == "Ready,SchedulingDisabled"


async def test_with_the_budget_relaxed_it_goes_through(kubectl: Kubectl) -> None:
    patched = await kubectl("patch", "pdb", "web", "--type=merge", "-p", '{"spec":{"minAvailable":1}}')
    assert patched.out == "poddisruptionbudget.policy/web patched\n"
    assert (await kubectl("get", "pdb", "web")).lines[1][3] == "1"
    said = await kubectl("drain", "node-1", "--force", "--timeout=20s")
    assert (said.code, "node/node-1 drained" in said.out) == (0, True)
    assert (await kubectl("get", "pods", "-A", "-o", "name")).out == "pod/web-2\n"


async def test_it_cordons_and_uncordons(kubectl: Kubectl) -> None:
    assert (await kubectl("cordon", "node-1")).out == "node/node-1 cordoned\n"
    assert (await kubectl("uncordon", "node-1")).out == "node/node-1 uncordoned\n"
    assert (await kubectl("get", "node", "node-1")).lines[1][1] == "Ready"


async def test_it_asks_what_one_may(kube: KubeServer, kubectl: Kubectl, tmp_path: Path) -> None:
    assert (await kubectl("auth", "can-i", "delete", "pods")).out == "yes\n"
    reader = as_user(kube, tmp_path, bodies.READER_TOKEN)
    assert ((await reader("auth", "can-i", "list", "nodes")).out) == "yes\n"
    denied = await reader("auth", "can-i", "create", "pods/eviction")
    assert (denied.code, denied.out) == (1, "no\n")
    listed = await reader("auth", "can-i", "--list")
    assert any(line[0] == "poddisruptionbudgets.policy" for line in listed.lines)
    assert bodies.READER in (await reader("auth", "whoami")).out


async def test_it_shows_a_refusal(kube: KubeServer, tmp_path: Path) -> None:
    reader = as_user(kube, tmp_path, bodies.READER_TOKEN)
    assert (await reader("get", "secrets")).err == (
        f'Error from server (Forbidden): secrets is forbidden: User "{bodies.READER}" cannot list resource "secrets" '
        'in API group "" in the namespace "default"\n'
    )
    nobody = as_user(kube, tmp_path, "forged")
    assert "You must be logged in to the server" in (await nobody("get", "pods")).err


async def test_it_reads_logs(kubectl: Kubectl) -> None:
    assert (await kubectl("logs", "web-1", "--tail=2")).out == "two\nthree\n"
    assert "previous terminated container" in (await kubectl("logs", "web-1", "--previous")).err


async def test_top_needs_a_metrics_server(world: KubeWorld, kubectl: Kubectl) -> None:
    assert (await kubectl("top", "node")).lines[1] == ["node-1", "250m", "6%", "2048Mi", "16%"]
    assert (await kubectl("top", "pod")).lines[1] == ["web-1", "3m", "12Mi"]
    world.usage = None
    fresh = Kubectl(kubectl.folder / "fresh", kubectl.config)
    fresh.folder.mkdir()
    assert (await fresh("top", "node")).err == "error: Metrics API not available\n"


async def test_it_creates_labels_and_taints(kubectl: Kubectl) -> None:
    assert (await kubectl("create", "namespace", "shop")).out == "namespace/shop created\n"
    assert (await kubectl("create", "configmap", "one", "-n", "shop", "--from-literal=a=b")).code == 0
    manifest = json.dumps(bodies.budget("made", namespace="shop", maxUnavailable=1))
    assert (await kubectl("create", "-f", "-", sent=manifest)).out == "poddisruptionbudget.policy/made created\n"
    assert (await kubectl("label", "node", "node-1", "a=b")).code == 0
    assert (await kubectl("taint", "node", "node-1", "a=b:NoSchedule")).out == "node/node-1 tainted\n"
    assert (await kubectl("delete", "namespace", "shop", "--timeout=20s")).code == 0
    assert (await kubectl("get", "cm", "-n", "shop")).err == "No resources found in shop namespace.\n"


async def test_it_knows_custom_kinds(world: KubeWorld, kubectl: Kubectl) -> None:
    world.put(bodies.definition())
    world.put(bodies.widget("one", 7))
    assert (await kubectl("get", "wd")).lines[1] == ["one", "7"]
    assert (await kubectl("get", "crd")).lines[1][0] == "widgets.example.com"


async def test_it_watches(world: KubeWorld, kubectl: Kubectl) -> None:
    said = await kubectl("get", "pods", "-w", "--request-timeout=1s")
    assert [line[0] for line in said.lines] == ["NAME", "web-1", "web-2"]

"""The ARM actions that need a cluster's API server: listing credentials and run-command."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import yaml

from sandbox.arm.faults import Fault
from sandbox.arm.server import ArmServer
from sandbox.kube.identity import SERVER_ID
from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from sandbox.world import World
from tests.sandbox.conftest import Caller, arm, reader, session, writer
from tests.sandbox.worlds import AKS_VERSION, CLUSTER, READER, lock, small_world
from tests.sandbox_calls import trusting
from tests.sandbox_kube import bodies

__all__ = ["arm", "reader", "session", "writer"]

Body = dict[str, Any]


@pytest.fixture
def inside() -> KubeWorld:
    world = bodies.small_world()
    world.grant(READER.object_id, bodies.READER_RULES)
    return world


@pytest.fixture
def world(inside: KubeWorld) -> World:
    world = small_world()
    world.kubes[CLUSTER.lower()] = inside
    return world


@pytest.fixture
def cluster(world: World) -> Body:
    properties: Body = world.resources[CLUSTER.lower()]["properties"]
    return properties


@pytest.fixture
def kube(arm: ArmServer) -> KubeServer:
    return arm.kube[CLUSTER.lower()]


async def credential(caller: Caller, which: str = "User") -> Any:
    return await caller("POST", f"{CLUSTER}/listCluster{which}Credential", AKS_VERSION)


def opened(reply: Any) -> Body:
    (row,) = reply.body["kubeconfigs"]
    config: Body = yaml.safe_load(base64.b64decode(row["value"]))
    return config


def entra(cluster: Body, **more: Any) -> None:
    cluster |= {"aadProfile": {"managed": True, "tenantID": "tenant-1"}, **more}


# -- credentials ----------------------------------------------------------------------------------------------------


async def test_the_user_credential_opens_the_clusters_own_server(kube: KubeServer, writer: Caller) -> None:
    reply = await credential(writer)
    assert reply.status == 200
    assert reply.body["kubeconfigs"][0]["name"] == "clusterUser"
    config = opened(reply)
    assert config["current-context"] == "prod-weu"
    assert config["clusters"][0]["cluster"]["server"] == kube.url
    assert base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]) == kube.ca
    assert config["users"][0]["name"] == "clusterUser_rg-prod_prod-weu"
    assert config["users"][0]["user"].keys() == {"client-certificate-data", "client-key-data"}
    assert opened(await credential(writer, "Admin"))["current-context"] == "prod-weu-admin"


async def test_of_an_entra_cluster_it_holds_no_secret(cluster: Body, writer: Caller) -> None:
    entra(cluster)
    user = opened(await credential(writer))["users"][0]["user"]
    assert user.keys() == {"exec"}
    assert user["exec"]["command"] == "kubelogin"
    arguments = user["exec"]["args"]
    assert arguments[arguments.index("--server-id") + 1] == SERVER_ID
    assert arguments[arguments.index("--tenant-id") + 1] == "tenant-1"
    assert "client-key-data" in opened(await credential(writer, "Admin"))["users"][0]["user"]


async def test_without_local_accounts_there_is_no_admin(cluster: Body, writer: Caller) -> None:
    entra(cluster, disableLocalAccounts=True)
    refused = await credential(writer, "Admin")
    assert (refused.status, refused.body["code"], refused.body["message"]) == (
        400,
        "BadRequest",
        "Getting static credential is not allowed because this cluster is set to disable local accounts.",
    )
    assert (await credential(writer)).status == 200


async def test_a_read_only_lock_stops_credentials_and_commands(world: World, writer: Caller) -> None:
    world.put(lock(CLUSTER, "ReadOnly"))
    for which in ("User", "Admin"):
        refused = await credential(writer, which)
        assert (refused.status, refused.error["code"]) == (409, "ScopeLocked")
    assert (await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "true"})).status == 409


async def test_handing_out_a_credential_is_no_write_and_running_a_command_is(arm: ArmServer, writer: Caller) -> None:
    await credential(writer)
    await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "true"})
    actions = [(entry.action.rsplit("/", 2)[1], entry.is_write) for entry in arm.calls]
    assert actions == [("listClusterUserCredential", False), ("runCommand", True)]


async def test_a_credential_needs_its_permission(arm: ArmServer, reader: Caller) -> None:
    refused = await credential(reader)
    assert (refused.status, refused.error["code"]) == (403, "AuthorizationFailed")
    assert "'Microsoft.ContainerService/managedClusters/listClusterUserCredential/action'" in refused.error["message"]


async def test_a_cluster_whose_inside_is_unknown_says_so(world: World, writer: Caller) -> None:
    other = CLUSTER.replace("prod-weu", "staging-neu")
    world.put({**world.resources[CLUSTER.lower()], "id": other, "name": "staging-neu"})
    assert (await writer("POST", f"{other}/listClusterUserCredential", AKS_VERSION)).status == 501


async def test_an_entra_token_opens_an_entra_cluster_only(arm: ArmServer, kube: KubeServer, cluster: Body) -> None:
    token = {audience: arm.token("reader", audience) for audience in (SERVER_ID, arm.url)}
    async with trusting(kube.ca_file) as session:

        async def status(audience: str) -> int:
            headers = {"Authorization": f"Bearer {token[audience]}"}
            async with session.get(f"{kube.url}/api/v1/nodes", headers=headers) as response:
                return response.status

        assert await status(SERVER_ID) == 401
        entra(cluster)
        assert await status(SERVER_ID) == 200
        assert await status(arm.url) == 401


async def test_one_kubeconfig_opens_all_clusters(arm: ArmServer, cluster: Body) -> None:
    entra(cluster)
    config = yaml.safe_load(arm.kubeconfig("reader"))
    assert [context["name"] for context in config["contexts"]] == ["prod-weu"]
    assert config["users"][0]["user"].keys() == {"token"}
    cluster.pop("aadProfile")
    assert "client-key-data" in yaml.safe_load(arm.kubeconfig("reader"))["users"][0]["user"]


# -- commands -------------------------------------------------------------------------------------------------------


async def run(caller: Caller, command: str, **more: Any) -> Any:
    """The result of a command, its polls followed."""
    started = await caller("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": command, **more})
    assert started.status == 202, started.text
    return await finished(caller, started)


async def finished(caller: Caller, reply: Any) -> Any:
    while reply.status == 202:
        reply = await caller.follow(reply.headers["Location"])
    return reply


async def test_a_command_is_a_long_operation_with_nothing_but_a_location(inside: KubeWorld, writer: Caller) -> None:
    inside.run_commands.polls = 2
    started = await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "kubectl get nodes"})
    assert (started.status, started.text) == (202, "")
    assert "Azure-AsyncOperation" not in started.headers
    assert "Retry-After" not in started.headers
    location = started.headers["Location"]
    name = started.headers["x-ms-request-id"].replace("-", "")
    assert location.partition("?")[0].endswith(
        f"/providers/Microsoft.ContainerService/managedclusters/prod-weu/commandResults/{name}"
    )
    for _ in range(2):
        running = await writer.follow(location)
        assert (running.status, running.body) == (202, {"id": name, "properties": {"provisioningState": "Running"}})
        location = running.headers["Location"]
    done = await writer.follow(location)
    properties = done.body["properties"]
    assert (done.status, done.body["id"]) == (200, name)
    assert properties.keys() == {"provisioningState", "exitCode", "startedAt", "finishedAt", "logs"}
    assert properties["logs"].splitlines()[1].split()[:2] == ["node-1", "Ready"]


async def test_it_sees_the_same_objects_even_where_nobody_gets_in_from_outside(world: World) -> None:
    world.kubes[CLUSTER.lower()].reachable = False
    async with ArmServer(world) as arm, trusting(arm.ca_file) as session:
        done = await run(Caller(session, arm, "writer"), "kubectl get pods -A -o name")
    assert done.body["properties"]["logs"] == "pod/web-1\npod/web-2\npod/coredns-1\n"


async def test_what_fails_inside_has_an_exit_code(writer: Caller) -> None:
    properties = (await run(writer, "kubectl get pod none")).body["properties"]
    assert (properties["provisioningState"], properties["exitCode"]) == ("Succeeded", 1)
    assert properties["logs"] == 'Error from server (NotFound): pods "none" not found\n'


async def test_an_entra_cluster_wants_a_token_and_answers_as_its_owner(
    arm: ArmServer, cluster: Body, writer: Caller
) -> None:
    entra(cluster)
    missing = await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "kubectl get nodes"})
    assert (missing.status, missing.body["code"]) == (400, "MissingAADClusterToken")
    token = arm.token("reader", SERVER_ID)
    assert (await run(writer, "kubectl get nodes", clusterToken=token)).body["properties"]["exitCode"] == 0
    denied = (await run(writer, "kubectl get secrets", clusterToken=token)).body["properties"]
    assert denied["exitCode"] == 1
    assert denied["logs"].startswith(f'Error from server (Forbidden): secrets is forbidden: User "{READER.object_id}"')
    wrong = (await run(writer, "kubectl get nodes", clusterToken=arm.token("reader", arm.url))).body["properties"]
    assert (wrong["exitCode"], wrong["logs"]) == (1, "error: You must be logged in to the server (Unauthorized)\n")


async def test_a_pod_that_fails_ends_the_command(inside: KubeWorld, writer: Caller) -> None:
    inside.run_commands.fails = "ImagePullBackOff"
    properties = (await run(writer, "kubectl get nodes")).body["properties"]
    assert (properties["provisioningState"], properties["reason"]) == ("Failed", "ImagePullBackOff")
    assert "logs" not in properties


async def test_a_pod_that_finds_no_node_is_refused_at_once(inside: KubeWorld, writer: Caller) -> None:
    inside.run_commands.never_starts = True
    refused = await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "kubectl get nodes"})
    assert refused.body["code"] == "KubernetesPerformanceError"
    assert "in aks-command namespace did not start within 30s on your cluster" in refused.body["message"]


async def test_the_output_is_cut(inside: KubeWorld, writer: Caller) -> None:
    inside.run_commands.output_limit = 100
    assert len((await run(writer, "kubectl get nodes -o json")).body["properties"]["logs"]) == 100
    inside.run_commands.output_limit = 512 * 1024
    for number in range(400):
        inside.put(bodies.pod(f"many-{number}"))
    assert len((await run(writer, "kubectl get pods -o json")).body["properties"]["logs"]) == 512 * 1024


async def test_it_can_be_switched_off_and_needs_its_permission(
    arm: ArmServer, cluster: Body, writer: Caller, reader: Caller
) -> None:
    denied = await reader("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "true"})
    assert "managedClusters/runCommand/action" in denied.error["message"]
    cluster["apiServerAccessProfile"] = {"disableRunCommand": True}
    assert (await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={"command": "true"})).status == 400
    assert (await writer("POST", f"{CLUSTER}/runCommand", AKS_VERSION, json={})).status == 400


async def test_it_can_be_slow_on_demand(arm: ArmServer, writer: Caller) -> None:
    arm.faults.append(
        Fault("slow", action="Microsoft.ContainerService/managedClusters/runCommand/action", delay_s=0.05)
    )
    assert (await run(writer, "true")).status == 200
    assert (arm.calls[0].ended or 0) - arm.calls[0].started >= 0.05


async def test_results_are_of_their_cluster_and_known_by_id(writer: Caller) -> None:
    missing = await writer.get(f"{CLUSTER}/commandResults/{'0' * 32}", AKS_VERSION)
    assert (missing.status, missing.body["code"]) == (404, "NotFound")


async def test_a_command_leaves_events_in_the_log(world: World, writer: Caller) -> None:
    await run(writer, "true")
    (first, second) = world.events
    assert first["operationName"]["value"] == "Microsoft.ContainerService/managedClusters/runCommand/action"
    assert [first["status"]["value"], second["status"]["value"]] == ["Started", "Succeeded"]

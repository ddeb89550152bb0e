"""What containers wrote."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sandbox.kube.world import KubeWorld, stamp
from tests.sandbox_kube.bodies import node, pod
from tests.sandbox_kube.conftest import Caller

LOG = "/api/v1/namespaces/default/pods/web-1/log"


@pytest.fixture(autouse=True)
def _written(world: KubeWorld) -> None:
    old, new = stamp(world.clock() - timedelta(hours=2)), stamp(world.clock())
    world.logs = {
        "default/web-1/main": f"{old} one\n{old} two\n{new} three\n",
        "default/web-1/main:previous": "panic\n",
    }


async def test_the_lines_come_without_the_kubelets_times(admin: Caller) -> None:
    reply = await admin.get(LOG)
    assert reply.text == "one\ntwo\nthree\n"
    assert reply.headers["Content-Type"].startswith("text/plain")


async def test_a_log_can_be_cut(admin: Caller) -> None:
    assert (await admin.get(LOG, tailLines=2)).text == "two\nthree\n"
    assert (await admin.get(LOG, tailLines=0)).text == ""
    assert (await admin.get(LOG, limitBytes=5)).text == "one\nt"
    assert (await admin.get(LOG, sinceSeconds=60)).text == "three\n"
    assert (await admin.get(LOG, timestamps="true", tailLines=1)).text.endswith("Z three\n")


async def test_the_container_before_the_restart_has_its_own(admin: Caller) -> None:
    assert (await admin.get(LOG, previous="true")).text == "panic\n"
    other = "/api/v1/namespaces/default/pods/web-2/log"
    assert (await admin.get(other, previous="true")).said == (
        400,
        "BadRequest",
        'previous terminated container "main" in pod "web-2" not found',
    )


async def test_among_several_containers_one_has_to_be_named(world: KubeWorld, admin: Caller) -> None:
    body = pod("web-1")
    body["spec"]["containers"].append({"name": "side", "image": "x"})
    body["spec"]["initContainers"] = [{"name": "first", "image": "x"}]
    world.put(body)
    assert (await admin.get(LOG)).said[2] == (
        "a container name must be specified for pod web-1, choose one of: [main side] or one of the init containers: "
        "[first]"
    )
    assert (await admin.get(LOG, container="main")).status == 200
    assert (await admin.get(LOG, container="none")).said[2] == "container none is not valid for pod web-1"


async def test_a_container_that_waits_has_written_nothing(world: KubeWorld, admin: Caller) -> None:
    body = pod("web-1", phase="Pending", ready=False)
    body["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "ContainerCreating"}}
    world.put(body)
    assert (await admin.get(LOG)).said[2] == ('container "main" in pod "web-1" is waiting to start: ContainerCreating')
    body = pod("web-1", on="")
    world.put(body)
    assert (await admin.get(LOG)).said[2] == "pod web-1 does not have a host assigned"


async def test_a_node_that_is_silent_keeps_its_logs_to_itself(world: KubeWorld, admin: Caller) -> None:
    world.put(node("node-1", ready=False))
    status, reason, message = (await admin.get(LOG)).said
    assert (status, reason) == (500, "InternalError")
    assert message.endswith("dial tcp 10.224.0.4:10250: i/o timeout")

"""POST, PUT and PATCH."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import definition, node, pod, widget
from tests.sandbox_kube.conftest import JSON_PATCH, MERGE, STRATEGIC, Caller

PODS = "/api/v1/namespaces/default/pods"
NODE = "/api/v1/nodes/node-1"
BUDGET = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web"


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_a_new_object_gets_what_every_object_has(kube: KubeServer, admin: Caller) -> None:
    made = await admin.post("/api/v1/namespaces/default/configmaps", config_map("one", a="b"))
    assert made.status == 201
    metadata = made.body["metadata"]
    assert metadata.keys() == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}
    assert kube.log[-1].is_write
    assert (await admin.get("/api/v1/namespaces/default/configmaps/one")).body == made.body


async def test_a_name_can_be_generated(admin: Caller) -> None:
    body = config_map("") | {"metadata": {"generateName": "made-"}}
    made = await admin.post("/api/v1/namespaces/default/configmaps", body)
    assert made.body["metadata"]["name"].startswith("made-")
    assert len(made.body["metadata"]["name"]) == len("made-") + 5


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (config_map("taken"), (409, "AlreadyExists", 'configmaps "taken" already exists')),
        (
            config_map("Bad_Name"),
            (422, "Invalid", 'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lower'),
        ),
        (
            config_map(""),
            (
                422,
                "Invalid",
                'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
            ),
        ),
        (config_map("x") | {"kind": "Secret"}, (400, "BadRequest", 'Secret in version "v1" cannot be handled as a ')),
        (
            config_map("x") | {"metadata": {"name": "x", "namespace": "kube-system"}},
            (400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the req"),
        ),
        (
            config_map("x") | {"metadata": {"name": "x", "resourceVersion": "5"}},
            (400, "BadRequest", "resourceVersion should not be set on objects to be created"),
        ),
        (b"{", (400, "BadRequest", "error decoding: ")),
        ([], (400, "BadRequest", "the body is not an object")),
    ],
)
async def test_what_cannot_be_made_is_refused_in_the_servers_words(
    admin: Caller, body: Any, said: tuple[int, str, str]
) -> None:
    await admin.post("/api/v1/namespaces/default/configmaps", config_map("taken"))
    reply = await admin.post("/api/v1/namespaces/default/configmaps", body)
    assert reply.said[:2] == said[:2]
    assert reply.body["message"].startswith(said[2])


async def test_nothing_is_made_in_a_namespace_that_is_not_there(admin: Caller) -> None:
    reply = await admin.post("/api/v1/namespaces/none/configmaps", config_map("x"))
    assert reply.said == (404, "NotFound", 'namespaces "none" not found')


async def test_a_new_pod_waits_and_a_status_that_is_sent_is_not_kept(admin: Caller) -> None:
    made = (await admin.post(PODS, pod("new"))).body
    assert made["status"]["phase"] == "Pending"
    assert made["spec"]["restartPolicy"] == "Always"


async def test_a_dry_run_changes_nothing(admin: Caller) -> None:
    assert (await admin.post(PODS, pod("new"), dryRun="All")).status == 201
    assert (await admin.get(f"{PODS}/new")).status == 404


async def test_who_worked_on_something_older_is_told(admin: Caller) -> None:
    held = (await admin.get(NODE)).body
    held["spec"]["unschedulable"] = True
    assert (await admin.put(NODE, held)).body["spec"]["unschedulable"] is True
    again = await admin.put(NODE, held)
    assert again.said == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on nodes "node-1": the object has been modified; please apply your changes '
            "to the latest version and try again"
        ),
    )
    assert again.body["details"] == {"name": "node-1", "kind": "nodes"}


async def test_without_a_version_some_kinds_can_be_replaced_and_some_cannot(admin: Caller) -> None:
    held = (await admin.get(NODE)).body
    del held["metadata"]["resourceVersion"]
    assert (await admin.put(NODE, held)).status == 200
    budget = (await admin.get(BUDGET)).body
    del budget["metadata"]["resourceVersion"]
    assert (await admin.put(BUDGET, budget)).said[:2] == (422, "Invalid")


async def test_a_write_that_changes_nothing_makes_no_new_version(admin: Caller) -> None:
    held = (await admin.get(NODE)).body
    assert (await admin.put(NODE, held)).body["metadata"]["resourceVersion"] == held["metadata"]["resourceVersion"]


async def test_a_new_spec_is_a_new_generation_and_a_label_is_not(admin: Caller) -> None:
    labelled = await admin.patch(BUDGET, {"metadata": {"labels": {"a": "b"}}})
    assert labelled.body["metadata"]["generation"] == 1
    relaxed = await admin.patch(BUDGET, {"spec": {"minAvailable": 1}})
    assert relaxed.body["metadata"]["generation"] == 2


async def test_the_status_is_written_by_its_own_path_only(admin: Caller) -> None:
    sent = {"status": {"phase": "Failed"}, "metadata": {"labels": {"a": "b"}}}
    assert (await admin.patch(f"{PODS}/web-1", sent)).body["status"]["phase"] == "Running"
    changed = (await admin.patch(f"{PODS}/web-1/status", {"status": {"phase": "Failed"}, "spec": {"x": 1}})).body
    assert changed["status"]["phase"] == "Failed"
    assert "x" not in changed["spec"]
    assert (await admin.get(f"{PODS}/web-1/status")).body["status"]["phase"] == "Failed"


async def test_the_path_and_the_body_have_to_agree(admin: Caller) -> None:
    held = (await admin.get(NODE)).body
    held["metadata"]["name"] = "other"
    assert (await admin.put(NODE, held)).said[:2] == (400, "BadRequest")
    assert (await admin.patch(f"{PODS}/none", {})).said[:2] == (404, "NotFound")


@pytest.mark.parametrize(
    ("path", "patch", "message"),
    [
        (
            BUDGET,
            {"spec": {"maxUnavailable": 1}},
            'PodDisruptionBudget.policy "web" is invalid: spec: Invalid value: minAvailable and maxUnavailable cannot',
        ),
        (
            BUDGET,
            {"spec": {"minAvailable": "half"}},
            'PodDisruptionBudget.policy "web" is invalid: spec.minAvailable: ',
        ),
        (BUDGET, {"spec": {"minAvailable": -1}}, 'PodDisruptionBudget.policy "web" is invalid: spec.minAvailable: '),
        (
            f"{PODS}/web-1",
            {"spec": {"nodeName": "node-2"}},
            'Pod "web-1" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers',
        ),
        (NODE, {"spec": {"providerID": "x"}}, 'Node "node-1" is invalid: spec.providerID: Forbidden: node updates may'),
    ],
)
async def test_what_the_server_does_not_allow_is_422(
    admin: Caller, path: str, patch: dict[str, Any], message: str
) -> None:
    reply = await admin.patch(path, patch)
    assert reply.said[:2] == (422, "Invalid")
    assert reply.body["message"].startswith(message)


async def test_a_budget_is_relaxed_by_taking_the_other_limit_off(admin: Caller) -> None:
    relaxed = await admin.patch(BUDGET, {"spec": {"minAvailable": None, "maxUnavailable": 1}})
    assert relaxed.body["spec"] == {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}


async def test_a_definition_without_its_parts_is_422(admin: Caller) -> None:
    body = definition()
    body["spec"]["versions"][0]["storage"] = False
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await admin.post(path, body)).said[:2] == (422, "Invalid")
    assert (await admin.post(path, {"metadata": {"name": "x.example.com"}})).said[:2] == (422, "Invalid")


# -- patches --------------------------------------------------------------------------------------------------------


async def test_a_merge_patch_removes_with_null_and_replaces_lists(admin: Caller) -> None:
    body = {"metadata": {"labels": {"agentpool": None}}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    patched = (await admin.patch(NODE, body, MERGE)).body
    assert patched["metadata"]["labels"] == {"kubernetes.io/hostname": "node-1"}
    assert patched["spec"]["taints"] == [{"key": "a", "effect": "NoSchedule"}]


async def test_a_strategic_patch_merges_lists_by_their_key(admin: Caller) -> None:
    condition = {"type": "DiskPressure", "status": "True"}
    patched = (await admin.patch(f"{NODE}/status", {"status": {"conditions": [condition]}}, STRATEGIC)).body
    assert [one["type"] for one in patched["status"]["conditions"]] == ["Ready", "DiskPressure"]
    image = {"spec": {"containers": [{"name": "main", "image": "nginx:1.28"}]}}
    (container,) = (await admin.patch(f"{PODS}/web-1", image, STRATEGIC)).body["spec"]["containers"]
    assert container["image"] == "nginx:1.28"
    gone = {"status": {"conditions": [{"type": "DiskPressure", "$patch": "delete"}]}}
    left = (await admin.patch(f"{NODE}/status", gone, STRATEGIC)).body["status"]["conditions"]
    assert [one["type"] for one in left] == ["Ready"]


async def test_a_json_patch_goes_step_by_step(admin: Caller) -> None:
    steps = [
        {"op": "test", "path": "/metadata/labels/agentpool", "value": "apps"},
        {"op": "add", "path": "/metadata/labels/example.com~1tier", "value": "front"},
        {"op": "move", "from": "/metadata/labels/agentpool", "path": "/metadata/labels/pool"},
        {"op": "add", "path": "/spec/taints", "value": []},
        {"op": "add", "path": "/spec/taints/-", "value": {"key": "a", "effect": "NoSchedule"}},
        {"op": "replace", "path": "/spec/taints/0/key", "value": "b"},
    ]
    patched = (await admin.patch(NODE, steps, JSON_PATCH)).body
    assert patched["metadata"]["labels"]["example.com/tier"] == "front"
    assert patched["metadata"]["labels"]["pool"] == "apps"
    assert patched["spec"]["taints"] == [{"key": "b", "effect": "NoSchedule"}]
    failed = await admin.patch(NODE, steps[:1], JSON_PATCH)
    assert failed.said == (422, "Invalid", "the server rejected our request due to an error in our request")


async def test_a_patch_with_an_older_version_is_a_conflict(admin: Caller) -> None:
    old = (await admin.get(NODE)).body["metadata"]["resourceVersion"]
    await admin.patch(NODE, {"spec": {"unschedulable": True}})
    body = {"metadata": {"resourceVersion": old}, "spec": {"unschedulable": False}}
    assert (await admin.patch(NODE, body)).said[:2] == (409, "Conflict")


async def test_a_patch_of_a_kind_that_is_not_spoken_is_415(world: KubeWorld, admin: Caller) -> None:
    assert (await admin.patch(NODE, {}, "application/json")).said[:2] == (415, "UnsupportedMediaType")
    world.put(definition())
    world.put(widget("one"))
    path = "/apis/example.com/v1/namespaces/default/widgets/one"
    assert (await admin.patch(path, {}, STRATEGIC)).said[:2] == (415, "UnsupportedMediaType")
    bigger = await admin.patch(path, {"spec": {"size": 5}})
    assert (bigger.body["spec"]["size"], bigger.body["metadata"]["generation"]) == (5, 2)


async def test_a_workload_is_scaled_by_its_subresource(world: KubeWorld, admin: Caller) -> None:
    world.put(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"replicas": 2},
        }
    )
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    scale = (await admin.get(f"{path}/scale")).body
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 2, "selector": "app=web"},
    )
    assert (await admin.patch(f"{path}/scale", {"spec": {"replicas": 5}})).body["spec"]["replicas"] == 5
    assert (await admin.get(path)).body["spec"]["replicas"] == 5
    assert (await admin.patch(f"{path}/scale", {"spec": {"replicas": -1}})).status == 422


async def test_who_holds_a_body_still_holds_it_as_it_was(world: KubeWorld, admin: Caller) -> None:
    held = world.find("nodes", "node-1")
    await admin.patch(NODE, {"spec": {"unschedulable": True}})
    assert held is not None
    assert "unschedulable" not in held["spec"]
    assert (
        held["metadata"]["resourceVersion"]
        != (world.find("nodes", "node-1") or node(""))["metadata"]["resourceVersion"]
    )

"""The *Diagnose and solve problems* API of a managed cluster: lists its detectors and runs one.

The list has no results: a detector runs when it is requested, over at most one of the last 30 days. Its result
is computed from the world; a scenario may store a complete response body under another detector's id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sandbox.arm import errors
from sandbox.arm.activity import moment
from sandbox.arm.answers import Answer
from sandbox.arm.lists import check_parent_exists, members
from sandbox.arm.site import Call, Site
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]

KIND = "Microsoft.ContainerService/managedClusters/detectors"
LONGEST, KEPT = timedelta(days=1), timedelta(days=30)
INSIGHTS, SEARCH, OVERVIEW = 7, 23, 10
"""Rendering types of a dataset: insights, a search box, a category's list of detectors."""
STATUS_IDS = {"Critical": 0, "Warning": 1, "Info": 2, "Success": 3, "None": 4}
_COLUMNS = ("Status", "Message", "Data.Name", "Data.Value", "Expanded", "Solutions")
_CHANGES, _NODES = "Create, Upgrade, Delete and Scale", "Node Health"
_CONNECTIVITY, _ADVICE = "Connectivity Issues", "Best Practices"


@dataclass(frozen=True, slots=True)
class Scene:
    """A detector's input: the cluster in a time range."""

    site: Site
    cluster: Body
    since: datetime
    until: datetime

    @property
    def kube(self) -> KubeWorld:
        return self.site.world.kubes.get(self.cluster["id"].lower()) or KubeWorld()

    @property
    def pools(self) -> list[Body]:
        below = f"{self.cluster['id']}/agentPools/".lower()
        return [body for key, body in self.site.world.resources.items() if key.startswith(below)]

    def failed_writes(self, resource: str) -> list[Body]:
        """Activity log events of failed operations on one resource in the time range."""
        return [
            event
            for event in self.site.world.events
            if event.get("resourceId", "").lower() == resource.lower()
            and event.get("status", {}).get("value") == "Failed"
            and self.since <= moment(event["eventTimestamp"]) <= self.until
        ]


Row = tuple[str, str]
"""The status and message of one insight."""


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector: its entry in the list, and the function that computes its result."""

    id: str
    name: str
    category: str
    description: str
    run: Callable[[Scene], Iterator[Row]]
    otherwise: str
    """The message if there is no problem."""
    kind: str = "Detector"


def list_or_run(site: Site, call: Call) -> Answer:
    """GET of the list, or of one detector."""
    place = call.place
    check_parent_exists(site.world, place, "read")
    if place.collection:
        cluster = site.world.resources[place.parent.lower()]
        more = map(_without_result, members(site.world, place))
        return Answer(200, {"value": [*(_listed(cluster, one) for one in DETECTORS), *more]})
    since, until = _span(site, call)
    own = site.resource(place.path)
    if own is not None:
        return Answer(200, own)
    cluster = site.world.resources[place.parent.lower()]
    detector = next((known for known in DETECTORS if known.id.lower() == place.name.lower()), None)
    if detector is None:
        raise errors.wrapped(404, "NotFound", f"Detector {place.name} not found.")
    return Answer(200, _result(detector, Scene(site, cluster, since, until)))


def _span(site: Site, call: Call) -> tuple[datetime, datetime]:
    """The requested `startTime` and `endTime`; the default is the last day."""
    now = site.clock()
    said = [call.query.get(name, "") for name in ("starttime", "endtime")]
    if not any(said):
        return now - LONGEST, now
    try:
        since, until = (moment(text) for text in said)
    except ValueError:
        raise errors.wrapped(400, "BadRequest", "startTime and endTime must be valid UTC times.") from None
    if until <= since or until - since > LONGEST:
        raise errors.wrapped(400, "BadRequest", "The time range must be positive and at most 24 hours.")
    if since < now - KEPT - timedelta(minutes=5):
        raise errors.wrapped(400, "BadRequest", "The start time must be within the last 30 days.")
    return since, until


def _listed(cluster: Body, detector: Detector) -> Body:
    return _without_result(_resource(cluster, detector, {}))


def _without_result(body: Body) -> Body:
    unknown = {"dataset": None, "status": {"message": None, "statusId": STATUS_IDS["None"]}}
    return {**body, "properties": {**body["properties"], **unknown}}


def _result(detector: Detector, scene: Scene) -> Body:
    if detector.kind == "CategoryOverview":
        inside = [one.id for one in DETECTORS if one.category == detector.category and one is not detector]
        shown: Body = {"type": OVERVIEW, "isVisible": True, "title": None, "description": None, "detectorIds": inside}
        dataset = [{"renderingProperties": shown, "table": _table((), [])}, _search()]
        return _resource(scene.cluster, detector, {"dataset": dataset, "status": {"message": None, "statusId": 4}})
    rows = [*detector.run(scene)] or [("Success", detector.otherwise)]
    worst = min(STATUS_IDS[status] for status, _ in rows)
    table = _table(_COLUMNS, [[status, message, "", "", "False", "null"] for status, message in rows])
    shown = {"description": None, "isVisible": True, "title": None, "type": INSIGHTS}
    dataset = [{"renderingProperties": shown, "table": table}, _search()]
    return _resource(scene.cluster, detector, {"dataset": dataset, "status": {"message": None, "statusId": worst}})


def _resource(cluster: Body, detector: Detector, properties: Body) -> Body:
    return {
        "id": f"{cluster['id'].replace('/resourceGroups/', '/resourcegroups/')}/detectors/{detector.id}",
        "name": detector.id,
        "type": KIND,
        "location": cluster["location"],
        "properties": {
            "appFilter": None,
            "dataProvidersMetadata": None,
            "metadata": {
                "analysisType": "",
                "analysisTypes": None,
                "author": "",
                "category": detector.category,
                "description": detector.description,
                "id": detector.id,
                "name": detector.name,
                "score": 0,
                "supportTopicList": [],
                "type": detector.kind,
                "typeId": str(uuid5(NAMESPACE_URL, detector.id)),
            },
            "suggestedUtterances": None,
            **properties,
        },
    }


def _table(columns: tuple[str, ...], rows: list[list[Any]]) -> Body:
    named = [{"columnName": name, "columnType": None, "dataType": "String"} for name in columns]
    return {"columns": named, "rows": rows, "tableName": ""}


def _search() -> Body:
    """A dataset that is not an insight: every detector's response ends with a search box."""
    shown = {"description": None, "isVisible": True, "title": None, "type": SEARCH}
    return {"renderingProperties": shown, "table": _table(("DetectorSearchEnabled",), [[True]])}


# -- the detectors ------------------------------------------------------------------------------------------------


def _pool_states(scene: Scene) -> Iterator[Row]:
    for pool in scene.pools:
        state = pool["properties"].get("provisioningState")
        if state not in ("Succeeded", "Creating", "Updating", "Upgrading", "Scaling", "Deleting"):
            yield "Critical", f"Node pool '{pool['name']}' has a provisioning state of '{state}'."


def _pool_writes(scene: Scene) -> Iterator[Row]:
    for pool in scene.pools:
        if scene.failed_writes(pool["id"]):
            error = pool["properties"].get("status", {}) or {}
            code = (error.get("provisioningError") or {}).get("code", "an unknown error")
            yield "Critical", f"An operation on node pool '{pool['name']}' failed with {code}."


def _cluster_writes(scene: Scene) -> Iterator[Row]:
    if scene.failed_writes(scene.cluster["id"]):
        error = scene.cluster["properties"].get("status", {}) or {}
        code = (error.get("provisioningError") or {}).get("code", "an unknown error")
        yield "Critical", f"A create or update operation on the cluster failed with {code}."


def _condition(kind: str, bad: tuple[str, ...], says: str) -> Callable[[Scene], Iterator[Row]]:
    def run(scene: Scene) -> Iterator[Row]:
        for node in scene.kube.every("nodes"):
            conditions = {one["type"]: one["status"] for one in node.get("status", {}).get("conditions", [])}
            if conditions.get(kind) in bad:
                yield "Critical", f"Node {node['metadata']['name']} {says}."

    return run


def _budgets(scene: Scene) -> Iterator[Row]:
    for budget in scene.kube.every("poddisruptionbudgets"):
        status, about = budget.get("status", {}), budget["metadata"]
        if status.get("expectedPods", 0) and not status.get("disruptionsAllowed", 0):
            name = f"{about['namespace']}/{about['name']}"
            yield "Warning", f"Pod Disruption Budget {name} allows no disruption: draining its nodes will fail."


def _routing(scene: Scene) -> Iterator[Row]:
    if scene.cluster["properties"].get("networkProfile", {}).get("outboundType") == "userDefinedRouting":
        yield "Info", "Cluster egress pathway is set to user defined routing"


def _nothing(_: Scene) -> Iterator[Row]:
    yield from ()


DETECTORS = (
    Detector(
        *("aks-category-crud", _CHANGES, _CHANGES, "Operations that failed.", _nothing, ""), kind="CategoryOverview"
    ),
    Detector(
        *("aks-category-node-health", _NODES, _NODES, "Nodes and their resources.", _nothing, ""),
        kind="CategoryOverview",
    ),
    Detector(
        *("ProvisioningStatusNodePool", "Node Pool Provisioning State", _CHANGES, "The state of the node pools."),
        _pool_states,
        "All cluster agent pools have a provisioning state of 'Succeeded'.",
    ),
    Detector(
        *("agentpool-put-failures", "Node Pool Put and Scale Issues", _CHANGES, "Failed operations on node pools."),
        _pool_writes,
        "No agent pool operation failures were found that result from known client errors.",
    ),
    Detector(
        *("aks-cluster-put-failures", "Cluster Put Failures", _CHANGES, "Failed operations on the cluster."),
        _cluster_writes,
        "No cluster operation failures were found.",
    ),
    Detector(
        *("nodes-not-ready-alerts", "Node Not Ready", _NODES, "Nodes that are not ready."),
        _condition("Ready", ("False", "Unknown"), "is not ready"),
        "All nodes are ready.",
    ),
    Detector(
        *("NodeMemoryPressure", "Node Memory Pressure", _NODES, "Nodes with memory pressure."),
        _condition("MemoryPressure", ("True",), "is under memory pressure"),
        "No node is under memory pressure.",
    ),
    Detector(
        *("NodeDiskPressure", "Node Disk Pressure", _NODES, "Nodes with disk pressure."),
        _condition("DiskPressure", ("True",), "is under disk pressure"),
        "No node is under disk pressure.",
    ),
    Detector(
        *(
            "incorrect-pod-disruption-budgets",
            "Incorrect Pod Disruption Budgets",
            _ADVICE,
            "Budgets that block drains.",
        ),
        _budgets,
        "No drain issues were found with Pod Disruption Budgets",
    ),
    Detector(
        *("user-defined-routing", "User Defined Routing", _CONNECTIVITY, "Whether egress takes routes of its own."),
        _routing,
        "Cluster egress pathway is not set to user defined routing",
    ),
    Detector(
        *("cluster-dns", "Cluster DNS", _CONNECTIVITY, "The cluster's name resolution."),
        _nothing,
        "No issues were found with cluster DNS.",
    ),
    Detector(
        *("cluster-min-version", "Cluster Version Support", "Deprecations", "Versions that are out of support."),
        _nothing,
        "The cluster runs a supported version.",
    ),
)

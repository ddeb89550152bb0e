"""What Azure's own detectors say of the cluster: *Diagnose and solve problems* of the portal, as text.

Only on request: each one is run when it is asked for, which takes Azure seconds. Their names differ from cluster to
cluster, so they are listed first; of the hundred and more, those are run that look at what a check looks at, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import Need, collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.signs import named_cause
from handlers.evidence.wire import dig, need_rows, number, rows, text, whole
from handlers.model import Evidence, Target
from runbooks.linear import compile_linear

DETECTORS_API = "2024-08-01"
MOST = 8
"""How many are run: each is a read that Azure works on for seconds."""
WINDOW = timedelta(hours=24)
"""The longest that a detector looks back."""
LONGEST_SAID = 300
_INSIGHTS = 7
"""The kind of dataset that holds what a detector found."""
CRITICAL, WARNING, INFO, SUCCESS, NONE = "Critical", "Warning", "Info", "Success", "None"
_BY_ID = (CRITICAL, WARNING, INFO, SUCCESS, NONE)
"""What `statusId` counts through."""

SAME_AS: Mapping[str, tuple[str, ...]] = {
    "ProvisioningStatusNodePool": ("nodepool-failed",),
    "agentpool-put-failures": ("nodepool-failed",),
    "aks-cluster-put-failures": ("cluster-failed", "cluster-failed-infra"),
    "nodes-not-ready-alerts": ("node-not-ready",),
    "NodeMemoryPressure": ("memory-saturation",),
    "incorrect-pod-disruption-budgets": ("pdb-blocks-drain",),
    "pod-subnet-full": ("subnet-full", "pod-ip-exhaustion"),
    "private-cluster-dns": ("private-dns-zone",),
    "cluster-autoscaler-failures": ("autoscaler-stuck",),
    "customerthrottling": ("arm-throttled",),
    "snat-usage": ("snat-exhausted",),
    "user-defined-routing": ("outbound-conn-fail", "vnet-blocked"),
    "cluster-dns": ("dns-broken",),
    "InvalidClientServicePrincipal": ("service-principal-expired",),
    "oomkilled": ("memory-saturation", "container-oom-killed"),
}
"""The detectors that look at what a finding of ours is about, the most telling first."""
CATEGORIES = (
    "Create, Upgrade, Delete and Scale",
    "Node Health",
    "Cluster and Control Plane Availability and Performance",
    "Known Issues, Availability and Performance",
    "Connectivity Issues",
    "Identity and Security",
    "Storage",
)
"""Where the rest is taken from, in this order. Deprecations and best practices break nothing at night."""
_MARKUP = compile_linear(r"<[^<>]{1,300}>")


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector that was run."""

    id: str
    name: str
    status: str
    says: tuple[str, ...]
    """Its insights of that status."""
    same_as: tuple[str, ...]
    """The finding codes that say the same."""

    @property
    def reports(self) -> bool:
        """Whether it found a problem."""
        return self.status in (CRITICAL, WARNING)

    @property
    def found_nothing(self) -> bool:
        """Whether it looked and found none; one without a result has not looked."""
        return self.status in (SUCCESS, INFO)


@dataclass(frozen=True, kw_only=True)
class Detectors(Evidence):
    """The detectors that were run, and how many the cluster has."""

    ran: tuple[Detector, ...]
    offered: int


@collector(reads=("Microsoft.ContainerService/managedClusters/detectors/read",), deadline_s=30)
async def detectors(target: Target, cluster: ManagedCluster, arm: ArmReader) -> Detectors:
    """Azure's detectors"""
    listing = await arm.list(f"{cluster.id}/detectors", DETECTORS_API)
    offered = [body for body in whole(listing.items) if text(body, "properties", "metadata", "type") == "Detector"]
    until = target.asked_at.replace(second=0, microsecond=0)
    span = {"startTime": f"{until - WINDOW:%Y-%m-%dT%H:%M:%SZ}", "endTime": f"{until:%Y-%m-%dT%H:%M:%SZ}"}

    async def run(name: str) -> Detector:
        return read_detector((await arm.get(f"{cluster.id}/detectors/{name}", DETECTORS_API, span)).body)

    ran, gaps = await each(chosen(offered), run)
    return Detectors(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        gaps=gaps,
        ran=tuple(ran),
        offered=len(offered),
    )


ON_REQUEST = (Need("detectors", Detectors),)
"""No diagnostic needs it: who asks for it, and the reader's role, name it so."""


def chosen(offered: list[Mapping[str, Any]]) -> list[str]:
    """The names of those that are run."""
    first = {name.lower(): place for place, name in enumerate(SAME_AS)}
    ranks = {name.lower(): place for place, name in enumerate(CATEGORIES)}

    def order(body: Mapping[str, Any]) -> tuple[int, int, str]:
        name, category = text(body, "name").lower(), text(body, "properties", "metadata", "category").lower()
        return first.get(name, len(first)), ranks.get(category, len(ranks)), name

    useful = [body for body in offered if order(body)[:2] != (len(first), len(ranks))]
    return [text(body, "name") for body in sorted(useful, key=order)][:MOST]


def read_detector(body: Mapping[str, Any]) -> Detector:
    """The result of one: the worst of its insights; where it has none, its own status."""
    name = text(body, "properties", "metadata", "id") or text(body, "name")
    insights = [*_insights(need_rows(body, "properties", "dataset"))]
    known = [status for status in _BY_ID if any(status == of_one for of_one, _ in insights)]
    status = known[0] if known else _own_status(body)
    says = tuple(dict.fromkeys(said for of_one, said in insights if of_one == status and said))
    by_name = next((codes for known_id, codes in SAME_AS.items() if known_id.lower() == name.lower()), ())
    by_words = [code for said in says if (code := named_cause("", said))]
    return Detector(
        id=name,
        name=text(body, "properties", "metadata", "name") or name,
        status=status,
        says=says,
        same_as=tuple(dict.fromkeys((*by_words, *by_name))),
    )


def _own_status(body: Mapping[str, Any]) -> str:
    status = dig(body, "properties", "status", "statusId")
    return _BY_ID[status] if isinstance(status, int) and 0 <= status < len(_BY_ID) else NONE


def _insights(datasets: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """The status and the sentence of each row of each dataset that holds insights."""
    for dataset in datasets:
        if number(dataset, "renderingProperties", "type") != _INSIGHTS:
            continue
        columns = [text(column, "columnName") for column in rows(dataset, "table", "columns")]
        lines = dig(dataset, "table", "rows")
        for line in lines if isinstance(lines, list) else ():
            cells = dict(zip(columns, line if isinstance(line, list) else (), strict=False))
            said = _MARKUP.sub(" ", str(cells.get("Message") or ""))
            yield str(cells.get("Status") or NONE), " ".join(said.split())[:LONGEST_SAID]

"""How much CPU the containers of the namespaces that are looked into use now, as the metrics server measures it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from handlers.clients.errors import NotFound, Unreachable
from handlers.clients.kube.listing import KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.quantities import amount
from handlers.evidence.wire import dig, moment, need_text, rows, text
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence, NotApplicable

POD_METRICS = "/apis/metrics.k8s.io/v1beta1/namespaces/{}/pods"
OLD = timedelta(minutes=5)
"""The metrics server measures every 15 s; what is older tells nothing of now."""


@dataclass(frozen=True, kw_only=True)
class CpuUse(Evidence):
    """The cores that each container uses, by namespace, pod and container."""

    cores: Mapping[tuple[str, str, str], Decimal]

    def of(self, pod: WorkloadPod, container: str) -> Decimal | None:
        return self.cores.get((pod.namespace, pod.name, container))


@dataclass(frozen=True, slots=True)
class _Measured:
    namespace: str
    pod: str
    at: datetime | None
    cores: tuple[tuple[str, Decimal], ...]


@collector(reads=(), sees=("list pods.metrics.k8s.io",), deadline_s=10)
async def cpu_use(unwell: UnwellNamespaces, kube: KubeReader) -> CpuUse | NotApplicable:
    """the CPU in use by container"""

    async def of(namespace: str) -> KubeListing[_Measured]:
        return await kube.list(POD_METRICS.format(namespace), _measured)

    try:
        found, gaps = await each(unwell.namespaces, of)
    except NotFound:
        return NotApplicable("this cluster has no metrics server (metrics.k8s.io)")
    except Unreachable as error:
        if "run-command does not ask for this" not in error.detail:
            raise
        return NotApplicable("run-command does not ask the metrics server")
    measured = [row for listing in found for row in listing.items]
    return CpuUse(
        source="; ".join(dict.fromkeys(listing.source for listing in found)) or unwell.source,
        taken_at=unwell.taken_at,
        truncated=unwell.truncated or any(listing.truncated for listing in found),
        gaps=(*unwell.gaps, *dict.fromkeys(replace(gap, wanted=cpu_use.title) for gap in gaps)),
        cores={
            (row.namespace, row.pod, container): cores
            for row in measured
            if row.at is None or row.at >= unwell.taken_at - OLD
            for container, cores in row.cores
        },
    )


def _measured(body: Mapping[str, Any]) -> _Measured:
    used = ((text(row, "name"), dig(row, "usage", "cpu")) for row in rows(body, "containers"))
    return _Measured(
        namespace=need_text(body, "metadata", "namespace"),
        pod=need_text(body, "metadata", "name"),
        at=moment(text(body, "timestamp")),
        cores=tuple((name, amount(cpu)) for name, cpu in used if cpu is not None),
    )

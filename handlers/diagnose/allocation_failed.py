"""Has Azure machines of the size that a pool wants?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.allocation import Place
from handlers.diagnose.refused_nodes import Refusal, Refused
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import ComputeUsages, Instances, ScaleSets, VmSizes
from handlers.evidence.growth import Growth
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable
from runbooks.linear import compile_linear

CODE = "allocation-failed"
_CONTROL_PLANE = compile_linear(
    r"AKSCapacity\w{1,20}|AKS is experiencing heavy usage|operational threshold", ignore_case=True
)
_INTEGRATION = compile_linear(r"API Server VNet Integration", ignore_case=True)


@diagnostic(
    codes=(CODE,),
    area="compute",
    clear_without=ClearWithout(
        (AutoscalerStatus, NodeClaims, VmSizes, ComputeUsages),
        "what Azure refused, an autoscaler too, stands in the activity logs; sizes and quotas only tell what is open",
    ),
)
def allocation_failed(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    growth: Growth,
    instances: Instances | Unavailable,
    sets: ScaleSets | Unavailable,
    scaler: AutoscalerStatus | NotApplicable | Unavailable,
    claims: NodeClaims | NotApplicable | Unavailable,
    sizes: VmSizes | Unavailable,
    usages: ComputeUsages | Unavailable,
) -> Iterator[Judgement]:
    """Azure has no machines of a pool's size in its zones, or AKS no room for a control plane in the region."""
    refused = Refused(cluster, pools, complaints, growth, instances, sets, scaler, claims)

    def told(refusal: Refusal) -> Finding:
        return _failed(cluster, refusal, Place.of(cluster, refusal, sizes, usages), complaints)

    yield from refused.judged(CODE, told, "Azure refused no node for lack of capacity")


def _failed(cluster: ManagedCluster, refusal: Refusal, place: Place, complaints: Complaints) -> Finding:
    control_plane = _CONTROL_PLANE.search(f"{refusal.error.code} {refusal.error.message}")
    return Finding(
        code=CODE,
        subject=refusal.about,
        severity=Severity.ERROR if refusal.waits else Severity.WARNING,
        affects=refusal.harms(CODE, cluster, complaints),
        because=(*refusal.says, *(() if control_plane else place.lines())),
        facts={
            **place.facts(),
            "error": refusal.error.code,
            "control_plane": refusal.error.code if control_plane else "",
            "integration": bool(control_plane and _INTEGRATION.search(refusal.error.message)),
            "private": cluster.private,
            "stopped": cluster.stopped,
            "refused": not refusal.waits,
            "surging": refusal.lacks_only_surge,
            "maybe_surging": refusal.may_lack_surge,
        },
    )

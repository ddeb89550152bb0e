"""Is there a machine that meets all that a pool asks for at once?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from handlers.diagnose.allocation import Place
from handlers.diagnose.refused_nodes import Refusal, Refused
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import ComputeUsages, Instances, ScaleSets, VmSizes
from handlers.evidence.growth import Growth
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable
from handlers.resource_id import last_name
from runbooks.linear import compile_linear

CODE = "overconstrained-allocation"
_APPLIED = "constraints applied are:"
_BETWEEN = compile_linear(r"(?:\\+[rn]|\s)+-\s+")
_END = compile_linear(r"\\+[rn]|[\r\n\"]")


@diagnostic(
    codes=(CODE,),
    area="compute",
    clear_without=ClearWithout(
        (AutoscalerStatus, NodeClaims, VmSizes, ComputeUsages),
        "what Azure refused, an autoscaler too, stands in the activity logs; sizes and quotas only tell what is open",
    ),
)
def overconstrained_allocation(
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
    """Azure has no machine that meets every condition of a pool at once: its size, zones, placement and disks."""
    refused = Refused(cluster, pools, complaints, growth, instances, sets, scaler, claims)

    def told(refusal: Refusal) -> Finding:
        return _overconstrained(cluster, refusal, Place.of(cluster, refusal, sizes, usages), complaints)

    yield from refused.judged(CODE, told, "Azure refused no node because a pool asks for too much at once")


def _overconstrained(cluster: ManagedCluster, refusal: Refusal, place: Place, complaints: Complaints) -> Finding:
    named, own = applied(refusal.error.message), _conditions(place)
    told = [f"Azure applied: {', '.join(named)}"] if named else ["Azure does not list the conditions that it applied"]
    return Finding(
        code=CODE,
        subject=refusal.about,
        severity=Severity.ERROR if refusal.waits else Severity.WARNING,
        affects=refusal.harms(CODE, cluster, complaints),
        because=(*map(_without_list, refusal.says), *told, *place.lines()),
        facts={
            **place.facts(),
            "constraints": [_with_value(item, own) for item in named] or list(own.values()),
            "listed": bool(named),
            "leaves_out": list(_leaves_out(place)),
            "refused": not refusal.waits,
            "surging": refusal.lacks_only_surge,
            "maybe_surging": refusal.may_lack_surge,
        },
    )


def applied(message: str) -> tuple[str, ...]:
    """The conditions that Azure lists; its list has a line or two spaces between them."""
    at = message.lower().find(_APPLIED)
    parts = _BETWEEN.split(message[at + len(_APPLIED) :]) if at >= 0 else []
    found = (_END.split(part.strip())[0].strip(" .;") for part in parts)
    return tuple(dict.fromkeys(item for item in found if item and not item.startswith("\\")))


def _without_list(line: str) -> str:
    """The list has a line of its own."""
    at = line.lower().find(_APPLIED)
    return line[:at].rstrip() if at >= 0 else line


def _conditions(place: Place) -> Mapping[str, str]:
    """What the pool asks for, by a word of Azure's name for the condition."""
    pool = place.pool
    placement = pool.placement if pool else None
    asked = {
        "vm size": place.size_name and f"VM size: {place.size_name}",
        "zone": f"availability zones: {', '.join(place.zones)}" if place.zones else "",
        "proximity": _group("proximity placement group", placement.proximity_group if placement else ""),
        "host": _group("host group", placement.host_group if placement else ""),
        "reservation": _group("capacity reservation group", placement.reservation_group if placement else ""),
        "differencing": "ephemeral OS disk" if placement and placement.ephemeral_disk else "",
        "ultra": "ultra disks" if placement and placement.ultra_disk else "",
        "spot": "spot priority" if pool and pool.spot else "",
    }
    return {word: said for word, said in asked.items() if said}


def _group(what: str, group: str) -> str:
    return f"{what}: {last_name(group)}" if group else ""


def _with_value(named: str, own: Mapping[str, str]) -> str:
    """Azure's name for a condition, with what the pool asks for there."""
    said = next((said for word, said in own.items() if word in named.lower()), "")
    value = said.partition(": ")[2]
    return f"{named} ({value})" if value else named


def _leaves_out(place: Place) -> Iterator[str]:
    """What the new pool of the steps does without, the least needed first."""
    own = _conditions(place)
    yield from (own[word] for word in ("proximity", "host", "differencing", "ultra") if word in own)
    if place.other_zones:
        yield f"the restriction to zone{'s' if len(place.zones) > 1 else ''} {', '.join(place.zones)}"

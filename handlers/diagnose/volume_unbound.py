"""Do claims wait for a volume that no class makes and no volume fits?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.volume_claims import CODE, unbound_claims
from handlers.diagnose.workload_findings import WITHOUT_AZURE, named
from handlers.engine.declare import diagnostic
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.workloads.pods import WorkloadPods
from handlers.evidence.workloads.storage import Claims, StorageClasses, Volumes
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Judgement, NotApplicable, Unavailable


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no pod waits for a volume claim that nothing can fulfil",
)
def volume_unbound(
    pods: WorkloadPods,
    claims: Claims,
    volumes: Volumes | Unavailable | NotApplicable,
    classes: StorageClasses | Unavailable | NotApplicable,
    symptoms: Symptoms,
    waits: Scheduling | Unavailable | NotApplicable,
    calls: Calls | Unavailable,
) -> Iterator[Judgement]:
    """A pod waits for a volume claim that finds no volume."""
    yield from named(unbound_claims(pods, claims, volumes, classes, symptoms, waits, calls))
    for unseen in (volumes, classes, waits):
        if isinstance(unseen, Unavailable):
            yield unseen

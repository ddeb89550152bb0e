"""Why a fix inside a cluster may not be offered: shared by the remedies that write there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from handlers.evidence.permissions_inside import WriterMayInside
from handlers.remedy.plan import Forbidden

IN = " in "
"""Behind an act that is meant for one namespace only: "create pods in default"."""
GRANT = "bind the role of deploy/kubernetes/writer.yaml to the writer's identity, then check again"


def may_not_inside(acts: Iterable[str], namespace: str, may: WriterMayInside) -> Iterator[Forbidden]:
    """What the writer's identity may not do, according to the cluster."""
    refused = [act for act in acts if may.do(act, namespace) is False]
    if refused:
        yield Forbidden(f"the writer may not {', nor '.join(refused)} in namespace {namespace}", GRANT)


def doubts_inside(acts: Iterable[str], namespace: str, may: WriterMayInside) -> tuple[str, ...]:
    """What could not be found out about the writer's permissions."""
    unknown = [act for act in acts if may.do(act, namespace) is None]
    return (f"could not see whether the writer may {', or '.join(unknown)} in {namespace}",) if unknown else ()

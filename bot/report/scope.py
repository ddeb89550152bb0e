"""What an answer covers: which problems were checked on a cluster, and which have no check yet.

"Clear" never claims more than that. The scope follows from the checks of a diagnosis, the checks that exist and the
runbooks, so it also holds for an answer from another process or a recording.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.report.events import EVERYTHING, Selection
from bot.report.known import checked_codes, questions
from handlers.model import Check, Diagnosis, Outcome
from handlers.resource_id import ResourceId
from runbooks.head import AKS, ARC_BRIDGE, HYBRID
from runbooks.library import Library

_KINDS = {
    "microsoft.containerservice/managedclusters": AKS,
    "microsoft.kubernetes/connectedclusters": HYBRID,
    "microsoft.networkcloud/kubernetesclusters": HYBRID,
    "microsoft.resourceconnector/appliances": ARC_BRIDGE,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What was checked on one cluster, and what was not."""

    kind: str
    """Of the cluster: `aks`, `hybrid` or `arc-bridge`."""
    areas: tuple[str, ...]
    codes: tuple[str, ...]
    """Of every check that applies to this cluster, also where it got no answer: how each ended stands beside it. One
    that is not applicable asked nothing."""
    only: Selection
    """The area or the code that it was narrowed to; `EVERYTHING` where it was not."""
    left_out: tuple[str, ...]
    """The areas of the checks that were left out because it was narrowed; an area that was asked in part is in both."""
    cannot_ask: tuple[str, ...]
    """Problems of this kind of cluster for which no check exists."""

    @property
    def narrowed(self) -> bool:
        return self.only != EVERYTHING


def scope_of(diagnosis: Diagnosis, library: Library) -> Scope:
    """The scope of an answer."""
    asked = [check for check in diagnosis.checks if check.outcome is not Outcome.NOT_APPLICABLE]
    only, kind = selection_of(diagnosis), kind_of(diagnosis.target.id)
    put = {check.id for check in diagnosis.checks}
    has_check = {code for check in diagnosis.checks for code in check.codes}
    left_out: set[str] = set()
    if only != EVERYTHING:
        has_check |= checked_codes()
        left_out = {question.area for name, question in questions().items() if name not in put} - {only.area}
    # Otherwise an unchecked problem has no check, or had none when the case was recorded.
    return Scope(
        kind,
        tuple(sorted({_area(check) for check in asked} - {""})),
        tuple(sorted({code for check in asked for code in check.codes})),
        only,
        tuple(sorted(left_out)),
        tuple(sorted(library.of_kind(kind) - has_check)),
    )


def selection_of(diagnosis: Diagnosis) -> Selection:
    """What a check was narrowed to, derived from the questions it asked."""
    put = {check.id for check in diagnosis.checks}
    about = diagnosis.target.about
    if about is not None:
        return Selection(about=about)
    if put >= set(questions()):
        return EVERYTHING
    if len(put) == 1:
        return Selection(only=diagnosis.checks[0].codes[0])
    areas = {_area(check) for check in diagnosis.checks} - {""}
    # Several areas but not all of them: a whole check, recorded when there were fewer questions.
    return Selection(area=areas.pop()) if len(areas) == 1 else EVERYTHING


def kind_of(target: ResourceId) -> str:
    """The kind of a cluster, as runbooks name it."""
    return _KINDS.get(target.type.lower(), AKS)


def _area(check: Check) -> str:
    known = questions().get(check.id)
    return known.area if known else ""

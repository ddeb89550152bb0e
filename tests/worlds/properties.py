"""Properties that every diagnosis must satisfy, regardless of the number of causes and the wording of Azure's error."""

from __future__ import annotations

from collections.abc import Iterator

from bot.checks.remedies import offers_for
from handlers.engine.run import Finished
from handlers.model import Diagnosis, Outcome, Ranked, Severity
from tests.worlds.answering import InProcess
from tests.worlds.broken import POOL, Broken, make
from tests.worlds.build import Cluster
from tests.worlds.expecting import check, clients
from tests.worlds.planted import CAUSES, NEVER_EXPLAIN, OBSERVED

FAILURES = frozenset({"nodepool-failed", "cluster-failed", "cluster-failed-infra", "upgrade-half-done"})
"""Findings for which reconciling is offered."""
CLAIMERS = frozenset(code for code, _ in CAUSES.values()) - {"kube-system-not-running"}
"""Findings that could be wrongly shown as the cause of an unrelated failure."""


async def contradictions(broken: Broken) -> list[str]:
    """Contradictions between a diagnosis of this world and its evidence, one per line."""
    cluster = make(broken)
    finished = await check(cluster)
    said = list(_said(broken, cluster, finished.diagnosis))
    return said + await _offered(broken, cluster, finished)


def _said(broken: Broken, cluster: Cluster, diagnosis: Diagnosis) -> Iterator[str]:
    for one in diagnosis.checks:
        if one.outcome is Outcome.CRASHED:
            yield f"{one.id} crashed: {one.why}"
    for what in broken.failed:
        code, subject = ("nodepool-failed", cluster.ids.pool(POOL)) if what == "pool" else _cluster_of(cluster)
        failure = _of(diagnosis, code, subject)
        if failure is None:
            yield f"{code} was not found"
        elif broken.named:
            yield from _named(broken, diagnosis, failure)
        else:
            yield from _unnamed(broken, diagnosis, failure)


def _cluster_of(cluster: Cluster) -> tuple[str, str]:
    return "cluster-failed", cluster.ids.cluster


def _named(broken: Broken, diagnosis: Diagnosis, failure: Ranked) -> Iterator[str]:
    """A cause named by Azure is its failure's only explanation; without a finding for it, the failure is a root."""
    roots = _roots(diagnosis, failure)
    causes = [one for one in diagnosis.findings if one.finding.code == broken.named]
    if not causes and broken.named in {CAUSES[one][0] for one in broken.causes}:
        yield f"Azure named {broken.named}, which is there, and it was not found"
    told = failure.finding.code
    wrong = [one for one in roots if one.finding.code not in _right(broken, bool(causes), told)]
    for one in wrong:
        yield f"Azure named {broken.named} for {told}, and {one.finding.code} explains it"
    if causes and not any(one.finding.code == broken.named for one in roots):
        yield f"Azure named {broken.named} for {told}, it was found, and does not explain it"
    for one in roots:
        if not causes and not wrong and not any(broken.azure_code in line for line in one.finding.because):
            yield f"{one.finding.code} does not quote {broken.azure_code}: {'; '.join(one.finding.because)}"
    yield from _outranked(diagnosis, roots, broken)


def _right(broken: Broken, found: bool, told: str) -> set[str]:
    """The codes allowed as root of a failure whose cause Azure named."""
    if found:
        return {broken.named}
    # If the budget now allows eviction, the undrained node and the unfinished upgrade remain.
    drained = {"drain-error", "upgrade-half-done"} if broken.named == "pdb-blocks-drain" else set()
    return {told, *drained, *(["nodepool-failed"] if "pool" in broken.failed else [])}


def _outranked(diagnosis: Diagnosis, roots: list[Ranked], broken: Broken) -> Iterator[str]:
    """Possibly unrelated findings are warnings and are listed below."""
    first = min(diagnosis.findings.index(one) for one in roots)
    said = broken.named or "nothing"
    # Requests that Azure has rejected because of it since then are a separate error.
    refuses = {broken.speaks_of} if broken.decoy in ("refused later", "failed sibling") else set()
    idle = CLAIMERS - refuses
    for one in diagnosis.findings[:first]:
        if one.root and one.finding.code in idle - {broken.named}:
            yield f"{one.finding.code} stands above {roots[0].finding.code}, for which Azure named {said}"
    explaining = {(code, subject.lower()) for one in diagnosis.findings for code, subject in one.explained_by}
    for one in diagnosis.findings:
        if one.finding.code in idle and one.finding.key not in explaining and one.finding.severity is Severity.ERROR:
            yield f"{one.finding.code} explains nothing, Azure named {said}, and it is an error"


def _unnamed(broken: Broken, diagnosis: Diagnosis, failure: Ranked) -> Iterator[str]:
    """If Azure names no cause, only causes that blocked the operation explain it."""
    above = {one.finding.code for one in _above(diagnosis, failure)}
    for cause, code in NEVER_EXPLAIN.items():
        half_done = code == "upgrade-half-done" and broken.operation == "upgrade"
        if cause in broken.causes and code in above and not half_done:
            yield f"{cause} explains {failure.finding.code}, for which Azure named nothing"
    for cause, code in OBSERVED.items():
        if cause in broken.causes and code not in above:
            yield f"{cause} was in the way, Azure names nothing, and {code} does not explain {failure.finding.code}"
    yield from _outranked(diagnosis, _roots(diagnosis, failure), broken)


async def _offered(broken: Broken, cluster: Cluster, finished: Finished) -> list[str]:
    """No fix is offered while the cause that Azure named persists."""
    if not broken.named or _reads_clear(broken.named, finished.diagnosis):
        return []
    async with clients(cluster, InProcess(cluster)) as given:
        offers = await offers_for(finished, cluster.target, given)
    return [
        f"{one.remedy} is offered, and Azure named {broken.named}, which does not read clear"
        for one in offers
        if one.plan is not None and one.code in FAILURES
    ]


def _reads_clear(code: str, diagnosis: Diagnosis) -> bool:
    return any(code in one.codes and one.outcome is Outcome.CLEAR for one in diagnosis.checks)


# -- explanations -------------------------------------------------------------------------------------------------


def _of(diagnosis: Diagnosis, code: str, subject: str) -> Ranked | None:
    wanted = code, subject.lower()
    return next((one for one in diagnosis.findings if one.finding.key == wanted), None)


def _above(diagnosis: Diagnosis, ranked: Ranked) -> list[Ranked]:
    """Everything that explains a finding, directly or not."""
    found: dict[tuple[str, str], Ranked] = {}
    waiting = [ranked]
    while waiting:
        for code, subject in waiting.pop().explained_by:
            cause = _of(diagnosis, code, subject)
            if cause and cause.finding.key not in found:
                found[cause.finding.key] = cause
                waiting.append(cause)
    return list(found.values())


def _roots(diagnosis: Diagnosis, ranked: Ranked) -> list[Ranked]:
    return [one for one in (ranked, *_above(diagnosis, ranked)) if one.root]

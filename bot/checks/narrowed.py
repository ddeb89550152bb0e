"""A whole check, narrowed to one node, pod or namespace: what is wrong with that, and what explains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from handlers.evidence.cluster import Nodes
from handlers.evidence.workloads.pods import WorkloadPods
from handlers.model import Check, Diagnosis, Finding, Outcome, Ranked
from handlers.question import Question, Word


def narrowed(diagnosis: Diagnosis, facts: Mapping[type, Any]) -> Diagnosis:
    """The same diagnosis with the findings that are about what was asked. Others keep their checks from being clear
    only where something could not be seen."""
    about = diagnosis.target.about
    if about is None or not about.narrows:
        return diagnosis
    subjects = {subject.lower() for subject in _subjects(about, facts)}
    direct = {ranked.finding.key for ranked in diagnosis.findings if _concerns(ranked.finding, about, subjects)}
    kept = _with_causes(direct, diagnosis.findings)
    findings = tuple(ranked for ranked in diagnosis.findings if ranked.finding.key in kept)
    keys = {ranked.finding.key for ranked in findings}
    checks = tuple(_of(check, keys, about) for check in diagnosis.checks)
    if not findings:
        return replace(diagnosis, findings=(), checks=checks)
    # Its own question, "why is it not Ready?", has its answer then.
    answered = {gap for check in checks if not check.codes for gap in check.unseen}
    return replace(
        diagnosis,
        findings=findings,
        checks=tuple(check if check.codes else _answered(check) for check in checks),
        unseen=tuple(gap for gap in diagnosis.unseen if gap not in answered),
    )


def _subjects(about: Question, facts: Mapping[type, Any]) -> Iterator[str]:
    """What findings may call it: a pod stands for its workload, too, and a node for its machine."""
    namespace, name = about.first
    if about.word is Word.POD:
        yield f"{namespace}/Pod/{name}"
        pods = facts.get(WorkloadPods)
        for pod in pods.called(namespace, name) if isinstance(pods, WorkloadPods) else ():
            yield from (pod.subject, pod.owned_by)
    elif about.word is Word.NODE:
        yield f"Node/{about.values[0]}"
        nodes = facts.get(Nodes)
        for node in nodes.nodes if isinstance(nodes, Nodes) else ():
            if node.name.lower() == about.values[0].lower() and node.machine:
                yield node.machine
    else:
        yield f"Namespace/{about.values[0]}"


def _concerns(finding: Finding, about: Question, subjects: set[str]) -> bool:
    named = {finding.subject.lower(), *(item.lower() for item in finding.affects)}
    if about.word is Word.NAMESPACE:
        return finding.subject.lower().startswith(f"{about.values[0].lower()}/") or finding.subject.lower() in subjects
    return bool(named & subjects)


def _with_causes(direct: set[tuple[str, str]], findings: tuple[Ranked, ...]) -> set[tuple[str, str]]:
    """Those, and everything that explains them."""
    above = {
        ranked.finding.key: [(code, subject.lower()) for code, subject in ranked.explained_by] for ranked in findings
    }
    kept, waiting = set(direct), list(direct)
    while waiting:
        new = [cause for cause in above.get(waiting.pop(), ()) if cause not in kept]
        kept.update(new)
        waiting += new
    return kept


def _answered(check: Check) -> Check:
    if check.outcome is not Outcome.INCONCLUSIVE:
        return check
    return replace(check, outcome=Outcome.NOT_APPLICABLE, why="what was found answers it", unseen=())


def _of(check: Check, keys: set[tuple[str, str]], about: Question) -> Check:
    """How a check ended for this one thing."""
    if check.outcome is not Outcome.FOUND:
        return check
    mine = tuple(finding for finding in check.findings if finding.key in keys)
    if mine:
        return replace(check, findings=mine, why="; ".join(finding.because[0] for finding in mine))
    if check.unseen:
        return replace(check, outcome=Outcome.INCONCLUSIVE, findings=(), why=str(check.unseen[0]))
    return replace(check, outcome=Outcome.CLEAR, findings=(), why=f"what it found is not about {about}")

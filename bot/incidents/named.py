"""The nodes, pods and namespaces that a check has named: who writes one of them means that cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handlers.model import Diagnosis, Finding
from runbooks.linear import compile_linear

_OBJECT = compile_linear(r"(?:[a-z0-9][a-z0-9.-]*/)?[A-Z][A-Za-z]+/[a-z0-9][a-z0-9.-]*")
"""`Node/name`, `namespace/Kind/name`: what the subjects of findings inside a cluster look like."""
_FACTS = ("node", "nodes", "pod", "pods", "namespace", "namespaces")
_NAME = compile_linear(r"[a-z0-9](?:[a-z0-9.-]{1,251}[a-z0-9])")
_NAMESPACE = compile_linear(r"(?:\bnamespace|\bns|(?:^|\s)-n)[\s:=`'\"]{1,3}([a-z0-9-]{2,63})|\b([a-z0-9-]{2,63})/")
"""Where a plain word is meant as a namespace: `payments` alone may be a team."""
_EVERYWHERE = compile_linear(r"default|calico-.*|gatekeeper-.*|kube-.*|tigera-.*|[a-z0-9]{1,2}")
"""Names that each cluster has, and words too short to be one."""
_GENERATED = compile_linear(r".*-vmss[0-9a-z]{6}|.*-[0-9a-f]{8,10}-[a-z0-9]{5}")
"""Of a node, or of a pod of a deployment: no other cluster has it."""
_MOST_NAMES = 300
_MOST_WORDS = 200
_MOST_TEXT = 20_000


def names_in(diagnosis: Diagnosis) -> list[str]:
    """The names of a diagnosis by which its cluster can be told."""
    found = (name for ranked in diagnosis.findings for name in _names(ranked.finding))
    known = (name for name in dict.fromkeys(found) if _NAME.fullmatch(name) and not _EVERYWHERE.fullmatch(name))
    return list(known)[:_MOST_NAMES]


def _names(finding: Finding) -> Iterator[str]:
    for subject in (finding.subject, *finding.affects):
        if _OBJECT.fullmatch(subject):
            *namespace, _, name = subject.split("/")
            if not any(_EVERYWHERE.fullmatch(part) for part in namespace):
                yield from (*namespace, name)
    for fact in _FACTS:
        yield from _parts(finding.facts.get(fact))


def _parts(value: Any) -> Iterator[str]:
    """The names in a fact: one or several, as `name` or `namespace/name`."""
    for item in value if isinstance(value, list | tuple) else (value,):
        if isinstance(item, str):
            yield from item.split("/")


def words_of(text: str) -> list[str]:
    """The words of a text that may be such a name."""
    lower = text[:_MOST_TEXT].lower()
    words = [match[0] for match in _NAME.finditer(lower)]
    told = [word for word in words if "-" in word or any(letter.isdigit() for letter in word)]
    spaces = [match[1] or match[2] for match in _NAMESPACE.finditer(lower)]
    return list(dict.fromkeys((*told, *spaces)))[:_MOST_WORDS]


def is_of_one_cluster(name: str) -> bool:
    """Whether a name is generated, so that no second cluster has it. Namespaces and `kafka-0` are the same in many."""
    return bool(_GENERATED.fullmatch(name))

"""What Azure's texts say about nodes that could not be emptied."""

from __future__ import annotations

import re

from handlers.evidence.errors import ErrorDetail
from runbooks.linear import compile_linear

_NODE = compile_linear(
    r"[Dd]rain(?:ing|ed)? (?:of )?(?:node:? )?'?(?P<aks>aks[a-z0-9.-]*[a-z0-9])"
    r"|[Dd]rain(?:ing|ed)? (?:of )?node:? '?(?P<other>[a-z0-9][a-z0-9.-]*[a-z0-9])"
)
_EVICTED = compile_linear(r"(?i)did not terminate|still terminating")
_BUDGET = compile_linear(r"(?i)\bpdb\b|disruption ?budget|too many requests")
DRAINS = ("drain-error", "pdb-blocks-drain")
"""What Azure calls a node that was not emptied: PodDrainFailure, a refused eviction, its preflight about budgets."""


def speaks_of_drain(error: ErrorDetail) -> bool:
    return error.names in DRAINS


def evicted(error: ErrorDetail) -> bool:
    """Whether the pods were evicted and did not end: no budget has refused that."""
    return _EVICTED.search(error.message) is not None and _BUDGET.search(error.message) is None


def speaks_of_upgrade(error: ErrorDetail) -> bool:
    """UpgradeFailed and its kin, and whatever stops a drain."""
    return speaks_of_drain(error) or "upgrade" in f"{error.code} {error.message}".lower()


def named_nodes(error: ErrorDetail) -> frozenset[str]:
    """The nodes that a text says could not be drained."""
    return frozenset(found["aks"] or found["other"] for found in _NODE.finditer(error.message))


def names_budget(error: ErrorDetail, namespace: str, name: str) -> bool:
    """Whether a text names a budget: as `PDB ns/name`, or as what blocks a pod."""
    ns, pdb = re.escape(namespace), re.escape(name)
    named = compile_linear(rf"(?:PDB:? {ns}/{pdb}|\b{ns}/\S+ blocked by pdb {pdb})(?:[^\w.-]|$)")
    return named.search(error.message) is not None

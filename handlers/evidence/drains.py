"""What Azure's texts say about nodes that could not be emptied."""

from __future__ import annotations

import re

from handlers.evidence.errors import ErrorDetail

_NODE = re.compile(r"[Dd]rain(?:ing|ed)? (?:of )?node:? '?(?P<node>[a-z0-9][a-z0-9.-]*[a-z0-9])")
_WORDS = ("poddrain", "drain node", "drain of", "draining node", "drain did not", "evict", "unsatisfiablepdb")


def speaks_of_drain(error: ErrorDetail) -> bool:
    """PodDrainFailure, a refused eviction, or AKS's preflight about budgets."""
    words = f"{error.code} {error.message}".lower()
    return any(word in words for word in _WORDS)


def speaks_of_budgets(error: ErrorDetail) -> bool:
    """AKS looks at the budgets before it begins an upgrade, and refuses one that cannot succeed."""
    return "unsatisfiablepdb" in f"{error.code} {error.message}".lower()


def named_nodes(error: ErrorDetail) -> frozenset[str]:
    """The nodes that a text says could not be drained."""
    return frozenset(found["node"] for found in _NODE.finditer(error.message))

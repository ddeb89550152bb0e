"""Which codes a check can prove. Of the others the bot can say only that a text speaks of them."""

from __future__ import annotations

from functools import cache

import handlers.diagnose
import handlers.evidence
from handlers.engine.graph import Graph


@cache
def checked_codes() -> frozenset[str]:
    """The codes of all diagnostics."""
    graph = Graph.discover(handlers.evidence, handlers.diagnose)
    return frozenset(code for one in graph.diagnostics for code in one.codes)

"""Which checks exist, and which codes they can prove. For all other codes the bot can only say that a text mentions
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import handlers.diagnose
import handlers.evidence
from handlers.engine.declare import Diagnostic
from handlers.engine.graph import Graph


@cache
def _graph() -> Graph:
    return Graph.discover(handlers.evidence, handlers.diagnose)


@cache
def questions() -> Mapping[str, Diagnostic]:
    """Every diagnostic by its id."""
    return {diagnostic.id: diagnostic for diagnostic in _graph().diagnostics}


@cache
def checked_codes() -> frozenset[str]:
    """The codes of all diagnostics."""
    return frozenset(code for question in questions().values() for code in question.codes)


@cache
def asked_codes() -> frozenset[str]:
    """The codes that are proved only for those who ask about something in particular (`path`, `rbac`)."""
    return frozenset(code for question in _graph().on_request for code in question.codes) - checked_codes()

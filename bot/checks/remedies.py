"""From a diagnosis to what may be done about it. Only a cluster with a root cause costs further questions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import handlers.diagnose
import handlers.evidence
from handlers.engine.declare import Diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import Engine, Finished
from handlers.model import Target
from handlers.remedy.offers import Remedies
from handlers.remedy.plan import Offer

DEADLINE_S = 10.0
"""The person has their diagnosis by then; what is still unseen becomes a doubt, or a reason against."""


@cache
def remedies() -> Remedies:
    """All that the bot can do."""
    return Remedies.discover()


def remedy_names() -> frozenset[str]:
    """For the policy, whose rules name them."""
    return frozenset(remedy.name for remedy in remedies().all)


@cache
def _graph() -> Graph:
    return Graph.discover(handlers.evidence, handlers.diagnose)


def every_question() -> tuple[Diagnostic, ...]:
    return _graph().diagnostics


async def offers_for(finished: Finished, target: Target, clients: Mapping[type, Any]) -> tuple[Offer, ...]:
    """A plan for each root cause, or the reasons against one."""
    facts = finished.facts
    missing = remedies().missing(finished.diagnosis, facts)
    if missing:
        engine = Engine(_graph().facts(missing), {}, deadline_s=DEADLINE_S)
        facts = await engine.gather(target, clients, facts)
    return remedies().offers(finished.diagnosis, facts)

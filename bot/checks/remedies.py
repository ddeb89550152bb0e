"""From a diagnosis to what may be done about it. Only a cluster with a root cause costs further questions.

On request, also what Azure's own detectors say of the same cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import handlers.diagnose
import handlers.evidence
from bot.report.detectors import Asked
from handlers.engine.declare import Diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import Engine, Finished
from handlers.evidence.detectors import ON_REQUEST, Detectors
from handlers.evidence.support import ON_REQUEST as FOR_SUPPORT
from handlers.model import Target
from handlers.remedy.offers import Remedies
from handlers.remedy.plan import Offer

DETECTORS_S = 35.0
"""A list, then up to eight detectors at once, each of which Azure works on for seconds."""
SUPPORT_S = 30.0
"""Log Analytics may need that long for an hour of logs."""
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


async def detectors_of(finished: Finished, target: Target, clients: Mapping[type, Any]) -> Asked:
    """What Azure's own detectors say, or why they could not be read."""
    engine = Engine(_graph().facts(ON_REQUEST), {}, deadline_s=DETECTORS_S)
    facts: Mapping[type, Any] = await engine.gather(target, clients, finished.facts)
    told: Asked = facts[Detectors]
    return told


async def facts_for_support(finished: Finished, target: Target, clients: Mapping[type, Any]) -> Mapping[type, Any]:
    """All that the check has read, and what only support asks for."""
    engine = Engine(_graph().facts(FOR_SUPPORT), {}, deadline_s=SUPPORT_S)
    return {**finished.facts, **await engine.gather(target, clients, finished.facts)}


async def offers_for(finished: Finished, target: Target, clients: Mapping[type, Any]) -> tuple[Offer, ...]:
    """A plan for each root cause, or the reasons against one."""
    facts = finished.facts
    missing = remedies().missing(finished.diagnosis, facts)
    if missing:
        engine = Engine(_graph().facts(missing), {}, deadline_s=DEADLINE_S)
        facts = await engine.gather(target, clients, facts)
    return remedies().offers(finished.diagnosis, facts)

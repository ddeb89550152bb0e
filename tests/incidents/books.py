"""Shorthand for sightings, checks and books."""

from __future__ import annotations

from bot.address import Address
from bot.incidents.model import Cause, Sighting
from bot.incidents.observing import Observation

HOUR_MS = 3_600_000
INCIDENTS, ALERTS, TEAM = "C0INCIDENTS", "C0ALERTS000", "T0CONTOSO"


def sighting(
    name: str,
    *codes: str,
    cluster: str = "prod-weu",
    channel: str = INCIDENTS,
    thread: str = "",
    at_ms: int = 0,
) -> Sighting:
    spot = Address(channel=channel, thread_ts=thread or name)
    return Sighting(name, cluster, codes or ("quota-exceeded",), "its words", spot, name, at_ms)


def seen(
    *roots: tuple[str, str], at_ms: int = 0, unsure: tuple[str, ...] = (), explained: tuple[tuple[str, str], ...] = ()
) -> Observation:
    """A check that found these roots, and `explained`: a code, and the code that explains it."""
    causes = tuple(Cause(code, subject, "the proof") for code, subject in roots)
    found = {one.key for one in causes} | {(code, "prod-weu") for code, _ in explained}
    return Observation(at_ms, causes, frozenset(found), explained, frozenset(unsure), CHECKED)


CHECKED = frozenset({"quota-exceeded", "cluster-failed", "nodepool-failed", "subnet-full", "node-not-ready"})

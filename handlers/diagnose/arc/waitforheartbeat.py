"""Does Azure still wait for the first sign of life of a resource bridge?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.ages import ago
from handlers.engine.declare import diagnostic
from handlers.evidence.arc.bridge import ArcBridge
from handlers.model import Clear, Finding, Unavailable, Why

CODE = "arc-waitforheartbeat"
PATIENCE = timedelta(minutes=20)
"""A bridge that was deployed just now passes through this status within minutes."""


@diagnostic(codes=(CODE,), area="cluster")
def arc_waitforheartbeat(bridge: ArcBridge) -> Iterator[Finding | Clear | Unavailable]:
    """The resource bridge has waited for its first heartbeat for longer than a deployment takes."""
    if not bridge.waits_for_heartbeat:
        yield Clear(bridge.in_words)
    elif bridge.made is None:
        detail = "Azure does not say when it was deployed, and right after that it waits for minutes"
        yield Unavailable(f"since when {bridge.name} is {bridge.status}", Why.ABSENT, detail)
    elif bridge.taken_at - bridge.made < PATIENCE:
        yield Clear(f"{bridge.name} was deployed {ago(bridge.made, bridge.taken_at)}: it may still come up")
    else:
        yield _finding(bridge, ago(bridge.made, bridge.taken_at))


def _finding(bridge: ArcBridge, waited: str) -> Finding:
    return Finding(
        code=CODE,
        subject=bridge.id,
        affects=(bridge.id,),
        because=(
            f"{bridge.in_words}; it was made {waited}, and its first heartbeat comes within minutes",
            "the appliance VM was made with other values than this resource, or only the resource was made again",
        ),
        facts={**bridge.facts(), "waited": waited},
        began=bridge.made,
    )

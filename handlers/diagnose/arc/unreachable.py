"""Does Azure hear from the resource bridge?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.arc.bridge import ArcBridge
from handlers.model import Clear, Finding

CODE = "arc-bridge-unreachable"


@diagnostic(codes=(CODE,), area="cluster")
def arc_bridge_unreachable(bridge: ArcBridge) -> Iterator[Finding | Clear]:
    """Azure has lost the connection to the resource bridge: it is Offline."""
    if not bridge.offline:
        yield Clear(bridge.in_words)
        return
    yield Finding(
        code=CODE,
        subject=bridge.id,
        because=(
            bridge.in_words,
            "Azure sees only that it is gone: its address, its disk and its VM are looked at where it runs",
        ),
        facts={**bridge.facts(), "appliance_ip": "<appliance-vm-ip>", "vcenter": "<vcenter-address>"},
    )

"""How a pool's nodes are replaced in an upgrade: its upgradeSettings, and Azure's defaults where they are silent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from handlers.evidence.wire import dig, text

DRAIN_TIMEOUT = 30
NODE_SOAK = 0
BATCH_SIZE = "10%"
BATCH_SOAK = 15
FINAL_SOAK = 60
"""Azure's own defaults, in minutes (AgentPoolUpgradeSettings, AgentPoolBlueGreenUpgradeSettings)."""


@dataclass(frozen=True, slots=True)
class Rolling:
    """Old nodes are drained one batch after the other; `soak` is the pause after each, `final_soak` the last one."""

    blue_green: bool = False
    drain_timeout: timedelta = timedelta(minutes=DRAIN_TIMEOUT)
    soak: timedelta = timedelta(minutes=NODE_SOAK)
    final_soak: timedelta = timedelta()
    batch: str = ""
    """Of a blue-green upgrade: how many nodes are drained at once, as a count or a share."""
    undrainable: str = ""
    """What becomes of a node that cannot be drained: Schedule, Cordon, or (empty) the upgrade fails."""


def read_rolling(properties: Any) -> Rolling:
    """From the wire body of a node pool."""
    if text(properties, "upgradeStrategy").lower() == "bluegreen":
        settings = dig(properties, "upgradeSettingsBlueGreen")
        return Rolling(
            blue_green=True,
            drain_timeout=_minutes(settings, "drainTimeoutInMinutes", DRAIN_TIMEOUT),
            soak=_minutes(settings, "batchSoakDurationInMinutes", BATCH_SOAK),
            final_soak=_minutes(settings, "finalSoakDurationInMinutes", FINAL_SOAK),
            batch=text(settings, "drainBatchSize") or BATCH_SIZE,
        )
    settings = dig(properties, "upgradeSettings")
    return Rolling(
        drain_timeout=_minutes(settings, "drainTimeoutInMinutes", DRAIN_TIMEOUT),
        soak=_minutes(settings, "nodeSoakDurationInMinutes", NODE_SOAK),
        undrainable=text(settings, "undrainableNodeBehavior"),
    )


def _minutes(settings: Any, name: str, default: int) -> timedelta:
    value = dig(settings, name)
    known = isinstance(value, int) and not isinstance(value, bool)
    return timedelta(minutes=value if known else default)

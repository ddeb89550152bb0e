"""Where the scale sets behind failed node pools send their logs and metrics: step 4 of the walk of a failed pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools
from handlers.evidence.compute import ScaleSet, ScaleSets
from handlers.evidence.gather import each
from handlers.evidence.monitor import DiagnosticSetting, settings_of
from handlers.evidence.wire import whole
from handlers.model import Evidence, NotApplicable


@dataclass(frozen=True, kw_only=True)
class ScaleSetSettings(Evidence):
    """The diagnostic settings of the scale sets of failed pools, by the id of the scale set in lower case."""

    by_set: Mapping[str, tuple[DiagnosticSetting, ...]]

    def of(self, scale_set: ScaleSet) -> tuple[DiagnosticSetting, ...] | None:
        """None where they could not be read."""
        return self.by_set.get(scale_set.id.lower())


@collector(reads=("Microsoft.Insights/diagnosticSettings/read",))
async def scale_set_settings(pools: AgentPools, sets: ScaleSets, arm: ArmReader) -> ScaleSetSettings | NotApplicable:
    """the diagnostic settings of the scale sets"""
    behind = [scale_set for pool in pools.failed if (scale_set := sets.of(pool))]
    if not behind:
        return NotApplicable("no failed node pool has a scale set")

    async def of_one(scale_set: ScaleSet) -> tuple[ScaleSet, Listing]:
        return scale_set, await settings_of(scale_set.id, arm)

    found, gaps = await each(behind, of_one)
    return ScaleSetSettings(
        source=", ".join(listing.source for _, listing in found),
        taken_at=min(listing.taken_at for _, listing in found),
        truncated=any(listing.truncated for _, listing in found),
        gaps=gaps,
        by_set={
            scale_set.id.lower(): tuple(DiagnosticSetting.of(item) for item in whole(listing.items))
            for scale_set, listing in found
        },
    )

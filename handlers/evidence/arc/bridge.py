"""The Arc resource bridge, as Azure Resource Manager tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ended_badly
from handlers.evidence.wire import dig, moment, need_text, text
from handlers.fleet.kinds import BRIDGE, kind_in_words
from handlers.model import Evidence, NotApplicable, Target

APPLIANCES_API = "2022-10-27"
_HEARTBEAT = frozenset({"waitforheartbeat", "waitingforheartbeat"})
"""`WaitingForHeartbeat` on the wire, `WaitForHeartBeat` in Azure's page on troubleshooting."""


@dataclass(frozen=True, kw_only=True)
class ArcBridge(Evidence):
    """The appliance resource."""

    id: str
    name: str
    location: str
    state: str
    status: str
    infrastructure: str
    """What it was deployed to: VMWare, HCI or SCVMM."""
    version: str
    made: datetime | None
    """When the resource was made: a bridge that is deployed anew is a new resource."""

    @property
    def subscription(self) -> str:
        return self.id.split("/")[2]

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def offline(self) -> bool:
        return _letters(self.status) == "offline"

    @property
    def waits_for_heartbeat(self) -> bool:
        return _letters(self.status) in _HEARTBEAT

    @property
    def unwell(self) -> bool:
        """Whether a provider that is not registered could be the reason."""
        return self.failed or self.offline

    @property
    def of_azure_local(self) -> bool:
        """Whether it is part of Azure Local, which deploys it itself: no one else may delete or deploy it."""
        return self.infrastructure.lower() == "hci"

    @property
    def in_words(self) -> str:
        return f"{self.name} is {self.status or 'without a status'}, its provisioningState {self.state}"

    def facts(self) -> dict[str, Any]:
        """What the pages of all its problems are filled in with."""
        return {
            "bridge": self.name,
            "group": self.group,
            "subscription": self.subscription,
            "state": self.state,
            "status": self.status,
            "infrastructure": self.infrastructure,
        }


@collector(reads=("Microsoft.ResourceConnector/appliances/read",))
async def arc_bridge(target: Target, arm: ArmReader) -> ArcBridge | NotApplicable:
    """the resource bridge"""
    if not target.id.is_a(BRIDGE):
        return NotApplicable(f"{target.name} is an {kind_in_words(target.id)}, no Arc resource bridge")
    answer = await arm.get(str(target.id), APPLIANCES_API)
    return read_bridge(answer.body, answer.source, answer.taken_at)


def read_bridge(body: Mapping[str, Any], source: str, taken_at: datetime) -> ArcBridge:
    """A bridge from its wire body. A status that Azure has not written yet is empty."""
    properties = dig(body, "properties")
    return ArcBridge(
        source=source,
        taken_at=taken_at,
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        location=text(body, "location"),
        state=need_text(properties, "provisioningState"),
        status=text(properties, "status"),
        infrastructure=text(properties, "infrastructureConfig", "provider"),
        version=text(properties, "version"),
        made=moment(text(body, "systemData", "createdAt")),
    )


def _letters(status: str) -> str:
    return "".join(letter for letter in status.lower() if letter.isalpha())

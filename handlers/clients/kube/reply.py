"""What came over the wire, as it came; and the ways it may come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from handlers.clients.errors import ArmError

SOURCE = "x-aksbot-source"
CUT = "x-aksbot-cut"
"""What a way adds to the headers: what it asked instead, and that it brought only a part."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the API server, with nothing taken out: it goes no further than this package."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    taken_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Way(Protocol):
    """A way to the API server. What stops it is raised as an ArmError."""

    @property
    def reached(self) -> str:
        """How the server was reached, in words; empty as long as it was not."""
        ...

    @property
    def trouble(self) -> ArmError | None:
        """Why it could not be reached (directly), if it could not."""
        ...

    @property
    def azure_calls(self) -> int:
        """How many calls to Azure it took to get through to the server, beside those of the ARM reader."""
        ...

    async def send(self, method: str, target: str, body: Mapping[str, Any] | None) -> Reply: ...

    async def close(self) -> None: ...

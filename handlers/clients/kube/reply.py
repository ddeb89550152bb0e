"""One raw answer of the API server, and the protocol for fetching one."""

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
    """A raw answer of the API server, unredacted: it must not leave this package."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    taken_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Way(Protocol):
    """A way to reach the API server. Failures are raised as an ArmError."""

    @property
    def reached(self) -> str:
        """How the server was reached, as a sentence; empty until then."""
        ...

    @property
    def trouble(self) -> ArmError | None:
        """Why it could not be reached directly, if so."""
        ...

    @property
    def azure_calls(self) -> int:
        """How many Azure calls it took to reach the server, beside those of the ARM reader."""
        ...

    async def send(self, method: str, target: str, body: Mapping[str, Any] | None, accept: str = "") -> Reply: ...

    async def close(self) -> None: ...

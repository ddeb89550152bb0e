"""Clients that are left: `async with` closes what they have opened by then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    pass


class Closing(ABC):
    """A client that closes itself when its `async with` ends."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @abstractmethod
    async def close(self) -> None:
        """Close what was opened; nothing, where nothing was asked."""

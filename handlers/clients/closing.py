"""Closes clients at the end of their `async with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    pass


class Closing(ABC):
    """A client that closes itself at the end of its `async with`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @abstractmethod
    async def close(self) -> None:
        """Close what was opened. Nothing to do if nothing was requested."""

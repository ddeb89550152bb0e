"""Clients that are left: `async with` closes what they have opened by then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from handlers.clients.arm.pipe import Pipe


class Closing(ABC):
    """A client that closes itself when its `async with` ends."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @abstractmethod
    async def close(self) -> None:
        """Close what was opened; nothing, where nothing was asked."""


class ArmClient(Closing):
    """A client of Azure Resource Manager with one pipe, which is made for its first request."""

    @abstractmethod
    def _new_pipe(self) -> Pipe:
        """The pipe with this client's policies: what it may send, and how often."""

    @cached_property
    def _pipe(self) -> Pipe:
        return self._new_pipe()

    async def close(self) -> None:
        if "_pipe" in self.__dict__:
            await self._pipe.close()

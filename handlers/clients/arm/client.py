"""The base of the Azure Resource Manager clients: opens on first use, closes with `async with`."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from handlers.clients.closing import Closing

if TYPE_CHECKING:
    from handlers.clients.arm.pipe import Pipe


class ArmClient(Closing):
    """A client of Azure Resource Manager with one pipeline, created for its first request."""

    @abstractmethod
    def _new_pipe(self) -> Pipe:
        """The pipeline with this client's policies: what it may send, and how often."""

    @cached_property
    def _pipe(self) -> Pipe:
        return self._new_pipe()

    async def close(self) -> None:
        if "_pipe" in self.__dict__:
            await self._pipe.close()

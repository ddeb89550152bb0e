"""Retry reads that failed transiently, within the deadline."""

from __future__ import annotations

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.clock import Clock, give_up_at
from handlers.clients.errors import ArmError

TRIES = 4
FIRST_PAUSE_S = 0.2


class RetryReads(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Waits as Azure asks, or 0.2, 0.4, 0.8 s. Fails at once if the wait would end after the deadline."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        until = give_up_at(self._clock)
        for tried in range(1, TRIES):
            try:
                return await self.next.send(request)
            except ArmError as error:
                pause = _pause(error, tried)
                if not error.again or self._clock.now() + pause >= until:
                    raise
            await self._clock.sleep(pause)
        return await self.next.send(request)


def _pause(error: ArmError, tried: int) -> float:
    backoff: float = FIRST_PAUSE_S * 2 ** (tried - 1)
    return max(error.retry_after_s or 0.0, backoff)

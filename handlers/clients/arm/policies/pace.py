"""Azure's rate limits: slow down before they are used up, and do not call before Retry-After has passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import path_of, provider_of, subscription_of, wanted_at
from handlers.clients.clock import Clock, give_up_at
from handlers.clients.errors import Throttled

BUDGETS = (
    "x-ms-ratelimit-remaining-subscription-reads",
    "x-ms-ratelimit-remaining-subscription-global-reads",
    "x-ms-ratelimit-remaining-tenant-reads",
    "x-ms-user-quota-remaining",
)
SPACING = ((0, 1.0), (3, 0.2), (25, 0.04))
"""Reads left, and the gap between calls then: ARM refills a subscription with 25 reads a second, one in 40 ms."""


@dataclass
class _Lane:
    """One budget: no call before `closed_until`, then one call per `gap` from `next_slot` on."""

    closed_until: float = 0.0
    next_slot: float = 0.0
    gap: float = 0.0


class Pace(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """One lane per subscription, and one per provider in it: a provider's 429 does not stop the others."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._lanes: dict[str, _Lane] = {}

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        url = request.http_request.url
        whole, part = _names(url)
        await self._turn(whole, part, url)
        try:
            response = await self.next.send(request)
        except Throttled as throttled:
            self._close(whole if throttled.by_front_door else part, throttled.retry_after_s)
            raise
        self._learn(whole, response.http_response.headers)
        return response

    async def _turn(self, whole: str, part: str, url: str) -> None:
        lanes = [lane for name in (whole, part) if (lane := self._lanes.get(name))]
        now = self._clock.now()
        start = now
        for lane in lanes:
            start = max(start, lane.closed_until, lane.next_slot if lane.gap else 0.0)
        if start > give_up_at(self._clock):
            wait = start - now
            detail = f"Azure's budget of calls is used up for another {wait:.0f} s"
            raise Throttled(wanted_at(url), detail, retry_after_s=wait)
        for lane in lanes:
            lane.next_slot = start + lane.gap
        if start > now:
            await self._clock.sleep(start - now)

    def _close(self, name: str, wait_s: float | None) -> None:
        lane = self._lanes.setdefault(name, _Lane())
        lane.closed_until = max(lane.closed_until, self._clock.now() + (wait_s or 0.0))
        lane.gap = max(lane.gap, SPACING[-1][1])

    def _learn(self, name: str, headers: Mapping[str, str]) -> None:
        left = [int(headers[budget]) for budget in BUDGETS if headers.get(budget, "").isdigit()]
        if not left:
            return
        gap = next((gap for most, gap in SPACING if min(left) <= most), 0.0)
        if gap or name in self._lanes:
            self._lanes.setdefault(name, _Lane()).gap = gap


def _names(url: str) -> tuple[str, str]:
    whole = subscription_of(url) or path_of(url).lower()
    return whole, f"{whole} {provider_of(url)}"

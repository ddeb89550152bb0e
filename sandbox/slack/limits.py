"""Rate limits of the Web API: one token bucket per method and workspace (docs.slack.dev/apis/web-api/rate-limits).

Slack documents a number per minute and allows bursts of unspecified size; here a bucket holds one minute's
worth and refills at the documented rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sandbox.slack.clock import Clock
from sandbox.slack.errors import rate_limited

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}

_SMALL_BURST = 10
"""Tier 1 tolerates "a small amount of burst": enough to open a handful of sockets in a row."""

_SPECIAL_PER_MINUTE = {
    # "Several hundred messages per minute" for a workspace, in addition to one per second and channel.
    "chat.postMessage": 300,
    "chat.getPermalink": 300,
    "auth.test": 300,
}

_TIER = {
    "apps.connections.open": 1,
    "chat.delete": 3,
    "chat.postEphemeral": 4,
    "chat.update": 3,
    "conversations.history": 3,
    "conversations.info": 3,
    "conversations.join": 3,
    "conversations.list": 2,
    "conversations.members": 4,
    "conversations.open": 3,
    "conversations.replies": 3,
    "files.completeUploadExternal": 4,
    "files.getUploadURLExternal": 4,
    "files.info": 4,
    "reactions.add": 3,
    "reactions.remove": 2,
    "team.info": 3,
    "usergroups.list": 2,
    "usergroups.users.list": 2,
    "users.conversations": 3,
    "users.info": 4,
    "users.list": 2,
    "users.lookupByEmail": 3,
    "views.open": 4,
    "views.publish": 4,
    "views.push": 4,
    "views.update": 4,
}

CHANNEL_BURST = 4
"""One message a second in a channel, with "short bursts"."""


@dataclass
class Bucket:
    """A token bucket."""

    holds: float
    per_second: float
    level: float
    at: float

    def wait_s(self, now: float) -> float:
        """How long to wait for a token; if 0, one is taken."""
        self.level = min(self.holds, self.level + (now - self.at) * self.per_second)
        self.at = now
        # Tolerate clock rounding errors.
        if self.level >= 1 - 1e-6:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.per_second


@dataclass
class Limits:
    """All buckets of one app."""

    clock: Clock
    _buckets: dict[tuple[str, ...], Bucket] = field(default_factory=dict)

    def check_method(self, method: str, team: str) -> None:
        tier = _TIER.get(method)
        minute = _SPECIAL_PER_MINUTE.get(method, 100) if tier is None else PER_MINUTE[tier]
        self._take((method, team), _SMALL_BURST if tier == 1 else minute, minute / 60)

    def check_posting(self, team: str, channel: str) -> None:
        """Limit posting to one message per second and channel."""
        self._take(("posting", team, channel), CHANNEL_BURST, 1.0)

    def check_hook(self, team: str, channel: str) -> None:
        """Limit response URLs to one message per second and channel."""
        self._take(("hook", team, channel), CHANNEL_BURST, 1.0)

    def refill(self) -> None:
        """Reset all buckets to full."""
        self._buckets.clear()

    def _take(self, key: tuple[str, ...], holds: int, per_second: float) -> None:
        now = self.clock.now()
        bucket = self._buckets.setdefault(key, Bucket(holds, per_second, holds, now))
        if wait_s := bucket.wait_s(now):
            raise rate_limited(max(1, math.ceil(wait_s)))


def known_methods() -> frozenset[str]:
    return frozenset(_TIER) | frozenset(_SPECIAL_PER_MINUTE)

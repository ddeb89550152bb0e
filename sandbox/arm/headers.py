"""The headers of every response, and the rate limits they report."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from email.utils import formatdate

from sandbox.arm.answers import Answer


@dataclass
class Budget:
    """A token bucket rate limit per subscription, principal and kind of request.

    `size` and `per_s` are ARM's own since 2024 for reads; the tenant-wide ("global") budget is fifteen times that.
    """

    size: int = 250
    per_s: float = 25.0
    write_size: int = 200
    write_per_s: float = 10.0
    enforced: bool = False
    """Whether an empty bucket causes a 429."""
    _left: dict[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)

    def take(self, subscription: str, principal: str, kind: str) -> int:
        """Take one token and return how many are left; negative if the bucket was empty."""
        size, rate = (self.size, self.per_s) if kind == "reads" else (self.write_size, self.write_per_s)
        now = time.monotonic()
        left, then = self._left.get((subscription, principal, kind), (float(size), now))
        filled = min(float(size), left + (now - then) * rate)
        if filled < 1:
            self._left[subscription, principal, kind] = (filled, now)
            return -1
        self._left[subscription, principal, kind] = (filled - 1, now)
        return int(filled) - 1

    def wait_s(self) -> int:
        return max(1, round(1 / self.per_s)) if self.per_s > 0 else 60


KINDS = {"GET": "reads", "HEAD": "reads", "DELETE": "deletes"}


def common_headers(request_id: str, correlation_id: str) -> dict[str, str]:
    now = time.gmtime()
    return {
        "Cache-Control": "no-cache",
        "Pragma": "no-cache",
        "Expires": "-1",
        "Date": formatdate(usegmt=True),
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "X-Content-Type-Options": "nosniff",
        "X-Cache": "CONFIG_NOCACHE",
        "x-ms-request-id": request_id,
        "x-ms-correlation-request-id": correlation_id,
        "x-ms-routing-request-id": f"WESTEUROPE:{time.strftime('%Y%m%dT%H%M%SZ', now)}:{correlation_id}",
    }


def budget_headers(answer: Answer, kind: str, left: int, namespace: str, budget: Budget) -> dict[str, str]:
    """The remaining-requests headers: only successful responses have them."""
    if answer.status >= 400:
        return {}
    size = budget.size if kind == "reads" else budget.write_size
    # All of the tenant's principals share a limit 15 times that size; the sandbox has no other load on it.
    headers = {
        f"x-ms-ratelimit-remaining-subscription-{kind}": str(left),
        f"x-ms-ratelimit-remaining-subscription-global-{kind}": str(15 * size - size + left),
    }
    if namespace == "Microsoft.Compute":
        # Compute counts by operation group, and each response names the groups it was counted in.
        headers["x-ms-ratelimit-remaining-resource"] = (
            f"Microsoft.Compute/HighCostGetSubscriptionMaximum;{max(0, 3000 + left)}"
        )
    if namespace == "Microsoft.Network":
        headers["x-ms-throttle-levels"] = "operationRatePct=0.1, operationConcurrencyPct=0.1"
    return headers

"""The response headers worth keeping. The others may hold secrets, or say nothing."""

from __future__ import annotations

from collections.abc import Mapping

KEPT = frozenset(
    {
        "content-type",
        "date",
        "etag",
        "retry-after",
        "retry-after-ms",
        "x-ms-correlation-request-id",
        "x-ms-failure-cause",
        "x-ms-request-id",
        "x-ms-retry-after-ms",
        "x-ms-throttle-levels",
    }
)
KEPT_FAMILIES = ("x-ms-ratelimit-remaining-", "x-ms-user-quota-")


def safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are kept, with names in lower case."""
    lower = ((name.lower(), value) for name, value in headers.items())
    return {name: value for name, value in lower if name in KEPT or name.startswith(KEPT_FAMILIES)}

"""Slack's errors, in its own wording."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """A response with `ok: false`. The HTTP status is 200, except for rate limits."""

    def __init__(self, error: str, *, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.headers = headers or {}
        self.more = more

    @property
    def body(self) -> dict[str, Any]:
        return {"ok": False, "error": self.error, **self.more}


def rate_limited(wait_s: int) -> Refused:
    return Refused("ratelimited", status=429, headers={"Retry-After": str(wait_s)})


def invalid(error: str, messages: list[str]) -> Refused:
    """The error for an invalid payload, with every violation. `errors` has them without the prefix."""
    more: dict[str, Any] = {"response_metadata": {"messages": [f"[ERROR] {message}" for message in messages]}}
    if error != "invalid_arguments":
        more["errors"] = messages
    return Refused(error, **more)


class NotInSlack(Exception):
    """A person tried something that Slack's client does not allow."""

"""What Slack refuses, in its own words."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """An answer with `ok: false`. Slack sends it with HTTP status 200, but for a rate limit."""

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
    """A payload that breaks the rules, with every broken rule. `errors` has them without the prefix."""
    more: dict[str, Any] = {"response_metadata": {"messages": [f"[ERROR] {message}" for message in messages]}}
    if error != "invalid_arguments":
        more["errors"] = messages
    return Refused(error, **more)


class NotInSlack(Exception):
    """A person tried what Slack's client does not let people do."""

"""ARM resource ids: printed as ARM returned them, compared in any case."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUBSCRIPTION = re.compile(r"^/subscriptions/([0-9a-f-]{36})(?:/|$)", re.IGNORECASE)


class BadResourceId(ValueError):
    """The text is not an ARM resource id."""


@dataclass(frozen=True, slots=True)
class ResourceId:
    """One resource id, taken apart. `str()` gives it back as it came."""

    text: str
    subscription: str
    resource_group: str | None
    type: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ResourceId:
        clean = "/" + text.strip().strip("/")
        found = _SUBSCRIPTION.match(clean)
        if not found:
            raise BadResourceId(f"not an ARM resource id: {text[:200]!r}")
        parts = clean.strip("/").split("/")
        lower = [part.lower() for part in parts]
        group = parts[3] if len(parts) > 3 and lower[2] == "resourcegroups" else None
        if "providers" not in lower:
            kind = "Microsoft.Resources/resourceGroups" if group else "Microsoft.Resources/subscriptions"
            return cls(clean, found[1], group, kind, parts[-1])
        provider = len(lower) - 1 - lower[::-1].index("providers")
        tail = parts[provider + 1 :]
        if len(tail) < 3 or len(tail) % 2 == 0 or not all(tail):
            raise BadResourceId(f"the resource id stops in the middle: {text[:200]!r}")
        return cls(clean, found[1], group, "/".join([tail[0], *tail[1::2]]), tail[-1])

    def __str__(self) -> str:
        return self.text

    @property
    def key(self) -> str:
        """The form in which two spellings of one id are equal."""
        return self.text.lower()

    @property
    def group_id(self) -> str:
        """The id of its resource group (of the subscription, if it has none)."""
        scope = f"/subscriptions/{self.subscription}"
        return f"{scope}/resourceGroups/{self.resource_group}" if self.resource_group else scope

    def is_a(self, resource_type: str) -> bool:
        return self.type.lower() == resource_type.lower()


def same(name: str, other: str) -> bool:
    """Whether two spellings name one resource."""
    return name.strip("/").lower() == other.strip("/").lower()


def within(scope: str, resource: str) -> bool:
    """Whether `resource` is `scope` itself or lives below it."""
    above, below = scope.strip("/").lower(), resource.strip("/").lower()
    return below == above or below.startswith(above + "/")


def last_name(resource: str) -> str:
    """What a person calls the resource: the last part of its id."""
    return resource.rstrip("/").rsplit("/", 1)[-1]

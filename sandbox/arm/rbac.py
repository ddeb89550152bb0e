"""Authorization: the principal's action patterns, permissions that a test denies, and deny assignments."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sandbox.arm import errors
from sandbox.arm.paths import parse, within
from sandbox.world import Principal, World

_EVERYONE = "00000000-0000-0000-0000-000000000000"


@lru_cache(maxsize=4096)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*", ".*"), re.IGNORECASE)


def matches(pattern: str, action: str) -> bool:
    """Whether an action pattern of a role definition covers an action. `*` stands for anything, slashes included."""
    return _pattern(pattern).fullmatch(action) is not None


@dataclass
class Access:
    """The access decisions of one server."""

    world: World
    taken_away: list[tuple[str, str, str]] = field(default_factory=list)
    """(principal, action pattern, scope) of each permission denied with `ArmServer.deny`."""
    _seen: tuple[int, str | None] = (0, None)
    _keys: list[str] = field(default_factory=list)

    def may(self, principal: Principal, action: str, scope: str) -> bool:
        """Whether the role allows it, ignoring deny assignments."""
        if not any(within(allowed, scope) for allowed in principal.scopes):
            return False
        for name, pattern, at in self.taken_away:
            if name == principal.name and matches(pattern, action) and within(at, scope):
                return False
        if any(matches(pattern, action) for pattern in principal.not_actions):
            return False
        return any(matches(pattern, action) for pattern in principal.actions)

    def check(self, principal: Principal, action: str, scope: str) -> None:
        """Raise ARM's 403 if the action is not allowed."""
        if not self.may(principal, action, scope):
            raise errors.not_authorized(principal.client_id, principal.object_id, action, scope)
        assignment = self._denied_by(principal, action, scope)
        if assignment is not None:
            raise errors.denied_by_assignment(
                principal.client_id,
                principal.object_id,
                action,
                scope,
                name=assignment["properties"].get("denyAssignmentName", assignment.get("name", "")),
                assignment=assignment["name"].replace("-", ""),
                at=_scope_of(assignment),
            )

    def _denied_by(self, principal: Principal, action: str, scope: str) -> dict[str, Any] | None:
        found = (body for body in self._deny_assignments() if _denies(body, principal, action, scope))
        return next(found, None)

    def _deny_assignments(self) -> list[dict[str, Any]]:
        """Cached until resources are added or removed: every request checks, in worlds with thousands of nodes."""
        stored = self.world.resources
        mark = (len(stored), next(reversed(stored), None))
        if mark != self._seen:
            self._seen = mark
            self._keys = [key for key in stored if "/microsoft.authorization/denyassignments/" in key]
        return [stored[key] for key in self._keys if key in stored]

    def permissions(self, principal: Principal) -> list[dict[str, Any]]:
        """The caller's permissions, as `{scope}/providers/Microsoft.Authorization/permissions` returns them."""
        gone = [pattern for name, pattern, _ in self.taken_away if name == principal.name]
        return [
            {
                "actions": list(principal.actions),
                "notActions": [*principal.not_actions, *gone],
                "dataActions": [],
                "notDataActions": [],
            }
        ]


def _scope_of(assignment: dict[str, Any]) -> str:
    return str(assignment["properties"].get("scope") or parse(assignment["id"]).scope)


def _denies(body: dict[str, Any], principal: Principal, action: str, scope: str) -> bool:
    properties = body["properties"]
    at = _scope_of(body)
    inside = (
        scope.strip("/").lower() == at.strip("/").lower()
        if properties.get("doNotApplyToChildScopes")
        else within(at, scope)
    )
    if not inside:
        return False
    if any(excluded.get("id") == principal.object_id for excluded in properties.get("excludePrincipals", ())):
        return False
    if not any(named.get("id") in (principal.object_id, _EVERYONE) for named in properties.get("principals", ())):
        return False
    return any(
        any(matches(pattern, action) for pattern in permission.get("actions", ()))
        and not any(matches(pattern, action) for pattern in permission.get("notActions", ()))
        for permission in properties.get("permissions", ())
    )

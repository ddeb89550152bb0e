"""The modal stack and Home tabs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import state
from sandbox.slack.blocks.ids import with_ids
from sandbox.slack.errors import Refused

Body = dict[str, Any]

STACK_MOST = 3


@dataclass
class View:
    """The current state of one modal or Home tab."""

    id: str
    team: str
    user: str
    body: Body
    app_id: str
    bot_id: str
    root: str = ""
    previous: str | None = None
    values: Body = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """Validation errors by input from the last submission."""
    version: int = 0

    @property
    def kind(self) -> str:
        return str(self.body["type"])

    @property
    def blocks(self) -> list[Body]:
        blocks: list[Body] = self.body["blocks"]
        return blocks

    @property
    def hash(self) -> str:
        return f"{self.version}.{hashlib.sha256(f'{self.id}/{self.version}'.encode()).hexdigest()[:8]}"

    def fill(self, body: Body) -> None:
        """Replace the content; entered values are kept for elements that still exist."""
        self.version += 1
        self.body = {**body, "blocks": with_ids(body["blocks"], f"{self.id}/{self.version}")}
        self.values = state.values_of(self.blocks, self.values)
        self.errors = {}

    def show(self) -> Body:
        modal = {"title", "close", "submit", "clear_on_close", "notify_on_close", "submit_disabled"}
        own = {name: self.body.get(name) for name in modal} if self.kind == "modal" else {}
        return {
            "id": self.id,
            "team_id": self.team,
            "type": self.kind,
            "blocks": self.blocks,
            "private_metadata": self.body.get("private_metadata") or "",
            "callback_id": self.body.get("callback_id") or "",
            "external_id": self.body.get("external_id") or "",
            "state": {"values": self.values},
            "hash": self.hash,
            "root_view_id": self.root or self.id,
            "previous_view_id": self.previous,
            "app_id": self.app_id,
            "app_installed_team_id": self.team,
            "bot_id": self.bot_id,
            **own,
            "clear_on_close": bool(own.get("clear_on_close")),
            "notify_on_close": bool(own.get("notify_on_close")),
        }


class Views:
    """The open views of all people."""

    def __init__(self) -> None:
        self._stacks: dict[tuple[str, str], list[View]] = {}
        self._homes: dict[tuple[str, str], View] = {}

    def stack(self, team: str, user: str) -> list[View]:
        return self._stacks.setdefault((team, user), [])

    def top(self, team: str, user: str) -> View | None:
        stack = self.stack(team, user)
        return stack[-1] if stack else None

    def home(self, team: str, user: str) -> View | None:
        return self._homes.get((team, user))

    def open(self, view: View) -> None:
        """Open a modal, replacing all open ones."""
        self._check_external(view)
        stack = self.stack(view.team, view.user)
        stack[:] = [view]

    def push(self, view: View) -> None:
        """Push a modal onto the open one."""
        self._check_external(view)
        stack = self.stack(view.team, view.user)
        if not stack:
            raise Refused("invalid_trigger_id")
        if len(stack) >= STACK_MOST:
            raise Refused("push_limit_reached")
        view.root, view.previous = stack[0].id, stack[-1].id
        stack.append(view)

    def find(self, team: str, view_id: object, external_id: object) -> View:
        """Find an open modal or Home tab."""
        for (of_team, _), stack in self._stacks.items():
            for view in stack:
                if of_team == team and (
                    view.id == view_id or (external_id and view.body.get("external_id") == external_id)
                ):
                    return view
        for (of_team, _), home in self._homes.items():
            if of_team == team and home.id == view_id:
                return home
        raise Refused("not_found")

    def publish(self, view: View) -> None:
        self._homes[view.team, view.user] = view

    def _check_external(self, view: View) -> None:
        wanted = view.body.get("external_id")
        for stack in self._stacks.values():
            if wanted and any(
                open_view.team == view.team and open_view.body.get("external_id") == wanted for open_view in stack
            ):
                raise Refused("duplicate_external_id")


def check_hash(view: View, given: object) -> None:
    if given and given != view.hash:
        raise Refused("hash_conflict")

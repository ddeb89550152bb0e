"""The state shared by all parts of the Slack sandbox."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.slack.changes import Changes
from sandbox.slack.clock import Clock
from sandbox.slack.errors import Refused
from sandbox.slack.faults import Fault
from sandbox.slack.limits import Limits
from sandbox.slack.manifest import Manifest
from sandbox.slack.message import StoredFile
from sandbox.slack.request_log import LoggedCall
from sandbox.slack.running import Running
from sandbox.slack.workspace import Workspace, make_id

if TYPE_CHECKING:
    from sandbox.slack.outbox import Outbox
    from sandbox.slack.response_urls import ResponseUrl
    from sandbox.slack.sockets import Sockets
    from sandbox.slack.triggers import Triggers
    from sandbox.slack.views import Views


@dataclass
class Site:
    """The workspaces, the app installed in them, and pending deliveries."""

    workspaces: list[Workspace]
    manifest: Manifest
    clock: Clock
    limits: Limits
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    changes: Changes = field(default_factory=Changes)
    running: Running = field(default_factory=Running)
    log: list[LoggedCall] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    files: dict[str, StoredFile] = field(default_factory=dict)
    uploads: dict[str, StoredFile] = field(default_factory=dict)
    """Pending file uploads, by the secret part of the upload URL."""
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    offered: dict[tuple[str, str, str], list[dict[str, Any]]] = field(default_factory=dict)
    """The options last shown in external select menus, by team, person and action."""
    told: list[str] = field(default_factory=list)
    """Events delivered to the app, by their names in the manifest."""
    signing_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    app_token: str = ""
    base: str = ""
    """http://127.0.0.1:PORT, once the server is listening."""
    outbox: Outbox = field(init=False)
    sockets: Sockets = field(init=False)
    triggers: Triggers = field(init=False)
    views: Views = field(init=False)
    _last_ts: int = 0
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.app_id = make_id("A", self.manifest.name)
        self.bot_id = make_id("B", self.manifest.name)
        self.app_token = self.app_token or f"xapp-1-{self.app_id}-{secrets.token_hex(16)}"
        self.tokens = {f"xoxb-{workspace.id}-{secrets.token_hex(12)}": workspace for workspace in self.workspaces}

    def workspace(self, team: str) -> Workspace:
        """Find a workspace by id, name or domain."""
        for workspace in self.workspaces:
            if team in (workspace.id, workspace.name, workspace.domain):
                return workspace
        raise LookupError(
            f"no workspace {team!r}; there are {', '.join(workspace.name for workspace in self.workspaces)}"
        )

    def bot_token(self, team: str) -> str:
        return next(token for token, workspace in self.tokens.items() if workspace is self.workspace(team))

    def new_ts(self) -> str:
        """A message timestamp in microseconds; always unique."""
        self._last_ts = max(int(self.clock.now() * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def new_id(self, prefix: str) -> str:
        return make_id(prefix, self.app_token, str(next(self._numbers)))

    def need_scope(self, *any_of: str) -> None:
        """Raise missing_scope unless the manifest has one of these scopes."""
        if any_of and not set(any_of) & set(self.manifest.scopes):
            raise Refused("missing_scope", needed=",".join(any_of), provided=",".join(self.manifest.scopes))

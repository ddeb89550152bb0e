"""The app's manifest, as pasted into api.slack.com: its scopes, events and commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENT_SCOPES: dict[str, tuple[str, ...]] = {
    "app_home_opened": (),
    "app_mention": ("app_mentions:read",),
    "app_rate_limited": (),
    "channel_archive": ("channels:read",),
    "channel_created": ("channels:read",),
    "channel_left": ("channels:read",),
    "channel_rename": ("channels:read",),
    "file_shared": ("files:read",),
    "member_joined_channel": ("channels:read", "groups:read"),
    "member_left_channel": ("channels:read", "groups:read"),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "reaction_added": ("reactions:read",),
    "reaction_removed": ("reactions:read",),
}
"""By event, the scopes of which an app needs at least one."""


class BadManifest(ValueError):
    """A manifest that Slack would reject."""


@dataclass(frozen=True)
class Manifest:
    """An app's manifest. The default has the typical scopes and events of such a bot."""

    name: str = "aksbot"
    scopes: tuple[str, ...] = (
        "app_mentions:read",
        "channels:history",
        "channels:join",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "reactions:write",
        "team:read",
        "usergroups:read",
        "users:read",
        "users:read.email",
    )
    events: tuple[str, ...] = (
        "app_home_opened",
        "app_mention",
        "channel_created",
        "channel_rename",
        "member_joined_channel",
        "message.channels",
        "message.groups",
        "message.im",
    )
    commands: tuple[str, ...] = ("/aks",)
    escaped_commands: tuple[str, ...] = ()
    """Commands with `should_escape`: mentions and links are sent to the app as ids."""
    message_shortcuts: tuple[tuple[str, str], ...] = (("triage_this", "Triage this"),)
    """Callback id and menu label."""
    global_shortcuts: tuple[tuple[str, str], ...] = ()
    home_tab: bool = True
    messages_tab: bool = True
    interactivity: bool = True
    socket_mode: bool = True

    def __post_init__(self) -> None:
        for event in self.events:
            if event not in EVENT_SCOPES:
                raise BadManifest(f"there is no event {event}")
            if (needed := EVENT_SCOPES[event]) and not set(needed) & set(self.scopes):
                raise BadManifest(f"the event {event} needs the scope {' or '.join(needed)}")
        if self.commands and "commands" not in self.scopes:
            raise BadManifest("slash commands need the scope commands")

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Manifest:
        """Read a parsed manifest file."""
        features = document.get("features") or {}
        settings = document.get("settings") or {}
        commands = features.get("slash_commands") or []
        shortcuts = features.get("shortcuts") or []
        home = features.get("app_home") or {}

        def of_kind(kind: str) -> tuple[tuple[str, str], ...]:
            return tuple(
                (shortcut["callback_id"], shortcut["name"]) for shortcut in shortcuts if shortcut["type"] == kind
            )

        return cls(
            name=document["display_information"]["name"],
            scopes=tuple((document.get("oauth_config") or {}).get("scopes", {}).get("bot") or ()),
            events=tuple((settings.get("event_subscriptions") or {}).get("bot_events") or ()),
            commands=tuple(command["command"] for command in commands),
            escaped_commands=tuple(command["command"] for command in commands if command.get("should_escape")),
            message_shortcuts=of_kind("message"),
            global_shortcuts=of_kind("global"),
            home_tab=bool(home.get("home_tab_enabled")),
            messages_tab=bool(home.get("messages_tab_enabled")),
            interactivity=bool((settings.get("interactivity") or {}).get("is_enabled")),
            socket_mode=bool(settings.get("socket_mode_enabled")),
        )

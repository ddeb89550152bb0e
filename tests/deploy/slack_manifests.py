"""The Slack manifests that we ship, and Slack's rules for one (github.com/slackapi/manifest-schema, version 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.slack.manifest import Manifest

DEPLOY = Path(__file__).parents[2] / "deploy"
SOCKET_MODE, HTTP = DEPLOY / "slack-manifest.yaml", DEPLOY / "slack-manifest-http.yaml"

Body = dict[str, Any]


def read(file: Path) -> Body:
    document: Body = yaml.safe_load(file.read_text(encoding="utf-8"))
    return document


def shipped() -> Manifest:
    """The shipped manifest that people paste into Slack, for use with the sandbox's Slack."""
    return Manifest.read(read(SOCKET_MODE))


@dataclass(frozen=True)
class Text:
    """A string with length limits."""

    most: int
    least: int = 1
    pattern: str = ""

    def faults(self, value: object, where: str) -> list[str]:
        if not isinstance(value, str):
            return [f"{where}: not a string"]
        if not self.least <= len(value) <= self.most:
            return [f"{where}: {len(value)} characters, not {self.least} to {self.most}"]
        return [] if re.search(self.pattern, value) else [f"{where}: does not match {self.pattern}"]


@dataclass(frozen=True)
class Typed:
    """A value of one type."""

    kind: type

    def faults(self, value: object, where: str) -> list[str]:
        return [] if type(value) is self.kind else [f"{where}: not a {self.kind.__name__}"]


@dataclass(frozen=True)
class Several:
    """A list with size limits and unique items."""

    each: Any
    most: int
    least: int = 0

    def faults(self, value: object, where: str) -> list[str]:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            return [f"{where}: not a list of {self.least} to {self.most}"]
        twice = [f"{where}: {one} stands there twice" for one in value if value.count(one) > 1]
        return twice + [
            fault for number, one in enumerate(value) for fault in self.each.faults(one, f"{where}/{number}")
        ]


@dataclass(frozen=True)
class Group:
    """An object with exactly these keys."""

    keys: dict[str, Any]
    needed: tuple[str, ...] = ()

    def faults(self, value: object, where: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{where}: not an object"]
        missing = [f"{where}: {key} is missing" for key in self.needed if key not in value]
        unknown = [f"{where}: there is no {key}" for key in value if key not in self.keys]
        known = (
            fault
            for key, one in value.items()
            if key in self.keys
            for fault in self.keys[key].faults(one, f"{where}/{key}")
        )
        return [*missing, *unknown, *known]


_FLAG = Typed(bool)
_URL = Text(3000, pattern=r"^https://")
_WORDS = Text(50)
_COMMAND = Group(
    {
        "command": Text(32, 2, r"^/"),
        "url": _URL,
        "description": Text(2000),
        "usage_hint": Text(1000),
        "should_escape": _FLAG,
    },
    ("command", "description"),
)
_SHORTCUT = Group(
    {
        "name": Text(24),
        "type": Text(7, pattern="^(message|global)$"),
        "callback_id": Text(255),
        "description": Text(150),
    },
    ("name", "type", "callback_id", "description"),
)
_HOME = Group(
    {"home_tab_enabled": _FLAG, "messages_tab_enabled": _FLAG, "messages_tab_read_only_enabled": _FLAG},
)
_SETTINGS = Group(
    {
        "event_subscriptions": Group({"request_url": _URL, "bot_events": Several(_WORDS, 100)}),
        "interactivity": Group({"is_enabled": _FLAG, "request_url": _URL}, ("is_enabled",)),
        "org_deploy_enabled": _FLAG,
        "socket_mode_enabled": _FLAG,
        "token_rotation_enabled": _FLAG,
    }
)
MANIFEST = Group(
    {
        "_metadata": Group({"major_version": Typed(int), "minor_version": Typed(int)}),
        "display_information": Group(
            {
                "name": Text(35),
                "description": Text(140),
                "long_description": Text(4000, 175),
                "background_color": Text(7, 4, r"^#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?$"),
            },
            ("name",),
        ),
        "features": Group(
            {
                "bot_user": Group({"display_name": Text(80), "always_online": _FLAG}, ("display_name",)),
                "app_home": _HOME,
                "slash_commands": Several(_COMMAND, 50, 1),
                "shortcuts": Several(_SHORTCUT, 10, 1),
            }
        ),
        "oauth_config": Group({"scopes": Group({"bot": Several(_WORDS, 255)})}),
        "settings": _SETTINGS,
    },
    ("display_information",),
)
"""The parts of Slack's schema that a bot of this kind can use. Links are https here, although Slack takes http."""

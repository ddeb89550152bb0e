"""The Slack manifest asks for what the bot uses: every scope that a call needs, and none that nothing needs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

import bot
from bot.http.slack import SLACK_PATH
from bot.slack.inbound.commands import COMMAND
from sandbox.slack.api.methods import METHODS
from sandbox.slack.downloads import SCOPE
from sandbox.slack.manifest import EVENT_SCOPES, Manifest
from tests.deploy.slack_manifests import HTTP, MANIFEST, SOCKET_MODE, Body, read, shipped

SOURCES = sorted(Path(next(iter(bot.__path__))).rglob("*.py"))


def attributes(file: Path) -> Iterator[str]:
    """The names of all methods that a file calls."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def web_api(function: str) -> set[str]:
    """The Web API methods behind one method of the client, through those that it calls itself."""
    source = inspect.getsource(getattr(AsyncWebClient, function))
    inner = set(re.findall(r"self\.(files_\w+)\(", source)) - {function}
    return set(re.findall(r'api_call\(\s*"([\w.]+)"', source)).union(*map(web_api, inner))


def called() -> set[str]:
    """Every Web API method that the bot's code calls."""
    functions = {name for file in SOURCES for name in attributes(file) if re.match(r"[a-z]+_[a-zA-Z0-9_]+$", name)}
    known = {name for name in functions if inspect.iscoroutinefunction(getattr(AsyncWebClient, name, None))}
    return set().union(*map(web_api, known))


@pytest.mark.parametrize("file", [SOCKET_MODE, HTTP], ids=lambda file: file.name)
def test_slack_would_take_the_manifest(file: Path) -> None:
    assert MANIFEST.faults(read(file), "") == []
    manifest = Manifest.read(read(file))
    assert (manifest.name, manifest.commands) == ("aksbot", (COMMAND,))


def test_a_manifest_against_slacks_rules_is_refused() -> None:
    wrong: Body = read(SOCKET_MODE) | {"scopes": []}
    wrong["display_information"] = {"name": "n" * 36, "long_description": "short"}
    wrong["features"]["shortcuts"][0]["name"] = "more than twenty-four letters"
    wrong["oauth_config"]["scopes"]["bot"].append("commands")
    assert MANIFEST.faults(wrong, "") == [
        ": there is no scopes",
        "/display_information/name: 36 characters, not 1 to 35",
        "/display_information/long_description: 5 characters, not 175 to 4000",
        "/features/shortcuts/0/name: 29 characters, not 1 to 24",
        *["/oauth_config/scopes/bot: commands stands there twice"] * 2,
    ]


def test_over_http_only_the_addresses_differ() -> None:
    socket_mode, over_http = read(SOCKET_MODE), read(HTTP)
    addresses = {
        over_http["settings"]["event_subscriptions"].pop("request_url"),
        over_http["settings"]["interactivity"].pop("request_url"),
        *(one.pop("url") for one in over_http["features"]["slash_commands"]),
    }
    assert addresses == {f"https://aksbot.example.com{SLACK_PATH}"}
    assert over_http["settings"].pop("socket_mode_enabled") is False
    assert socket_mode["settings"].pop("socket_mode_enabled") is True
    assert over_http == socket_mode


def test_the_calls_are_found_in_the_code() -> None:
    assert {"auth.test", "chat.postMessage", "files.completeUploadExternal", "conversations.replies"} <= called()


@pytest.mark.parametrize("method", sorted(called()))
def test_what_a_call_needs_is_granted(method: str) -> None:
    """What was said can only be read with the scope of the channel's kind; the bot is in public and private ones."""
    one, granted = METHODS[method], set(shipped().scopes)
    if one.caller == "bot" and one.scopes:
        kinds = {scope for scope in one.scopes if scope in ("channels:history", "groups:history")}
        assert kinds <= granted
        assert set(one.scopes) & granted


@pytest.mark.parametrize("scope", shipped().scopes)
def test_nothing_is_granted_that_nothing_needs(scope: str) -> None:
    manifest = shipped()
    by_calls = {needed for method in called() for needed in METHODS[method].scopes}
    by_events = {needed for event in manifest.events for needed in EVENT_SCOPES[event]}
    by_features = {"commands"} if manifest.commands or manifest.message_shortcuts else set()
    by_features |= {SCOPE}  # a file's address is no method of the Web API; bot/slack/api/text_files.py asks there
    assert scope in by_calls | by_events | by_features

"""Sends interactions to the app and handles its responses."""

from __future__ import annotations

from typing import Any

from sandbox.slack import payloads, posting, response_urls, state
from sandbox.slack.blocks.composition import OPTION_GROUP, PLAIN_OPTION
from sandbox.slack.blocks.rules import Notes, array
from sandbox.slack.blocks.surfaces import check_view
from sandbox.slack.errors import NotInSlack, Refused
from sandbox.slack.message import Message
from sandbox.slack.outbox import NotAcked
from sandbox.slack.site import Site
from sandbox.slack.views import View
from sandbox.slack.workspace import Channel, Person, Workspace

Body = dict[str, Any]

SLACKBOT = "USLACKBOT"
_NO_ROAD = {"no_connection": "dispatch_failed", "connection_failed": "dispatch_failed", "http_error": "dispatch_failed"}


class Trouble(Exception):
    """The app did not respond correctly; the person sees only a generic error."""


async def command(site: Site, team: Workspace, person: Person, channel: Channel, word: str, text: str) -> None:
    """Send a slash command. Slackbot reports failures to the person."""
    url = response_urls.give(site, team, channel, person.id)
    payload = payloads.command(site, team, person, channel, word, text, url)
    try:
        answer = await site.outbox.ask("slash_commands", payload)
    except NotAcked as refusal:
        slackbot(site, team, channel, person, word, _NO_ROAD.get(refusal.reason, "operation_timeout"))
        return
    if not answer:
        return
    try:
        address = response_urls.ResponseUrl(team, channel, person.id, site.clock.now())
        response_urls.answer(site, address, answer)
    except Refused:
        slackbot(site, team, channel, person, word, "invalid_command_response")


def slackbot(site: Site, team: Workspace, channel: Channel, person: Person, word: str, error: str) -> None:
    text = f"{word} failed with the error \u201c{error}\u201d"
    posting.put(site, team, channel, Message(site.new_ts(), channel.id, SLACKBOT, text, team.id, only_for=person.id))


async def ask(site: Site, payload: Body) -> Body:
    """Send an interaction, which the app must acknowledge in time."""
    if not site.manifest.interactivity:
        raise NotInSlack("the app's manifest does not enable interactivity")
    try:
        return await site.outbox.ask("interactive", payload)
    except NotAcked as refusal:
        raise Trouble(refusal.reason) from refusal


async def act_in_message(
    site: Site,
    team: Workspace,
    person: Person,
    channel: Channel,
    message: Message,
    done: tuple[Body, Body, Body | None],
) -> None:
    """Send a block action in a message."""
    block, element, stored = done
    if stored is not None:
        message.state.setdefault(block["block_id"], {})[element["action_id"]] = stored
    values = state.values_of(message.blocks, message.state)
    payload = {
        "type": "block_actions",
        **payloads.about(site, team, person),
        **payloads.in_message(channel, message, values),
        "trigger_id": site.triggers.give(team.id, person.id),
        "response_url": response_urls.give(site, team, channel, person.id, message),
        "actions": [payloads.action(block, element, stored, site.new_ts())],
    }
    await ask(site, payload)


async def act_in_view(
    site: Site, team: Workspace, person: Person, view: View, done: tuple[Body, Body, Body | None]
) -> None:
    """Send a block action in a modal or Home tab. Inputs send nothing unless they have dispatch_action."""
    block, element, stored = done
    if stored is not None:
        view.values.setdefault(block["block_id"], {})[element["action_id"]] = stored
        site.changes.ring()
    if block["type"] == "input" and not block.get("dispatch_action"):
        return
    of_modal = view.id if view.kind == "modal" else ""
    payload = {
        "type": "block_actions",
        **payloads.about(site, team, person),
        **payloads.in_view(view),
        "trigger_id": site.triggers.give(team.id, person.id, of_modal),
        "actions": [payloads.action(block, element, stored, site.new_ts())],
    }
    await ask(site, payload)


async def suggest(
    site: Site, team: Workspace, person: Person, where: Body, block: Body, element: Body, query: str
) -> list[Body]:
    """Request an external menu's options for the typed text."""
    payload = {
        "type": "block_suggestion",
        **payloads.about(site, team, person),
        **where,
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "value": query,
    }
    answer = await ask(site, payload)
    notes = Notes()
    if answer.get("option_groups") is not None:
        array(OPTION_GROUP, 100, least=0)(answer["option_groups"], "/option_groups", notes)
        options = [option for group in answer["option_groups"] for option in group.get("options", [])]
    else:
        array(PLAIN_OPTION, 100, least=0)(answer.get("options"), "/options", notes)
        options = answer.get("options") or []
    if notes.messages:
        raise Trouble("; ".join(notes.messages))
    return list(options)


async def submit(site: Site, team: Workspace, person: Person, view: View) -> None:
    """Submit a modal and apply the app's response_action."""
    missing = _unfilled(view)
    if missing:
        view.errors = dict.fromkeys(missing, "Please complete this required field.")
        site.changes.ring()
        return
    payload = {
        "type": "view_submission",
        **payloads.about(site, team, person),
        "trigger_id": site.triggers.give(team.id, person.id, view.id),
        "view": view.show(),
        "response_urls": [],
    }
    answer = await ask(site, payload)
    try:
        _follow(site, team, person, view, answer)
    except Refused as refusal:
        raise Trouble(refusal.error) from refusal
    finally:
        site.changes.ring()


def _unfilled(view: View) -> list[str]:
    """Required inputs that are empty, which Slack's client refuses to submit."""
    needed = (block for block in view.blocks if block["type"] == "input" and not block.get("optional"))
    return [
        block["block_id"]
        for block in needed
        if state.is_empty(view.values.get(block["block_id"], {}).get(block["element"]["action_id"]))
    ]


def _follow(site: Site, team: Workspace, person: Person, view: View, answer: Body) -> None:
    stack = site.views.stack(team.id, person.id)
    what = answer.get("response_action")
    if what is None:
        if view in stack:
            stack.remove(view)
    elif what == "clear":
        stack.clear()
    elif what == "errors":
        inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
        told = answer.get("errors") or {}
        if not told or set(told) - inputs:
            raise Refused("invalid_errors")
        view.errors = dict(told)
    elif what in ("update", "push"):
        body = answer.get("view")
        check_view(body, "modal", team.features)
        if what == "update":
            view.fill(body or {})
        else:
            site.views.push(new_view(site, team, person.id, body or {}))
    else:
        raise Refused("invalid_response_action")


def new_view(site: Site, team: Workspace, user: str, body: Body) -> View:
    view = View(site.new_id("V"), team.id, user, body, site.app_id, site.bot_id)
    view.fill(body)
    return view


async def close(site: Site, team: Workspace, person: Person, view: View, *, all_of_them: bool = False) -> None:
    """Close a modal, or all open ones."""
    stack = site.views.stack(team.id, person.id)
    if all_of_them or view.body.get("clear_on_close"):
        stack.clear()
    else:
        stack.remove(view)
    site.changes.ring()
    if view.body.get("notify_on_close"):
        payload = {
            "type": "view_closed",
            **payloads.about(site, team, person),
            "view": view.show(),
            "is_cleared": all_of_them,
        }
        await ask(site, payload)


async def message_shortcut(
    site: Site, team: Workspace, person: Person, channel: Channel, message: Message, callback_id: str
) -> None:
    payload = {
        "type": "message_action",
        **payloads.about(site, team, person),
        "callback_id": callback_id,
        "trigger_id": site.triggers.give(team.id, person.id),
        "response_url": response_urls.give(site, team, channel, person.id, message),
        "message_ts": message.ts,
        "message": message.show(metadata=True),
        "channel": payloads.place(channel),
        "action_ts": site.new_ts(),
    }
    await ask(site, payload)


async def global_shortcut(site: Site, team: Workspace, person: Person, callback_id: str) -> None:
    payload = {
        "type": "shortcut",
        **payloads.about(site, team, person),
        "callback_id": callback_id,
        "trigger_id": site.triggers.give(team.id, person.id),
        "action_ts": site.new_ts(),
    }
    await ask(site, payload)

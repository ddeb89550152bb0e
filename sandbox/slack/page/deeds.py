"""User actions on the page: only those that Slack's client offers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sandbox.slack.control import Control
from sandbox.slack.errors import NotInSlack
from sandbox.slack.interactions import Trouble
from sandbox.slack.message import Message
from sandbox.slack.views import View

Body = dict[str, Any]
Deed = Callable[[Control, str, Body], Awaitable[Body]]


async def send(control: Control, person: str, asked: Body) -> Body:
    """Send the composer's text: a message or a slash command."""
    text, channel, thread_ts = str(asked["text"]).strip(), str(asked["channel"]), asked.get("thread_ts")
    if text.startswith("/"):
        word, _, rest = text.partition(" ")
        await control.slash(person, channel, word, rest, thread_ts)
    else:
        control.say(person, channel, text, thread_ts)
    return {}


async def press(control: Control, person: str, asked: Body) -> Body:
    place = _place(control, person, asked)
    await control.press(person, place, str(asked["action_id"]), block_id=str(asked["block_id"]))
    return {}


async def select(control: Control, person: str, asked: Body) -> Body:
    place = _place(control, person, asked)
    await control.select(person, place, str(asked["action_id"]), asked.get("value"), block_id=str(asked["block_id"]))
    return {}


async def suggest(control: Control, person: str, asked: Body) -> Body:
    place = _place(control, person, asked)
    action_id, query = str(asked["action_id"]), str(asked.get("query") or "")
    found = await control.suggest(person, place, action_id, query, block_id=str(asked["block_id"]))
    return {"options": [{"value": item["value"], "text": item["text"]["text"]} for item in found]}


async def submit(control: Control, person: str, asked: Body) -> Body:
    """Submit the modal with all of its values."""
    for block_id, values in dict(asked.get("values") or {}).items():
        for action_id, value in values.items():
            control.fill(person, action_id, value, block_id=block_id)
    await control.submit_view(person)
    return {}


async def close(control: Control, person: str, asked: Body) -> Body:
    await control.close_view(person, all_of_them=bool(asked.get("all")))
    return {}


async def shortcut(control: Control, person: str, asked: Body) -> Body:
    message = control.team.channel(str(asked["channel"])).find(str(asked["message"]))
    if message is None:
        raise NotInSlack("that message is gone")
    await control.shortcut(person, str(asked["callback_id"]), message)
    return {}


async def join(control: Control, person: str, asked: Body) -> Body:
    control.join(person, str(asked["channel"]))
    return {}


async def invite(control: Control, person: str, asked: Body) -> Body:
    control.invite_app(person, str(asked["channel"]))
    return {}


DEEDS: dict[str, Deed] = {
    "send": send,
    "press": press,
    "select": select,
    "suggest": suggest,
    "submit": submit,
    "close": close,
    "shortcut": shortcut,
    "join": join,
    "invite": invite,
}


async def do(control: Control, person: str, asked: Body) -> Body:
    """Perform the action, or return an error message."""
    deed = DEEDS.get(str(asked.get("do")))
    if deed is None:
        return {"ok": False, "message": "There is no such deed."}
    try:
        return {"ok": True, **await deed(control, person, asked)}
    except NotInSlack as refusal:
        return {"ok": False, "message": str(refusal)}
    except Trouble as trouble:
        return {"ok": False, "message": f"We had some trouble connecting to {control.team.bot.name} ({trouble})."}
    except (KeyError, LookupError):
        return {"ok": False, "message": "That is not there any more."}


def _place(control: Control, person: str, asked: Body) -> Message | View | str:
    view_id = asked.get("view")
    if not view_id:
        return str(asked["message"])
    for view in (control.modal(person), control.home(person)):
        if view is not None and view.id == view_id:
            return view
    raise NotInSlack("that is not open any more")

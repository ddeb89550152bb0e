"""reactions.*: emoji reactions to messages."""

from __future__ import annotations

import re

from sandbox.slack.api.call import Body, Call, method
from sandbox.slack.errors import Refused
from sandbox.slack.message import Message

_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")
_MOST_KINDS = 23


def _target(call: Call) -> tuple[Message, str]:
    channel = call.channel()
    if not call.team.has_bot(channel):
        raise Refused("not_in_channel")
    message = channel.find(call.text("timestamp"))
    if message is None:
        raise Refused("message_not_found")
    name = str(call.args.get("name") or "").strip(":")
    if not _NAME.fullmatch(name):
        raise Refused("invalid_name")
    return message, name


@method("reactions.add", "reactions:write")
def add(call: Call) -> Body:
    message, name = _target(call)
    people = message.reactions.get(name, [])
    if call.team.bot.id in people:
        raise Refused("already_reacted")
    if len(message.reactions) >= _MOST_KINDS and not people:
        raise Refused("too_many_reactions")
    message.reactions[name] = [*people, call.team.bot.id]
    message.version += 1
    call.site.changes.ring()
    return {}


@method("reactions.remove", "reactions:write")
def remove(call: Call) -> Body:
    message, name = _target(call)
    people = message.reactions.get(name, [])
    if call.team.bot.id not in people:
        raise Refused("no_reaction")
    left = [person for person in people if person != call.team.bot.id]
    if left:
        message.reactions[name] = left
    else:
        del message.reactions[name]
    message.version += 1
    call.site.changes.ring()
    return {}

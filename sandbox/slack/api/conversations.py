"""conversations.*: channels, members and message history."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sandbox.slack import events
from sandbox.slack.api.call import Body, Call, method, page
from sandbox.slack.errors import Refused
from sandbox.slack.message import Message
from sandbox.slack.workspace import Channel

_READ = {"public": "channels:read", "private": "groups:read", "im": "im:read"}
_HISTORY = {"public": "channels:history", "private": "groups:history", "im": "im:history"}
_TYPES = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}
_ANY_READ = ("channels:read", "groups:read", "mpim:read", "im:read")
_ANY_HISTORY = ("channels:history", "groups:history", "mpim:history", "im:history")


def _show(call: Call, channel: Channel) -> Body:
    common = {
        "id": channel.id,
        "created": 1_700_000_000,
        "is_archived": channel.archived,
        "is_im": channel.kind == "im",
        "is_mpim": False,
        "is_org_shared": False,
        "is_private": channel.kind != "public",
        "is_ext_shared": bool(channel.shared_with),
        "is_shared": bool(channel.shared_with),
        "context_team_id": call.team.id,
    }
    if channel.kind == "im":
        return common | {"user": channel.members[0], "is_user_deleted": False}
    return common | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_member": call.team.has_bot(channel),
        "is_general": channel.name == "general",
        "is_pending_ext_shared": channel.sharing_pending,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "connected_team_ids": [channel.shared_with] if channel.shared_with else [],
        "num_members": len(channel.members),
    }


@method("conversations.info", *_ANY_READ)
def info(call: Call) -> Body:
    channel = call.channel()
    call.need(_READ[channel.kind])
    return {"channel": _show(call, channel)}


@method("conversations.list", *_ANY_READ)
def listing(call: Call) -> Body:
    rows = [kind for kind in _of_kinds(call) if kind.kind == "public" or call.team.has_bot(kind)]
    rows, metadata = page(rows, call)
    return {"channels": [_show(call, channel) for channel in rows], "response_metadata": metadata}


@method("users.conversations", *_ANY_READ)
def own(call: Call) -> Body:
    """The channels the app is a member of, without `is_member`, which would always be true."""
    if call.args.get("user") not in (None, "", call.team.bot.id):
        raise Refused("method_not_supported_for_channel_type")
    rows, metadata = page([kind for kind in _of_kinds(call) if call.team.has_bot(kind)], call)
    shown = [_show(call, row) for row in rows]
    return {
        "channels": [{name: value for name, value in item.items() if name != "is_member"} for item in shown],
        "response_metadata": metadata,
    }


def _of_kinds(call: Call) -> list[Channel]:
    """The channels of the requested types."""
    asked = str(call.args.get("types") or "public_channel").split(",")
    kinds = set()
    for item in asked:
        kind = _TYPES.get(item.strip())
        if kind is None:
            raise Refused("invalid_types")
        if kind != "mpim":
            call.need(_READ[kind])
        kinds.add(kind)
    return [
        channel
        for channel in call.team.channels
        if channel.kind in kinds and not (call.flag("exclude_archived") and channel.archived)
    ]


@method("conversations.members", *_ANY_READ)
def members(call: Call) -> Body:
    channel = call.channel()
    call.need(_READ[channel.kind])
    rows, metadata = page(channel.members, call)
    return {"members": rows, "response_metadata": metadata}


@method("conversations.join", "channels:join")
def join(call: Call) -> Body:
    channel = call.channel()
    if channel.kind != "public":
        raise Refused("method_not_supported_for_channel_type")
    if channel.archived:
        raise Refused("is_archived")
    if call.team.has_bot(channel):
        already = {"warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}}
        return {"channel": _show(call, channel), **already}
    channel.members.append(call.team.bot.id)
    events.tell_joined(call.site, call.team, channel, call.team.bot.id)
    call.site.changes.ring()
    return {"channel": _show(call, channel)}


@method("conversations.open", "im:write", "mpim:write")
def open_direct(call: Call) -> Body:
    users = [part for part in str(call.args.get("users") or "").split(",") if part]
    if not users:
        raise Refused("users_list_not_supplied")
    if len(users) > 1:
        raise Refused("method_not_supported_for_channel_type")
    person = call.team.find_person(users[0])
    if person is None or person.deleted:
        raise Refused("user_not_found" if person is None else "user_disabled")
    call.need("im:write")
    return {"no_op": False, "already_open": False, "channel": {"id": call.team.direct(person.id).id}}


def _readable(call: Call) -> Channel:
    """A channel whose messages the app may read."""
    channel = call.channel()
    call.need(_HISTORY[channel.kind])
    if not call.team.has_bot(channel):
        raise Refused("not_in_channel")
    return channel


def _moment(call: Call, name: str) -> Decimal | None:
    value = call.args.get(name)
    if value in (None, "", "now"):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise Refused(f"invalid_ts_{name}") from None


def _between(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest, both = _moment(call, "oldest"), _moment(call, "latest"), call.flag("inclusive")

    def fits(message: Message) -> bool:
        ts = Decimal(message.ts)
        after = oldest is None or ts > oldest or (both and ts == oldest)
        return after and (latest is None or ts < latest or (both and ts == latest))

    return [message for message in messages if fits(message)]


def with_thread(channel: Channel, message: Message, *, metadata: bool) -> Body:
    """The message, with reply counts if it has a thread."""
    shown = message.show(metadata=metadata)
    replies = [reply for reply in channel.thread(message.ts) if reply is not message]
    if replies and not message.is_reply:
        people = list(dict.fromkeys(reply.user for reply in replies))
        shown |= {
            "reply_count": len(replies),
            "reply_users": people[:5],
            "reply_users_count": len(people),
            "latest_reply": replies[-1].ts,
            "is_locked": False,
            "subscribed": False,
        }
    return shown


@method("conversations.history", *_ANY_HISTORY)
def history(call: Call) -> Body:
    channel = _readable(call)
    found = sorted(_between(call, channel.top()), key=lambda message: Decimal(message.ts), reverse=True)
    rows, metadata = page(found, call, most=999)
    everything = call.flag("include_all_metadata")
    return {
        "messages": [with_thread(channel, row, metadata=everything) for row in rows],
        "has_more": bool(metadata["next_cursor"]),
        "pin_count": 0,
        **({"response_metadata": metadata} if metadata["next_cursor"] else {}),
    }


@method("conversations.replies", *_ANY_HISTORY)
def replies(call: Call) -> Body:
    channel = _readable(call)
    ts = call.text("ts")
    asked = channel.find(ts)
    if asked is None:
        raise Refused("thread_not_found")
    thread = channel.thread(ts)
    parent, answers = thread[0], _between(call, thread[1:])
    rows, metadata = page([parent, *answers], call)
    everything = call.flag("include_all_metadata")
    return {
        "messages": [with_thread(channel, row, metadata=everything) for row in rows],
        "has_more": bool(metadata["next_cursor"]),
        "response_metadata": metadata,
    }

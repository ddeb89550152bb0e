"""chat.*: posting, updating and deleting messages."""

from __future__ import annotations

from sandbox.slack import posting
from sandbox.slack.api.call import Body, Call, method
from sandbox.slack.errors import Refused
from sandbox.slack.message import Message
from sandbox.slack.posting import Draft
from sandbox.slack.shown_files import shown_files
from sandbox.slack.workspace import Channel


def _draft(call: Call) -> Draft:
    structured = {name: call.structure(name) for name in ("blocks", "attachments", "metadata")}
    flags: Body = {name: call.flag(name) for name in ("unfurl_links", "unfurl_media") if name in call.args}
    content = posting.draft({**call.args, **structured, **flags}, call.team.features)
    shown_files(call.site, content.blocks)
    return content


def _where(call: Call) -> Channel:
    """The channel to post in; a user id means the direct message with that user."""
    person = call.team.find_person(str(call.args.get("channel") or ""))
    if person is not None:
        if person.deleted or person.is_bot:
            raise Refused("channel_not_found")
        return call.team.direct(person.id)
    return call.channel()


def _check_may_post(call: Call, channel: Channel) -> None:
    if channel.archived:
        raise Refused("is_archived")
    if not call.team.has_bot(channel):
        if "chat:write.public" not in call.site.manifest.scopes:
            raise Refused("not_in_channel")
        call.need("chat:write.public")
    if channel.kind == "im" and not call.site.manifest.messages_tab:
        raise Refused("messages_tab_disabled")


@method("chat.postMessage", "chat:write")
def post_message(call: Call) -> Body:
    channel = _where(call)
    _check_may_post(call, channel)
    content = _draft(call)
    author = str(call.args.get("username") or "")
    if author or call.args.get("icon_emoji") or call.args.get("icon_url"):
        call.need("chat:write.customize")
    thread_ts = call.thread(channel)
    call.site.limits.check_posting(call.team.id, channel.id)
    message = posting.post(
        call.site,
        call.team,
        channel,
        content,
        thread_ts=thread_ts,
        broadcast=thread_ts is not None and call.flag("reply_broadcast"),
        author=author,
    )
    return {"channel": channel.id, "ts": message.ts, "message": message.show(metadata=True)}


def _own(call: Call, channel: Channel, refusal: str) -> Message:
    """Find a message of the app itself. Ephemeral ones cannot be found."""
    message = channel.find(call.text("ts"))
    if message is None:
        raise Refused("message_not_found")
    if message.user != call.team.bot.id:
        raise Refused(refusal)
    return message


@method("chat.update", "chat:write")
def update(call: Call) -> Body:
    channel = call.channel()
    message = _own(call, channel, "cant_update_message")
    if channel.archived:
        raise Refused("is_archived")
    content = _draft(call)
    posting.change(call.site, call.team, channel, message, content)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message.show(metadata=True),
    }


@method("chat.delete", "chat:write")
def delete(call: Call) -> Body:
    channel = call.channel()
    message = _own(call, channel, "cant_delete_message")
    posting.delete(call.site, call.team, channel, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Call) -> Body:
    channel = call.channel()
    _check_may_post(call, channel)
    user = call.text("user")
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    message = posting.post(call.site, call.team, channel, _draft(call), thread_ts=call.thread(channel), only_for=user)
    return {"message_ts": message.ts}


@method("chat.getPermalink")
def permalink(call: Call) -> Body:
    channel = call.channel()
    message = channel.find(call.text("message_ts"))
    if message is None:
        raise Refused("message_not_found")
    tail = f"?thread_ts={message.thread_ts}&cid={channel.id}" if message.is_reply else ""
    link = f"https://{call.team.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}{tail}"
    return {"channel": channel.id, "permalink": link}

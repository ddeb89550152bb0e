"""Posting messages: validation, storage and the resulting events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import events
from sandbox.slack.blocks.ids import with_ids
from sandbox.slack.blocks.surfaces import ATTACHMENTS_MOST, TEXT_LONGEST, check_message_blocks, check_message_size
from sandbox.slack.errors import Refused
from sandbox.slack.message import Message, StoredFile
from sandbox.slack.site import Site
from sandbox.slack.workspace import Channel, Workspace

Body = dict[str, Any]

METADATA_LONGEST = 8_000


@dataclass
class Draft:
    """Validated message content. None means that the field was not given."""

    text: str | None = None
    blocks: list[Body] | None = None
    attachments: list[Body] | None = None
    metadata: Body | None = None
    unfurl: Body = field(default_factory=dict)


def draft(args: Body, features: frozenset[str], *, hook: bool = False) -> Draft:
    """Parse and validate message content. Response URLs have no limit for the total size of blocks."""
    text, blocks = args.get("text"), args.get("blocks")
    attachments = args.get("attachments")
    if text is not None and not isinstance(text, str):
        text = str(text)
    if blocks is not None:
        check_message_blocks(blocks, features)
    _check_attachments(attachments, features)
    metadata = _metadata(args.get("metadata"))
    if not (text and text.strip()) and not blocks and not attachments:
        raise Refused("no_text")
    if text and len(text) > TEXT_LONGEST:
        raise Refused("msg_too_long")
    if blocks and not hook:
        check_message_size(blocks)
    unfurl = {name: args[name] for name in ("unfurl_links", "unfurl_media") if args.get(name) is not None}
    return Draft(text, blocks, attachments, metadata, unfurl)


def _check_attachments(attachments: Any, features: frozenset[str]) -> None:
    if attachments is None:
        return
    if not isinstance(attachments, list) or any(not isinstance(attachment, dict) for attachment in attachments):
        raise Refused("invalid_attachments")
    if len(attachments) > ATTACHMENTS_MOST:
        raise Refused("too_many_attachments")
    for item in attachments:
        if item.get("blocks") is not None:
            try:
                check_message_blocks(item["blocks"], features)
            except Refused as refusal:
                raise Refused("invalid_attachments", **refusal.more) from refusal


def _metadata(value: Any) -> Body | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Refused("invalid_metadata_format")
    if not value:
        return {}
    if not isinstance(value.get("event_type"), str) or not isinstance(value.get("event_payload"), dict):
        raise Refused("invalid_metadata_schema")
    if len(json.dumps(value)) > METADATA_LONGEST:
        raise Refused("metadata_too_large")
    return value


def post(
    site: Site,
    team: Workspace,
    channel: Channel,
    content: Draft,
    *,
    thread_ts: str | None = None,
    broadcast: bool = False,
    only_for: str | None = None,
    author: str = "",
    files: list[StoredFile] | None = None,
    subtype: str | None = None,
) -> Message:
    """Post a message as the app."""
    ts = site.new_ts()
    message = Message(
        ts=ts,
        channel=channel.id,
        user=team.bot.id,
        text=content.text or "",
        team=team.id,
        blocks=with_ids(content.blocks or [], ts),
        attachments=[{"id": number, **attachment} for number, attachment in enumerate(content.attachments or [], 1)],
        files=files or [],
        thread_ts=thread_ts,
        broadcast=broadcast,
        subtype=subtype,
        bot_id=site.bot_id,
        app_id=site.app_id,
        author=author,
        metadata=content.metadata or None,
        unfurl=content.unfurl,
        only_for=only_for,
    )
    return put(site, team, channel, message)


def put(site: Site, team: Workspace, channel: Channel, message: Message) -> Message:
    """Store a message and send its events."""
    channel.messages.append(message)
    if message.is_reply and message.only_for is None:
        _mark_parent(channel, message.thread_ts or "")
    if message.only_for is None:
        events.tell_message(site, team, channel, message)
    site.changes.ring()
    return message


def _mark_parent(channel: Channel, ts: str) -> None:
    """Make the parent a thread on its first reply."""
    parent = channel.find(ts)
    if parent is not None:
        parent.thread_ts = ts
        parent.version += 1


def change(site: Site, team: Workspace, channel: Channel, message: Message, content: Draft) -> None:
    """Update a message. Fields not given are kept; an empty list removes them."""
    before = message.show(metadata=True)
    if content.text is not None:
        message.text = content.text
    if content.blocks is not None:
        message.blocks = with_ids(content.blocks, message.ts)
    if content.attachments is not None:
        message.attachments = [{"id": number, **attachment} for number, attachment in enumerate(content.attachments, 1)]
    if content.metadata is not None:
        message.metadata = content.metadata or None
    message.edited_ts = site.new_ts()
    message.version += 1
    if message.only_for is None:
        events.tell_changed(site, team, channel, message, before)
    site.changes.ring()


def delete(site: Site, team: Workspace, channel: Channel, message: Message) -> None:
    channel.messages.remove(message)
    if message.is_reply:
        _mark_parent(channel, message.thread_ts or "")
    if message.only_for is None:
        events.tell_deleted(site, team, channel, message)
    site.changes.ring()

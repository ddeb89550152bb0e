"""Response URLs: up to five messages in 30 minutes, in the interaction's channel, even if the app is not a member."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sandbox.slack import posting
from sandbox.slack.errors import Refused
from sandbox.slack.message import Body, Message
from sandbox.slack.shown_files import shown_files
from sandbox.slack.site import Site
from sandbox.slack.workspace import Channel, Workspace

USES = 5
LIVES_S = 30 * 60.0


@dataclass
class ResponseUrl:
    """One response URL issued to the app."""

    team: Workspace
    channel: Channel
    user: str
    ends: float
    original: Message | None = None
    """The message in which the interaction happened; None for a command."""
    uses: int = 0


def give(site: Site, team: Workspace, channel: Channel, user: str, original: Message | None = None) -> str:
    kind = "commands" if original is None else "actions"
    path = f"/{kind}/{team.id}/{secrets.randbelow(10**13)}/{secrets.token_urlsafe(18)}"
    site.response_urls[path] = ResponseUrl(team, channel, user, site.clock.now() + LIVES_S, original)
    return site.base + path


def use(site: Site, path: str, body: Body) -> None:
    """Use a response URL for one message; raises if it is used up or expired."""
    found = site.response_urls.get(path)
    if found is None:
        raise Refused("no_service", status=404)
    if site.clock.now() > found.ends:
        raise Refused("expired_url", status=404)
    if found.uses >= USES:
        raise Refused("used_url", status=404)
    site.limits.check_hook(found.team.id, found.channel.id)
    try:
        answer(site, found, body)
    except Refused as refusal:
        refusal.status = 400
        raise
    found.uses += 1


def answer(site: Site, address: ResponseUrl, body: Body) -> None:
    """Handle a response: post a new message, or replace or delete the original."""
    team, channel, original = address.team, address.channel, address.original
    still_there = original is not None and any(message is original for message in channel.messages)
    if body.get("delete_original") in (True, "true"):
        if original is not None and still_there:
            posting.delete(site, team, channel, original)
        return
    content = posting.draft(body, team.features, hook=True)
    shown_files(site, content.blocks)
    if original is not None and still_there and body.get("replace_original") in (True, "true"):
        # A replacement removes all previous content, including fields not given.
        content.blocks, content.attachments = content.blocks or [], content.attachments or []
        content.text = content.text or ""
        posting.change(site, team, channel, original, content)
        return
    in_channel = body.get("response_type") == "in_channel"
    if channel.archived:
        raise Refused("is_archived")
    thread_ts = body.get("thread_ts") or (original.thread_ts if original is not None and original.is_reply else None)
    posting.post(site, team, channel, content, thread_ts=thread_ts, only_for=None if in_channel else address.user)

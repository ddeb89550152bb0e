"""files.*: the three steps of an upload."""

from __future__ import annotations

import secrets

from sandbox.slack import downloads, posting
from sandbox.slack.api.call import Body, Call, method
from sandbox.slack.errors import Refused, invalid
from sandbox.slack.message import StoredFile
from sandbox.slack.posting import Draft
from sandbox.slack.site import Site

LARGEST = 1_073_741_824
PROCESSING_S = 0.25
"""Completing an upload returns before Slack has processed the file: its type is known, and a block may show it, a
moment later (github.com/slackapi/node-slack-sdk/issues/1865)."""


@method("files.getUploadURLExternal", "files:write")
def upload_url(call: Call) -> Body:
    name = call.text("filename")
    length = call.text("length")
    if not length.isdigit() or int(length) < 1:
        raise invalid("invalid_arguments", ["must be greater than 0 [json-pointer:/length]"])
    if int(length) > LARGEST:
        raise Refused("file_upload_size_restricted")
    stored = StoredFile(call.site.new_id("F"), name, int(length))
    call.site.files[stored.id] = stored
    call.site.uploads[secret := secrets.token_urlsafe(24)] = stored
    return {"upload_url": f"{call.site.base}/upload/v1/{secret}", "file_id": stored.id}


def receive(site: Site, secret: str, content: bytes) -> str:
    """Handle an upload. The URL works once and accepts only the announced length."""
    stored = site.uploads.get(secret)
    if stored is None or stored.content is not None:
        raise Refused("upload_url_not_found", status=404)
    if len(content) != stored.length:
        raise Refused("wrong_length", status=400)
    stored.content = content
    return f"OK - {len(content)}"


@method("files.completeUploadExternal", "files:write")
def complete(call: Call) -> Body:
    asked = call.structure("files")
    if not isinstance(asked, list) or not asked:
        raise invalid("invalid_arguments", ["missing required field: files [json-pointer:/files]"])
    files = [_uploaded(call, upload) for upload in asked]
    channels = [part for part in str(call.args.get("channels") or "").split(",") if part]
    if call.args.get("channel_id"):
        channels.append(str(call.args["channel_id"]))
    for where in channels:
        _share(call, where, files)
    return {"files": [{"id": file.id, "title": file.title or file.name} for file in files]}


def _uploaded(call: Call, asked: Body) -> StoredFile:
    stored = call.site.files.get(str(asked.get("id")))
    if stored is None:
        raise Refused("file_not_found")
    if stored.content is None:
        raise Refused("file_not_uploaded")
    stored.title = str(asked.get("title") or stored.name)
    stored.ready_at = call.site.clock.now() + PROCESSING_S
    downloads.describe(call.site, call.team, stored)
    return stored


@method("files.info", "files:read")
def info(call: Call) -> Body:
    """files.info: the file's metadata, without a type while Slack is still processing it."""
    stored = call.site.files.get(call.text("file"))
    if stored is None or stored.content is None:
        raise Refused("file_not_found")
    shown = stored.show()
    if call.site.clock.now() < stored.ready_at:
        shown |= {"mimetype": "", "filetype": ""}
    return {"file": shown, "comments": [], "response_metadata": {"next_cursor": ""}}


def _share(call: Call, where: str, files: list[StoredFile]) -> None:
    channel = call.team.find_channel(where)
    if channel is None or (channel.kind != "public" and not call.team.has_bot(channel)):
        raise Refused("channel_not_found")
    if channel.archived:
        raise Refused("is_archived")
    if not call.team.has_bot(channel):
        raise Refused("not_in_channel")
    posting.post(
        call.site,
        call.team,
        channel,
        Draft(str(call.args.get("initial_comment") or ""), call.structure("blocks")),
        thread_ts=call.thread(channel),
        files=files,
        subtype="file_share",
    )
    for file in files:
        file.shared = True

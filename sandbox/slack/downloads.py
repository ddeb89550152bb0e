"""Private file URLs: return the content if the token may read it, else Slack's sign-in page with status 200."""

from __future__ import annotations

from mimetypes import guess_type

from sandbox.slack.errors import Refused
from sandbox.slack.message import StoredFile
from sandbox.slack.site import Site
from sandbox.slack.workspace import Workspace

SCOPE = "files:read"
METHOD = "files-pri"
"""The method name of downloads in the request log and in faults."""
SIGN_IN = (
    '<!DOCTYPE html><html lang="en-US" class="" data-primer><head><title>Slack</title></head>'
    '<body><h1>Sign in to your workspace</h1><form action="/signin" method="post"></form></body></html>'
)
_TEXT = frozenset({"log", "txt", "text", "out", "err", "conf", "ini", "yaml", "yml", "md", "ps1", "sh"})
_PREVIEW_LINES, _PREVIEW = 5, 500


def address(site: Site, team: Workspace, file: StoredFile) -> str:
    return f"{site.base}/files-pri/{team.id}-{file.id}/{file.name}"


def mimetype(name: str) -> str:
    """The MIME type, by file name only, as Slack does it."""
    ending = name.rsplit(".", 1)[-1].lower()
    return "text/plain" if ending in _TEXT else guess_type(name)[0] or "application/octet-stream"


def describe(site: Site, team: Workspace, file: StoredFile) -> None:
    """The file object in messages."""
    kind, where = mimetype(file.name), address(site, team, file)
    file.more = {"mimetype": kind, "url_private": where, "url_private_download": where, "user_team": team.id}
    if kind.startswith("text/") and file.content is not None:
        file.more |= preview(file.content)


def preview(content: bytes) -> dict[str, object]:
    """The first lines of a text file."""
    text = content[: 4 * _PREVIEW].decode(errors="replace")
    lines = content.count(b"\n") + 1
    shown = "\n".join(text.splitlines()[:_PREVIEW_LINES])[:_PREVIEW]
    cut = len(shown) < len(content.decode(errors="replace"))
    more = max(lines - _PREVIEW_LINES, 0)
    return {"preview": shown, "lines": lines, "lines_more": more, "preview_is_truncated": cut}


def find(site: Site, which: str) -> StoredFile:
    """Find a file by `T…-F…`."""
    stored = site.files.get(which.partition("-")[2])
    if stored is None or stored.content is None:
        raise Refused("file_not_found", status=404)
    return stored


def may_read(site: Site, token: str, file: StoredFile) -> Workspace | None:
    """The token's workspace, if it has the scope and the app is in a channel where the file was shared."""
    team = site.tokens.get(token)
    if team is None or SCOPE not in site.manifest.scopes:
        return None
    shared = (channel for channel in team.channels if any(file in message.files for message in channel.messages))
    return team if any(team.has_bot(channel) for channel in shared) else None

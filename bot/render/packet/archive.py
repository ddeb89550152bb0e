"""A support packet as a file: every text in it is redacted here, whoever made it, and nothing is packed unredacted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from bot.redaction import redacted
from bot.render.pictures.plain_name import plain_name
from handlers.clients.redact import redact_text

Content = str | bytes | Mapping[str, Any]
"""A page, a picture (redacted before it is drawn), or data."""

_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the packet, and what it holds, for the table of contents."""

    name: str
    holds: str
    content: Content


@dataclass(frozen=True, slots=True)
class Archive:
    """A packet before it is packed."""

    name: str
    members: tuple[Member, ...]
    made_at: datetime

    @property
    def contents(self) -> list[tuple[str, str]]:
        return [(member.name, member.holds) for member in self.members]

    def packed(self) -> bytes:
        """The zip. Takes a second or more for a large cluster: to be called in a thread."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as file:
            for member in self.members:
                file.writestr(self._entry(member.name), _clean(member.content))
        return out.getvalue()

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(name, self.made_at.astimezone(UTC).timetuple()[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o600 << 16
        return entry


def archive_name(cluster: str, made_at: datetime) -> str:
    """`support-prod-weu-20261120T033000Z.zip`: the same for the same request, however often it is worked on."""
    return f"support-{plain_name(cluster)}-{made_at.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


def _clean(content: Content) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return redact_text(content).encode(errors="replace")
    return orjson.dumps(redacted(content), option=orjson.OPT_INDENT_2)

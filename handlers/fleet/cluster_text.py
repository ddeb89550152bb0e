"""Parses what a person types, pastes or clicks to name a cluster: a name, an ARM id, an Azure portal link."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from handlers.fleet.kinds import CLUSTER_TYPES
from handlers.problem import Exit, Problem
from handlers.resource_id import ResourceId
from runbooks.linear import compile_linear

LONGEST = 4000
"""A portal link is a few hundred characters; what is longer is no cluster."""
_NAME = compile_linear(r"[A-Za-z0-9_-]{1,63}")
_END = r"(?:[/?#&|\s\"'<>)\],;]|$)"
_ID = compile_linear(
    r"(?P<id>/subscriptions/(?P<subscription>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"/+resourcegroups/(?P<group>[\w().-]{1,90})/+providers/(?P<type>"
    + "|".join(re.escape(cluster_type) for cluster_type in CLUSTER_TYPES)
    + r")/+(?P<name>[A-Za-z0-9_-]{1,63}))"
    + _END,
    ignore_case=True,
)
_ANY_ID = compile_linear(r"/subscriptions/[^\s]+?/providers/(?P<type>[\w.]+/\w+)/", ignore_case=True)
_SPEAKABLE = compile_linear(r"[^A-Za-z0-9_.,:/@#=?-]+")


@dataclass(frozen=True, slots=True)
class ClusterRef:
    """Which cluster somebody means: read once, where it comes in, and handed on as it was read."""

    text: str
    """As it was written."""
    name: str
    """What rules are about; what no cluster is called stays as it was written."""
    id: ResourceId | None = None
    unreadable: Problem | None = field(default=None, compare=False)
    """Why no cluster can be meant."""

    @classmethod
    def of(cls, text: str | ClusterRef) -> ClusterRef:
        """What was read already is not read again."""
        return text if isinstance(text, ClusterRef) else _read(text)

    @property
    def key(self) -> str:
        """Alike for a link and an id of one cluster; a name stays a name until Azure is asked."""
        return self.id.key if self.id else self.name.lower()

    @property
    def meant(self) -> ResourceId | str:
        """The id, or the name. Raises a Problem that says what would be one."""
        if self.unreadable:
            raise self.unreadable
        return self.id or self.name


def _read(text: str) -> ClusterRef:
    try:
        found = read_cluster(text)
    except Problem as problem:
        return ClusterRef(text, text.strip(), unreadable=problem)
    if isinstance(found, ResourceId):
        return ClusterRef(text, found.name, found)
    return ClusterRef(text, found)


def read_cluster(text: str) -> ResourceId | str:
    """The id in the text, or the name it is. Otherwise a Problem that says what would be valid."""
    text = text.strip()
    if len(text) > LONGEST:
        raise _not_a_cluster(f"it has {len(text):,} characters")
    if not text:
        raise _not_a_cluster("no name was given")
    decoded = _decoded(text)
    found = _ID.search(decoded)
    if found:
        return ResourceId.parse(found["id"])
    if "/subscriptions/" in decoded.lower():
        raise _other_id(decoded)
    if not _NAME.fullmatch(text):
        raise _not_a_cluster(_what_is_wrong(text))
    return text


def safe_to_repeat(text: str) -> str:
    """What may be repeated to the person who typed it: short, without control characters or markup."""
    clean = _SPEAKABLE.sub("…", text)[:60]
    return clean if clean.strip("…") else ""


def _decoded(text: str) -> str:
    """Portal links hold their id percent-encoded, and links inside links twice."""
    for _ in range(3):
        decoded = unquote(text)
        if decoded == text:
            break
        text = decoded
    return text


def _other_id(text: str) -> Problem:
    other = _ANY_ID.search(text)
    why = f"it names a {other['type']}" if other else "the resource id in it stops in the middle"
    return _not_a_cluster(why)


def _what_is_wrong(text: str) -> str:
    shown = safe_to_repeat(text)
    if len(text) > 63 and not _SPEAKABLE.search(text):
        return f"a cluster's name has at most 63 characters, this has {len(text)}"
    named = f"{shown} " if shown else "it "
    return f"{named}has characters that no cluster name has (letters, digits, - and _ do)"


def _not_a_cluster(why: str) -> Problem:
    return Problem(
        "cannot tell which cluster is meant",
        why,
        "give a cluster's name, its resource id, or its link in the Azure portal",
        code=Exit.USAGE,
    )

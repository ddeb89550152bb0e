"""Finds the clusters of the fleet that a text names: by whole names or ids, in any case."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from handlers.fleet.clusters import FleetMember
from runbooks.linear import compile_linear

_IN_NAMES = bytes(code if chr(code).isalnum() or chr(code) in "_-" else 32 for code in range(128)) + b" " * 128
_ID = compile_linear(r"/subscriptions/[^\s\"'<>|,;)\]]+", ignore_case=True)


def named_clusters(text: str, members: Sequence[FleetMember]) -> list[FleetMember]:
    """The clusters in the order in which the text names them. An id decides between clusters of one name."""
    decoded = unquote(text)
    ids = [found[0].lower().rstrip("/.") for found in _ID.finditer(decoded)]
    by_id = [member for member in members if any(_is_within(member.id, id_) for id_ in ids)]
    places: dict[str, int] = {}
    for place, word in enumerate(_words(_ID.sub(" ", decoded))):
        places.setdefault(word.lower().strip("-_"), place)
    told = {member.name.lower() for member in by_id}
    by_name = [member for member in members if member.name.lower() in places and member.name.lower() not in told]
    by_name.sort(key=lambda member: (places[member.name.lower()], member.id.lower()))
    return [*by_id, *by_name]


def _words(text: str) -> list[str]:
    return text.encode("ascii", "replace").translate(_IN_NAMES).decode().split()


def _is_within(cluster_id: str, id_: str) -> bool:
    return f"{id_}/".startswith(f"{cluster_id.lower()}/")

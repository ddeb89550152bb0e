"""What one person says in one breath may be about several clusters: which messages belong together. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def by_cluster(named: Sequence[str]) -> list[list[int]]:
    """The messages about each cluster, in the order they were said. `named`: the cluster of each, or nothing.

    A message that names none belongs to the one before it; the first ones to what follows them.
    """
    groups: dict[str, list[int]] = {}
    about = next((name for name in named if name), "")
    for number, name in enumerate(named):
        about = name or about
        groups.setdefault(about, []).append(number)
    return list(groups.values())

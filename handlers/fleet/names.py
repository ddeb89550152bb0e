"""Resolves what a person typed to the one cluster they mean."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError, Denied
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.clusters import (
    WITHOUT_NEXUS,
    FleetMember,
    Look,
    ask_graph,
    fleet,
    list_by_subscription,
    list_nexus_too,
    raise_if_nothing_was_read,
)
from handlers.fleet.kinds import CONNECTED
from handlers.model import Target
from handlers.problem import Exit, Problem
from handlers.resource_id import ResourceId

__all__ = ["FleetMember", "NoSuchCluster", "fleet", "resolve"]

NEAR = 3


class NoSuchCluster(Problem):
    """No cluster has this name, as far as the lists could be read; `near` are the nearest names."""

    def __init__(self, name: str, why: str, do: str, near: tuple[str, ...]) -> None:
        super().__init__(f"cannot find {name}", why, do, code=Exit.USAGE)
        self.name, self.near = name, near


async def resolve(
    cluster: str | ClusterRef, arm: ArmReader, known_subscriptions: Iterable[str] | None = None
) -> Target:
    """The cluster that is meant, or a Problem with what to type instead. An id or a portal link asks nobody."""
    meant = ClusterRef.of(cluster).meant
    if isinstance(meant, ResourceId):
        return Target(meant)
    subscriptions = None if known_subscriptions is None else tuple(known_subscriptions)
    # The name consists of [A-Za-z0-9_-], so it cannot inject anything into the query.
    hits = _named(meant, await ask_graph(arm, subscriptions, meant))
    if not hits:
        # Resource Graph lags by minutes, and holds only what the bot may read.
        look = await list_by_subscription(arm, subscriptions, WITHOUT_NEXUS)
        if all(hit.type == CONNECTED for hit in _named(meant, look.members)):
            look = await list_nexus_too(arm, look, subscriptions)
        hits = _named(meant, look.members)
        if not hits:
            raise_if_nothing_was_read(look, f"cannot look for {meant}")
            raise _nowhere(meant, look)
        if len(hits) == 1 and (unread := [error for error in look.failed if not isinstance(error, Denied)]):
            raise _perhaps_another(hits[0], unread)
    if len(hits) > 1:
        raise _several(meant, hits)
    return Target(ResourceId.parse(hits[0].id))


def _named(name: str, members: Iterable[FleetMember]) -> list[FleetMember]:
    return [member for member in members if member.name.lower() == name.lower()]


def _several(name: str, hits: list[FleetMember]) -> Problem:
    places = "; ".join(f"{hit.name} in group {hit.group}, subscription {hit.subscription}" for hit in hits)
    return Problem(
        f"cannot tell which {name} is meant",
        f"{len(hits)} clusters have that name: {places}",
        "give the id of one: " + " or ".join(hit.id for hit in hits),
        code=Exit.USAGE,
    )


def _perhaps_another(hit: FleetMember, unread: list[ArmError]) -> Problem:
    """A cluster that could not be read may have this name too: say so instead of picking another one."""
    lists = "1 list" if len(unread) == 1 else f"{len(unread)} lists"
    return Problem(
        f"cannot tell whether there is only one {hit.name}",
        f"one is in group {hit.group}, subscription {hit.subscription}; {lists} could not be read ({unread[0].detail})",
        f"try again, or give its id: {hit.id}",
    )


def _nowhere(name: str, look: Look) -> NoSuchCluster:
    names = {member.name.lower(): member.name for member in look.members}
    near = [names[match] for match in get_close_matches(name.lower(), names, n=NEAR, cutoff=0.5)]
    where = "1 subscription" if look.subscriptions == 1 else f"{look.subscriptions} subscriptions"
    why = f"no cluster in {where} has that name"
    if look.failed:
        why += f"; {len(look.failed)} of the lists could not be read ({look.failed[0].detail})"
    if near:
        do = f"perhaps you mean {' or '.join(near)}"
    elif names:
        do = f"known are {', '.join(sorted(names.values())[:10])}"
    else:
        do = "grant aksbot-reader (deploy/azure) to the bot's identity where the cluster lives, or give its id"
    return NoSuchCluster(name, why, do, tuple(near))

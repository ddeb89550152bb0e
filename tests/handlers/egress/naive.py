"""Brute-force evaluation of NSG rules: tries every combination of unknown places containing the destination or not.

It shares no code with the product. If all combinations agree, that is the answer; else it is unknown.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from ipaddress import ip_network

SAFE = ("10.", "172.16.", "192.168.")


@dataclass(frozen=True)
class NaiveRule:
    """A rule for a public name: one place, one range of ports."""

    priority: int
    allows: bool
    protocol: str
    low: int
    high: int
    place: str


def ends(rules: list[NaiveRule], protocol: str, port: int) -> str:
    """`open`, `denied` or `unknown` for a packet to a public name."""
    open_places = sorted({one.place for one in rules if _certain(one.place) is None})
    outcomes = set()
    for choice in itertools.product((True, False), repeat=len(open_places)):
        world = dict(zip(open_places, choice, strict=True))
        outcomes.add(_first(rules, protocol, port, world))
    return outcomes.pop() if len(outcomes) == 1 else "unknown"


def _certain(place: str) -> bool | None:
    """Whether the public name is in this place; None if that is unknown."""
    if place in ("*", "Internet"):
        return True
    if place == "VirtualNetwork" or place.startswith(SAFE):
        return False
    return None


def _first(rules: list[NaiveRule], protocol: str, port: int, world: dict[str, bool]) -> str:
    ordered = sorted(rules, key=lambda one: one.priority)
    for one in ordered:
        there = _certain(one.place)
        there = world[one.place] if there is None else there
        if there and one.protocol in ("*", protocol) and one.low <= port <= one.high:
            return "open" if one.allows else "denied"
    return "open"  # AllowInternetOutBound precedes DenyAllOutBound


def longest(prefixes: list[tuple[str, str]], address: str) -> str:
    """The next hop by longest prefix match, trying all lengths from 32 down."""
    for length in range(32, -1, -1):
        wanted = ip_network(f"{address}/{length}", strict=False)
        for prefix, hop in prefixes:
            if ip_network(prefix) == wanted:
                return hop
    return "internet"

"""The whole way of a packet out of a node, in the order in which it meets things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.egress.exits import Exit
from handlers.egress.packet import Around, Fit, Packet, networks, reaches_public
from handlers.egress.routes import Hop, Route, RouteTable, hops
from handlers.egress.rules import Decision, Passage, Rule, SecurityGroup, decide


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: what its packets meet."""

    around: Around
    groups: tuple[SecurityGroup, ...]
    """Those of the interface, then that of the subnet: all must let it out."""
    table: RouteTable | None
    exit: Exit

    @property
    def routes(self) -> tuple[Route, ...]:
        return self.table.routes if self.table else ()


@dataclass(frozen=True, slots=True)
class Way:
    """What becomes of a packet, the line that proves it, and the id of what decides."""

    passage: Passage
    says: str
    subject: str = ""
    rule: Rule | None = None
    group: SecurityGroup | None = None
    route: Route | None = None

    @property
    def open(self) -> bool:
        return self.passage is Passage.OPEN


_WORST = (Passage.DENIED, Passage.UNKNOWN, Passage.BEYOND, Passage.OPEN)


def way_out(packet: Packet, place: Place) -> Way:
    """What a packet meets first that does not let it through; else how it leaves."""
    leaves = _route(packet, place)
    found = [*_groups(packet, place), leaves]
    worst = min(found, key=lambda way: _WORST.index(way.passage))
    return leaves if worst.open else worst


def _groups(packet: Packet, place: Place) -> Iterator[Way]:
    for group in place.groups:
        decision = decide(group.rules, packet, place.around)
        subject = decision.rule.id or group.id
        yield Way(decision.passage, _says_rule(decision, group, packet), subject, decision.rule, group)


def _says_rule(decision: Decision, group: SecurityGroup, packet: Packet) -> str:
    rule = decision.rule
    named = f"rule {rule.name} of security group {group.name}, priority {rule.priority},"
    what = f"{packet.protocol} {packet.port} to {', '.join(rule.targets[:3]) or 'an application security group'}"
    if decision.passage is Passage.DENIED:
        return f"{named} denies {what}"
    if decision.passage is Passage.UNKNOWN:
        does = "allows" if rule.allows else "denies"
        return f"{named} {does} {what}: whether that holds for {packet.to} cannot be told from here"
    return f"{named} allows {what}"


def _route(packet: Packet, place: Place) -> Way:
    taken = hops(place.routes, packet, place.around)
    kinds = {route.hop for route in taken}
    first = taken[0]
    if kinds == {Hop.NOWHERE} and first.own:
        return Way(Passage.DENIED, _says_route(first, place, "drops it"), _subject(first, place), route=first)
    if kinds <= {Hop.INTERNET} and packet.address is None:
        return _leaves(place, first)
    if kinds <= {Hop.APPLIANCE, Hop.GATEWAY}:
        return Way(Passage.BEYOND, _beyond(first, place), _subject(first, place), route=first)
    if kinds <= {Hop.INTERNET, Hop.LOCAL} and packet.address is not None:
        return _leaves(place, first) if first.hop is Hop.INTERNET else Way(Passage.OPEN, "stays in the network")
    return Way(Passage.UNKNOWN, _several(taken, place), _subject(first, place), route=first)


def _leaves(place: Place, route: Route) -> Way:
    passage = {Fit.YES: Passage.OPEN, Fit.NO: Passage.DENIED, Fit.MAYBE: Passage.UNKNOWN}[place.exit.works]
    return Way(passage, place.exit.says, place.exit.subject, route=route)


def _beyond(route: Route, place: Place) -> str:
    if route.hop is Hop.APPLIANCE:
        return _says_route(route, place, f"goes to appliance {route.address}: its rules are not visible from here")
    return _says_route(route, place, "goes to the virtual network gateway: what is behind it is not visible from here")


def _several(taken: tuple[Route, ...], place: Place) -> str:
    named = ", ".join(f"{route.name} ({route.hop})" if route.own else route.name for route in taken[:3])
    table = f" in route table {place.table.name}" if place.table else ""
    return f"which route it takes{table} cannot be told from here: {named}"


def _says_route(route: Route, place: Place, does: str) -> str:
    if not route.own or place.table is None:
        return f"{route.name} {does}"
    return f"route {route.name} ({route.prefix}) of route table {place.table.name} {does}"


def _subject(route: Route, place: Place) -> str:
    return route.id or (place.table.id if place.table else "")


def around(
    subnet: tuple[str, ...], space: tuple[str, ...], table: RouteTable | None, *, gateway: bool, endpoints: bool
) -> Around:
    """What is known around a subnet. Azure counts what own routes lead to as part of the tag VirtualNetwork."""
    routed = networks(route.prefix for route in table.routes) if table else ()
    propagates = gateway and (table is None or table.propagates)
    wide = propagates or any(reaches_public(network) for network in routed)
    private = tuple(network for network in routed if not reaches_public(network))
    return Around(networks(subnet), networks(space), private, wide, propagates, endpoints)

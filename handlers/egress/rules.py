"""Security groups: the first rule that is for a packet decides, by priority."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from handlers.egress import tags
from handlers.egress.packet import Around, Fit, Packet, all_of

EPHEMERAL = range(32768, 61000)
"""Ports that Linux opens connections from (net.ipv4.ip_local_port_range)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One outbound rule, as Azure keeps it."""

    name: str
    priority: int
    allows: bool
    protocol: str = "*"
    sources: tuple[str, ...] = ("*",)
    source_ports: tuple[str, ...] = ("*",)
    targets: tuple[str, ...] = ("*",)
    ports: tuple[str, ...] = ("*",)
    of_groups: bool = False
    """Its source is application security groups: who is in them cannot be told from here."""
    id: str = ""

    def fits(self, packet: Packet, around: Around) -> Fit:
        """Whether it is for a packet."""
        return all_of(
            (
                Fit.YES if self.protocol.lower() in ("*", "any", packet.protocol.lower()) else Fit.NO,
                _port(self.ports, packet.port),
                _ephemeral(self.source_ports),
                Fit.MAYBE if self.of_groups else tags.source(self.sources, around),
                self._target(packet, around),
            )
        )

    def _target(self, packet: Packet, around: Around) -> Fit:
        if self.targets:
            return tags.target(self.targets, packet, around, denies=not self.allows)
        # Application security groups: their members are interfaces of virtual networks.
        return Fit.NO if packet.address is None else Fit.MAYBE


DEFAULTS = (
    Rule("AllowVnetOutBound", 65000, allows=True, sources=("VirtualNetwork",), targets=("VirtualNetwork",)),
    Rule("AllowInternetOutBound", 65001, allows=True, targets=("Internet",)),
    Rule("DenyAllOutBound", 65500, allows=False),
)
"""What every security group ends with; nobody can change these."""


@dataclass(frozen=True, slots=True)
class SecurityGroup:
    """A network security group, with its outbound rules."""

    id: str
    name: str
    rules: tuple[Rule, ...]


class Passage(StrEnum):
    """What becomes of a packet."""

    OPEN = "open"
    DENIED = "denied"
    UNKNOWN = "unknown"
    """Nobody can tell from here: the addresses of a tag, who is in a group, routes that are not in a table."""
    BEYOND = "beyond"
    """It leaves what can be seen: what an appliance, a gateway or a proxy does with it is not visible from here."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one security group does with a packet, and by which rule."""

    passage: Passage
    rule: Rule
    """The rule that decides, or the one that makes it unknown."""


def decide(rules: Iterable[Rule], packet: Packet, around: Around) -> Decision:
    """The rule that decides. One of the other kind that stands before it and may be for the packet leaves it open."""
    perhaps: list[Rule] = []
    for rule in sorted((*rules, *DEFAULTS), key=lambda rule: rule.priority):
        fits = rule.fits(packet, around)
        if fits is Fit.MAYBE:
            perhaps.append(rule)
        if fits is Fit.YES:
            return _decided(rule, perhaps)
    return Decision(Passage.OPEN, DEFAULTS[0])  # Azure's own name server: none of the default rules is for it


def _decided(rule: Rule, perhaps: Sequence[Rule]) -> Decision:
    other = next((perhap for perhap in perhaps if perhap.allows is not rule.allows), None)
    if other:
        return Decision(Passage.UNKNOWN, other)
    if rule is DEFAULTS[-1]:
        # Only a private address comes this far, and it may count to the tag VirtualNetwork after all: Azure knows more
        # networks that are connected than peerings and gateways of this one show.
        return Decision(Passage.UNKNOWN, rule)
    return Decision(Passage.OPEN if rule.allows else Passage.DENIED, rule)


def _port(ports: Sequence[str], wanted: int) -> Fit:
    return Fit.YES if any(low <= wanted <= high for low, high in map(_range, ports)) else Fit.NO


def _ephemeral(ports: Sequence[str]) -> Fit:
    ranges = [_range(port) for port in ports]
    if any(low <= EPHEMERAL.start and EPHEMERAL.stop - 1 <= high for low, high in ranges):
        return Fit.YES
    return Fit.MAYBE if any(low < EPHEMERAL.stop and EPHEMERAL.start <= high for low, high in ranges) else Fit.NO


def _range(text: str) -> tuple[int, int]:
    """`*`, `443` or `8000-8999`; what is none of these holds no port."""
    if text in ("*", ""):
        return (0, 65535)
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        return (1, 0)

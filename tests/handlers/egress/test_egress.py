"""Evaluation of outbound packets from a node, with handwritten rule sets and against a second evaluator."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from random import Random

import pytest

from handlers.egress.exits import NatGateway, Outbound, leave
from handlers.egress.needed import published
from handlers.egress.packet import Around, Fit, Packet, cover_all_public, networks
from handlers.egress.routes import Hop, Route, RouteTable, hops
from handlers.egress.rules import Passage, Rule, SecurityGroup, decide
from handlers.egress.way import Place, around, way_out
from tests.handlers.egress import naive, table
from tests.handlers.egress.table import IMAGES, INSIDE, PACKETS, PLAIN, ROUTES, RULES, WIDE, WITH_ROUTES

RANDOM_SETS = 400
PLACES = ("*", "Internet", "VirtualNetwork", "10.0.0.0/8", "AzureFrontDoor", "Storage", "13.0.0.0/8", "20.0.0.0/8")
OUT = leave(Outbound("loadbalancer", 1), "nodes", "/nodes", None)


@pytest.mark.parametrize(("packet", "rules", "expected"), RULES)
def test_the_first_rule_that_is_for_a_packet_decides(packet: str, rules: str, expected: str) -> None:
    found = decide(table.rules(rules), PACKETS[packet], PLAIN)
    assert f"{found.passage} {found.rule.priority}" == expected


@pytest.mark.parametrize(("packet", "rules", "expected"), WITH_ROUTES)
def test_routes_widen_the_tag_virtual_network(packet: str, rules: str, expected: str) -> None:
    found = decide(table.rules(rules), PACKETS[packet], WIDE)
    assert f"{found.passage} {found.rule.priority}" == expected


@pytest.mark.parametrize(("packet", "routes", "expected"), ROUTES)
def test_the_longest_prefix_decides(packet: str, routes: str, expected: str) -> None:
    assert " ".join(one.hop for one in hops(table.routes(routes), PACKETS[packet], PLAIN)) == expected


def test_the_table_holds_eighty_cases_or_more() -> None:
    assert sum(len({*cases}) for cases in (RULES, WITH_ROUTES, ROUTES)) >= 80


@pytest.mark.parametrize("seed", range(RANDOM_SETS))
def test_random_rule_sets_end_as_they_do_when_all_possible_worlds_are_played_through(seed: int) -> None:
    dice = Random(f"rules {seed}")
    rules = [_random(dice, priority) for priority in dice.sample(range(100, 4097), dice.randint(0, 7))]
    port, protocol = dice.choice((80, 443, 9000)), dice.choice(("TCP", "UDP"))
    ours = decide([_as_ours(one) for one in rules], Packet("registry.example", port, protocol), PLAIN).passage
    theirs = naive.ends(rules, protocol, port)
    if ours is not Passage.UNKNOWN:
        assert ours == theirs, rules
    if theirs == "unknown":
        assert ours is Passage.UNKNOWN, rules
    if len({one.place for one in rules}) == len(rules) and theirs != "unknown":
        # Each place once: whether a name lies in one says nothing of another, so both must see the same.
        fits = [one for one in rules if one.protocol in ("*", protocol) and one.low <= port <= one.high]
        assert ours == theirs or len({one.allows for one in fits}) > 1, rules


def test_random_rule_sets_are_of_every_kind() -> None:
    """A generator that never denies, or never doubts, would prove nothing."""
    ends = set()
    for seed in range(RANDOM_SETS):
        dice = Random(f"rules {seed}")
        rules = [_random(dice, priority) for priority in dice.sample(range(100, 4097), dice.randint(0, 7))]
        ends.add(naive.ends(rules, "TCP", 443))
    assert ends == {"open", "denied", "unknown"}


def _random(dice: Random, priority: int) -> naive.NaiveRule:
    low = dice.choice((0, 80, 443, 8000))
    high = dice.choice([one for one in (80, 443, 9000, 65535) if one >= low])
    return naive.NaiveRule(
        priority, dice.random() < 0.5, dice.choice(("*", "TCP", "UDP")), low, high, dice.choice(PLACES)
    )


def _as_ours(rule: naive.NaiveRule) -> Rule:
    return Rule(
        f"rule-{rule.priority}",
        rule.priority,
        rule.allows,
        rule.protocol,
        targets=(rule.place,),
        ports=(f"{rule.low}-{rule.high}",),
    )


@pytest.mark.parametrize("seed", range(RANDOM_SETS))
def test_random_routes_lead_where_the_longest_prefix_does(seed: int) -> None:
    dice = Random(f"routes {seed}")
    address = IPv4Address(f"203.0.113.{dice.randrange(256)}")
    made: dict[str, Hop] = {}
    for _ in range(dice.randint(0, 6)):
        near = IPv4Address(int(address) ^ dice.choice((0, 0, 1, 1 << 9, 1 << 20)))
        prefix = str(IPv4Network(f"{near}/{dice.choice((0, 8, 16, 24, 31, 32))}", strict=False))
        made[prefix] = dice.choice((Hop.APPLIANCE, Hop.NOWHERE, Hop.GATEWAY))
    routes = [Route(prefix, prefix, hop) for prefix, hop in made.items()]
    ours = hops(routes, Packet("server", 443, address=address), PLAIN)
    assert [one.hop for one in ours] == [naive.longest([*made.items()], str(address))]


def test_a_gateway_or_a_service_endpoint_may_bring_routes_that_no_table_shows() -> None:
    nowhere = table.routes(table.NOWHERE)
    learned = Around(PLAIN.subnet, PLAIN.network, propagates=True)
    assert [one.hop for one in hops(nowhere, IMAGES, learned)] == [Hop.NOWHERE, Hop.UNSEEN]
    served = Around(PLAIN.subnet, PLAIN.network, endpoints=True)
    assert [one.hop for one in hops(nowhere, IMAGES, served)] == [Hop.NOWHERE, Hop.UNSEEN]
    assert [one.hop for one in hops((), INSIDE, learned)] == [Hop.LOCAL]


def test_a_packet_must_pass_the_interfaces_group_and_the_subnets() -> None:
    lets, stops = _group("lets", ""), _group("stops", "400 deny * * > Internet")
    for groups in ((lets, stops), (stops, lets)):
        found = way_out(IMAGES, Place(PLAIN, groups, None, OUT))
        assert found.passage is Passage.DENIED
        assert found.group is stops
    assert way_out(IMAGES, Place(PLAIN, (lets,), None, OUT)).open
    assert way_out(IMAGES, Place(PLAIN, (), None, OUT)).open


def test_a_rule_that_denies_counts_before_an_appliance_on_the_way() -> None:
    udr = RouteTable("/udr", "udr", table.routes(table.FIREWALL))
    place = Place(PLAIN, (_group("stops", "400 deny * * > Internet"),), udr, OUT)
    assert way_out(IMAGES, place).passage is Passage.DENIED
    place = Place(PLAIN, (), udr, OUT)
    assert way_out(IMAGES, place).passage is Passage.BEYOND
    assert way_out(IMAGES, place).says.endswith("goes to appliance 10.1.9.4: its rules are not visible from here")


def test_azures_route_to_nowhere_for_private_addresses_is_no_proof() -> None:
    """More networks may be connected than peerings and gateways show."""
    found = way_out(table.ABROAD, Place(PLAIN, (), None, OUT))
    assert found.passage is Passage.UNKNOWN
    own = RouteTable("/udr", "udr", table.routes("192.168.0.0/16 none"))
    assert way_out(table.ABROAD, Place(PLAIN, (), own, OUT)).passage is Passage.DENIED


def test_a_source_that_is_an_application_security_group_cannot_be_told() -> None:
    rule = Rule("some", 400, allows=False, sources=(), of_groups=True)
    assert decide([rule], IMAGES, PLAIN).passage is Passage.UNKNOWN
    target = Rule("some", 400, allows=False, targets=())
    assert decide([target], IMAGES, PLAIN).passage is Passage.OPEN  # its members are interfaces of virtual networks
    assert decide([target], INSIDE, PLAIN).passage is Passage.UNKNOWN


def test_a_rule_for_certain_source_ports_cannot_be_told() -> None:
    some = Rule("some", 400, allows=False, source_ports=("1024-40000",))
    assert decide([some], IMAGES, PLAIN).passage is Passage.UNKNOWN
    low = Rule("low", 400, allows=False, source_ports=("0-1023",))
    assert decide([low], IMAGES, PLAIN).passage is Passage.OPEN


def test_own_routes_and_gateways_widen_the_tag_virtual_network() -> None:
    def seen(text: str, *, gateway: bool = False, propagates: bool = True) -> Around:
        made = RouteTable("/udr", "udr", table.routes(text), propagates)
        return around(("10.1.0.0/24",), ("10.1.0.0/16",), made, gateway=gateway, endpoints=False)

    assert seen(table.FIREWALL).wide
    assert not seen("10.244.1.0/24 virtualappliance").wide
    assert seen("", gateway=True).wide
    assert not seen("", gateway=True, propagates=False).wide
    assert seen("192.168.0.0/16 virtualappliance").routed == networks(["192.168.0.0/16"])


@pytest.mark.parametrize(
    ("kind", "addresses", "nat", "works"),
    [
        ("loadbalancer", 1, None, Fit.YES),
        ("loadbalancer", 0, None, Fit.NO),
        ("loadbalancer", None, None, Fit.YES),
        ("managednatgateway", 0, None, Fit.NO),
        ("managednatgateway", 2, None, Fit.YES),
        ("userassignednatgateway", None, None, Fit.NO),
        ("userassignednatgateway", None, 0, Fit.NO),
        ("userassignednatgateway", None, 1, Fit.YES),
        ("loadbalancer", 0, 1, Fit.YES),
        ("userdefinedrouting", None, None, Fit.MAYBE),
        ("userdefinedrouting", None, 1, Fit.YES),
    ],
)
def test_what_leaves_for_the_internet_needs_an_address(
    kind: str, addresses: int | None, nat: int | None, works: Fit
) -> None:
    gateway = None if nat is None else NatGateway("/nat", "nat", nat)
    assert leave(Outbound(kind, addresses), "nodes", "/nodes", gateway).works is works


def test_nodes_with_addresses_of_their_own_and_the_basic_load_balancer_need_no_other() -> None:
    for outbound in (Outbound("loadbalancer", 0, nodes_have_addresses=True), Outbound("loadbalancer", 0, basic=True)):
        assert leave(outbound, "nodes", "/nodes", None).works is Fit.YES


@pytest.mark.parametrize(
    ("cloud", "sign_in"),
    [
        ("management.azure.com", "login.microsoftonline.com"),
        ("management.usgovcloudapi.net", "login.microsoftonline.us"),
        ("management.chinacloudapi.cn", "login.chinacloudapi.cn"),
        ("127.0.0.1:8443", "login.microsoftonline.com"),
    ],
)
def test_each_cloud_has_a_published_list_of_its_own(cloud: str, sign_in: str) -> None:
    hosts = [one.to for one in published(cloud)]
    assert sign_in in hosts
    assert "mcr.microsoft.com" in hosts
    assert not any(":" in one for one in hosts)


def test_all_public_addresses_are_covered_only_without_a_gap() -> None:
    assert cover_all_public(networks(["0.0.0.0/1", "128.0.0.0/1"]))
    assert not cover_all_public(networks(["0.0.0.0/1", "128.0.0.0/2"]))
    assert not cover_all_public([])


def _group(name: str, text: str) -> SecurityGroup:
    return SecurityGroup(f"/{name}", name, table.rules(text))

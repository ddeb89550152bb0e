"""Network policies, case by case: who may reach whom. The definition is that of networking.k8s.io/v1."""

from __future__ import annotations

import pytest

from handlers.diagnose.network_policies.decision import decide
from tests.handlers.network_policies.naive import passes
from tests.handlers.network_policies.world import ENDS, Body, app, block, end_of, expr, made, pods, policy, port, spaces

DENY_IN, DENY_OUT = policy(kinds=["Ingress"]), policy(kinds=["Egress"])
DENY = policy(kinds=["Ingress", "Egress"])
SHOP, DATA, SYSTEM = ({"matchLabels": {"kubernetes.io/metadata.name": one}} for one in ("shop", "data", "kube-system"))
TO_DNS = policy(egress=[{"to": [spaces(SYSTEM)], "ports": [port(53, "UDP"), port(53, "TCP")]}], kinds=["Egress"])
INTO_DB = policy("data", app("db"), [{"from": [pods(app("web"), SHOP)], "ports": [port(5432)]}])

Case = tuple[str, list[Body], str, str, int | str, bool]


def into_cart(*rules: Body) -> list[Body]:
    return [policy(select=app("cart"), ingress=list(rules))]


def from_web(*rules: Body) -> list[Body]:
    return [policy(select=app("web"), egress=list(rules), kinds=["Egress"])]


TABLE: list[Case] = [
    # no policy, and whom a policy chooses
    ("without a policy everything passes", [], "web", "cart", 8080, True),
    ("without a policy the outside is reached", [], "web", "outside", 443, True),
    (
        "a policy of another namespace chooses nobody here",
        [policy("data", kinds=["Ingress"])],
        "web",
        "cart",
        8080,
        True,
    ),
    ("a policy for other pods leaves this one free", [policy(select=app("mail"))], "web", "cart", 8080, True),
    ("default deny into a namespace", [DENY_IN], "web", "cart", 8080, False),
    ("default deny into a namespace, from outside", [DENY_IN], "outside", "cart", 8080, False),
    ("default deny inwards lets out", [DENY_IN], "web", "outside", 443, True),
    ("default deny outwards", [DENY_OUT], "web", "outside", 443, False),
    ("default deny outwards lets in", [DENY_OUT], "outside", "cart", 8080, True),
    ("default deny both ways", [DENY], "web", "cart", 8080, False),
    ("a selector by expression chooses", [policy(select=expr("tier", "In", "back"))], "web", "cart", 8080, False),
    ("a selector by expression spares", [policy(select=expr("tier", "NotIn", "back"))], "web", "cart", 8080, True),
    ("NotIn takes pods without the label", [policy(select=expr("ring", "NotIn", "0"))], "web", "cart", 8080, False),
    ("Exists takes any value", [policy(select=expr("tier", "Exists"))], "web", "cart", 8080, False),
    ("DoesNotExist spares who has it", [policy(select=expr("tier", "DoesNotExist"))], "web", "cart", 8080, True),
    ("without policyTypes it is about ingress", [policy()], "web", "cart", 8080, False),
    ("without policyTypes and egress it lets out", [policy()], "web", "outside", 443, True),
    ("without policyTypes but with egress it is about both", [policy(egress=[{}])], "web", "cart", 8080, False),
    ("without policyTypes but with egress, outwards by its rules", [policy(egress=[{}])], "web", "outside", 443, True),
    (
        "rules of a direction that is not its type do nothing",
        [policy(ingress=[], kinds=["Egress"], egress=[{}])],
        "web",
        "cart",
        1,
        True,
    ),
    # peers
    ("an empty rule lets everybody in", into_cart({}), "outside", "cart", 8080, True),
    ("an empty list of peers is everybody", into_cart({"from": []}), "outside", "cart", 8080, True),
    ("pods of the same namespace", into_cart({"from": [pods(app("web"))]}), "web", "cart", 8080, True),
    ("other pods of the same namespace", into_cart({"from": [pods(app("mail"))]}), "web", "cart", 8080, False),
    ("a pod selector alone never means another namespace", into_cart({"from": [pods({})]}), "db", "cart", 8080, False),
    ("every pod of the same namespace", into_cart({"from": [pods({})]}), "web", "cart", 8080, True),
    ("a namespace by its name", into_cart({"from": [spaces(DATA)]}), "db", "cart", 8080, True),
    ("another namespace by its name", into_cart({"from": [spaces(SYSTEM)]}), "db", "cart", 8080, False),
    ("every namespace", into_cart({"from": [spaces({})]}), "db", "cart", 8080, True),
    ("every namespace is not the outside", into_cart({"from": [spaces({})]}), "outside", "cart", 8080, False),
    (
        "namespace and pod in one entry: both hold",
        into_cart({"from": [pods(app("db"), DATA)]}),
        "db",
        "cart",
        8080,
        True,
    ),
    (
        "namespace and pod in one entry: one does not",
        into_cart({"from": [pods(app("db"), SHOP)]}),
        "db",
        "cart",
        8080,
        False,
    ),
    (
        "namespace and pod in two entries: either",
        into_cart({"from": [pods(app("x")), spaces(DATA)]}),
        "db",
        "cart",
        8080,
        True,
    ),
    (
        "a namespace by another label",
        into_cart({"from": [spaces({"matchLabels": {"team": "data"}})]}),
        "db",
        "cart",
        8080,
        True,
    ),
    ("an address block", into_cart({"from": [block("203.0.113.0/24")]}), "outside", "cart", 8080, True),
    ("another address block", into_cart({"from": [block("198.51.100.0/24")]}), "outside", "cart", 8080, False),
    (
        "an excepted address",
        into_cart({"from": [block("203.0.113.0/24", "203.0.113.0/28")]}),
        "outside",
        "cart",
        8080,
        False,
    ),
    (
        "beside what is excepted",
        into_cart({"from": [block("203.0.113.0/24", "203.0.113.8/29")]}),
        "outside",
        "cart",
        8080,
        True,
    ),
    (
        "excepted here, allowed there",
        into_cart({"from": [block("0.0.0.0/0", "203.0.113.0/24"), block("203.0.113.7/32")]}),
        "outside",
        "cart",
        1,
        True,
    ),
    ("everywhere outwards", from_web({"to": [block("0.0.0.0/0")]}), "web", "outside", 443, True),
    (
        "everywhere but private networks",
        from_web({"to": [block("0.0.0.0/0", "10.0.0.0/8")]}),
        "web",
        "private",
        1433,
        False,
    ),
    (
        "everywhere but private networks: a pod is in one",
        from_web({"to": [block("0.0.0.0/0", "10.0.0.0/8")]}),
        "web",
        "cart",
        8080,
        False,
    ),
    ("a block that holds a pod's address", from_web({"to": [block("10.244.0.0/16")]}), "web", "cart", 8080, True),
    ("all of IPv4 is not IPv6", from_web({"to": [block("0.0.0.0/0")]}), "web", "six", 80, False),
    ("all of IPv6", from_web({"to": [block("::/0")]}), "web", "six", 80, True),
    ("an IPv6 address that is excepted", from_web({"to": [block("::/0", "fd00::/8")]}), "web", "six", 80, False),
    # ports
    ("the port of a rule", into_cart({"ports": [port(8080)]}), "web", "cart", 8080, True),
    ("another port", into_cart({"ports": [port(8080)]}), "web", "cart", 8081, False),
    ("the protocol is TCP unless it says so", into_cart({"ports": [port(8080)]}), "web", "cart", "8080/UDP", False),
    ("UDP where it says so", into_cart({"ports": [port(8080, "UDP")]}), "web", "cart", "8080/UDP", True),
    ("SCTP is a protocol of its own", into_cart({"ports": [port(8080, "SCTP")]}), "web", "cart", "8080/SCTP", True),
    (
        "a protocol without a number is all its ports",
        into_cart({"ports": [port(None, "TCP")]}),
        "web",
        "cart",
        9999,
        True,
    ),
    (
        "a protocol without a number is no other protocol",
        into_cart({"ports": [port(None, "TCP")]}),
        "web",
        "cart",
        "53/UDP",
        False,
    ),
    ("the first of a range", into_cart({"ports": [port(8000, end=8100)]}), "web", "cart", 8000, True),
    ("the last of a range", into_cart({"ports": [port(8000, end=8100)]}), "web", "cart", 8100, True),
    ("behind a range", into_cart({"ports": [port(8000, end=8100)]}), "web", "cart", 8101, False),
    ("before a range", into_cart({"ports": [port(8000, end=8100)]}), "web", "cart", 7999, False),
    ("a named port of the pod that answers", into_cart({"ports": [port("http")]}), "web", "cart", 8080, True),
    ("a named port is that number only", into_cart({"ports": [port("http")]}), "web", "cart", 9000, False),
    ("a name that the pod does not have", into_cart({"ports": [port("grpc")]}), "web", "cart", 8080, False),
    ("a name for another protocol", into_cart({"ports": [port("http", "UDP")]}), "web", "cart", "8080/UDP", False),
    ("outwards the name is the other pod's too", from_web({"ports": [port("http")]}), "web", "cart", 8080, True),
    ("a name means nothing outside", from_web({"ports": [port("https")]}), "web", "outside", 443, False),
    (
        "an empty list of ports is every port",
        into_cart({"from": [pods(app("web"))], "ports": []}),
        "web",
        "cart",
        1,
        True,
    ),
    (
        "peer and port must hold in one rule",
        into_cart({"from": [pods(app("web"))], "ports": [port(1)]}, {"from": [pods(app("x"))], "ports": [port(8080)]}),
        "web",
        "cart",
        8080,
        False,
    ),
    # several policies, both directions
    (
        "what one policy allows, another cannot forbid",
        [DENY, policy(ingress=[{}]), policy(egress=[{}], kinds=["Egress"])],
        "web",
        "cart",
        8080,
        True,
    ),
    ("allowed out, not allowed in", [DENY_IN, *from_web({})], "web", "cart", 8080, False),
    ("allowed in, not allowed out", [DENY_OUT, *into_cart({})], "web", "cart", 8080, False),
    (
        "two policies for one pod: either is enough",
        [*into_cart({"ports": [port(9000)]}), *into_cart({"ports": [port(8080)]})],
        "web",
        "cart",
        8080,
        True,
    ),
    ("into another namespace by both labels", [INTO_DB], "web", "db", 5432, True),
    ("into another namespace, the wrong pod", [INTO_DB], "cart", "db", 5432, False),
    ("into another namespace, the wrong port", [INTO_DB], "web", "db", 5433, False),
    ("default deny out, into another namespace", [DENY_OUT, INTO_DB], "web", "db", 5432, False),
    # DNS
    ("default deny out forbids DNS", [DENY_OUT], "web", "dns", "53/UDP", False),
    ("DNS by the namespace of CoreDNS", [DENY_OUT, TO_DNS], "web", "dns", "53/UDP", True),
    ("DNS over TCP", [DENY_OUT, TO_DNS], "web", "dns", "53/TCP", True),
    ("a rule for port 53 without a protocol is TCP", from_web({"ports": [port(53)]}), "web", "dns", "53/UDP", False),
    # nodes, and pods in their network
    ("the node of a pod always reaches it", [DENY_IN], "n2", "cart", 8080, True),
    ("another node does not", [DENY_IN], "n1", "cart", 8080, False),
    ("another node by its address", into_cart({"from": [block("10.224.0.0/16")]}), "n1", "cart", 8080, True),
    (
        "a pod in the host's network is no pod for selectors",
        into_cart({"from": [pods(app("agent"))]}),
        "agent",
        "web",
        80,
        True,
    ),
    ("a pod in the host's network is not restricted", [DENY], "agent", "outside", 443, True),
    ("a pod in the host's network of the same node reaches it", [DENY_IN], "agent", "cart", 8080, True),
    ("a pod in the host's network of another node does not", [DENY_IN], "agent", "web", 80, False),
    ("policies do not guard a pod in the host's network", [DENY_IN], "web", "agent", 9100, True),
    (
        "outwards its node's address counts, not its labels",
        from_web({"to": [pods(app("agent"))]}),
        "web",
        "agent",
        9100,
        False,
    ),
    (
        "outwards, a block with its node's address",
        from_web({"to": [block("10.224.0.5/32")]}),
        "web",
        "agent",
        9100,
        True,
    ),
    ("a pod always reaches itself", [DENY], "cart", "cart", 8080, True),
]


def numbered(wanted: int | str) -> tuple[int, str]:
    number, _, protocol = str(wanted).partition("/")
    return int(number), protocol or "TCP"


@pytest.mark.parametrize(
    ("policies", "source", "target", "wanted", "expected"),
    [case[1:] for case in TABLE],
    ids=[case[0] for case in TABLE],
)
def test_who_may_reach_whom(policies: list[Body], source: str, target: str, wanted: int | str, expected: bool) -> None:
    number, protocol = numbered(wanted)
    decision = decide(made(policies), end_of(ENDS[source]), end_of(ENDS[target]), number, protocol)
    assert decision.allowed is expected
    assert passes(policies, ENDS[source], ENDS[target], number, protocol) is expected


@pytest.mark.parametrize(
    ("target", "expected"), [("outside", True), ("cart", False), ("dns", False), ("agent", False), ("n1", False)]
)
def test_to_cilium_a_block_is_about_what_is_outside_of_the_cluster(target: str, expected: bool) -> None:
    """Azure CNI powered by Cilium: policies cannot use ipBlock to allow access to node or pod IPs."""
    policies = from_web({"to": [block("0.0.0.0/0")]})
    ends = end_of(ENDS["web"]), end_of(ENDS[target])
    assert decide(made(policies, cilium=True), *ends, 443).allowed is expected
    assert passes(policies, ENDS["web"], ENDS[target], 443, "TCP", cilium=True) is expected
    assert decide(made(policies), *ends, 443).allowed


def test_to_cilium_a_selector_beside_a_block_still_means_pods() -> None:
    policies = from_web({"to": [block("0.0.0.0/0"), pods(app("cart"))]})
    assert decide(made(policies, cilium=True), end_of(ENDS["web"]), end_of(ENDS["cart"]), 8080).allowed


def test_the_table_is_long_enough_and_says_nothing_twice() -> None:
    assert len(TABLE) >= 80
    assert len({case[0] for case in TABLE}) == len(TABLE)


def test_the_side_that_drops_is_named_with_its_policies() -> None:
    deny = policy(kinds=["Ingress"], name="default-deny")
    mine = policy(select=app("cart"), ingress=[{"from": [pods(app("mail"))]}], name="only-mail")
    decision = decide(made([deny, mine]), end_of(ENDS["web"]), end_of(ENDS["cart"]), 8080)
    assert decision.blocking is not None
    assert decision.blocking.direction == "Ingress"
    assert [one.name for one in decision.blocking.choosing] == ["default-deny", "only-mail"]

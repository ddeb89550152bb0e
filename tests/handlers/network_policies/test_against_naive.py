"""Random policies and endpoints: the evaluator and a naive one must agree."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handlers.diagnose.network_policies.decision import decide
from tests.handlers.network_policies.naive import passes
from tests.handlers.network_policies.world import ENDS, Body, end_of, made

LABELS = st.sampled_from(["app", "tier", "ring"])
VALUES = st.sampled_from(["web", "cart", "db", "front", "back", "0"])
NUMBERS = st.sampled_from([53, 80, 5432, 8080, 9000])
PROTOCOLS = st.sampled_from(["TCP", "UDP"])
CIDRS = st.sampled_from(
    ["0.0.0.0/0", "10.0.0.0/8", "10.244.0.0/16", "10.224.0.5/32", "203.0.113.0/24", "::/0", "fd00::/8"]
)


def optional(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    return st.fixed_dictionaries({}, optional=parts)


@st.composite
def expressions(draw: st.DrawFn) -> Body:
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]))
    values = draw(st.lists(VALUES, min_size=1, max_size=2)) if operator in ("In", "NotIn") else []
    return {"key": draw(LABELS), "operator": operator, "values": values}


SELECTORS = optional(
    matchLabels=st.dictionaries(LABELS, VALUES, max_size=2), matchExpressions=st.lists(expressions(), max_size=2)
)
SPACES = optional(matchLabels=st.fixed_dictionaries({"team": st.sampled_from(["shop", "data", "kube"])}))
BLOCKS = st.fixed_dictionaries({"cidr": CIDRS}).map(lambda body: {"ipBlock": body})
HOLED = st.just({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.244.1.0/24"]}})
PEERS = (
    st.one_of(
        st.fixed_dictionaries({"podSelector": SELECTORS}, optional={"namespaceSelector": SPACES}),
        st.fixed_dictionaries({"namespaceSelector": SPACES}),
    )
    | BLOCKS
    | HOLED
)
RANGES = NUMBERS.map(lambda first: {"port": first, "endPort": first + 1000})
NAMED = st.sampled_from(["http", "pg", "dns"]).map(lambda name: {"port": name})
PORTS = st.tuples(st.one_of(RANGES, NAMED, NUMBERS.map(lambda one: {"port": one}), st.just({})), PROTOCOLS).map(
    lambda pair: pair[0] | {"protocol": pair[1]}
)


def rules(peers: str) -> st.SearchStrategy[list[Body]]:
    return st.lists(optional(**{peers: st.lists(PEERS, max_size=2), "ports": st.lists(PORTS, max_size=2)}), max_size=2)


SPECS = st.fixed_dictionaries(
    {"podSelector": SELECTORS},
    optional={
        "ingress": rules("from"),
        "egress": rules("to"),
        "policyTypes": st.sampled_from([["Ingress"], ["Egress"], ["Ingress", "Egress"]]),
    },
)
POLICIES = st.lists(
    st.tuples(st.sampled_from(["shop", "data"]), SPECS).map(
        lambda pair: {"metadata": {"namespace": pair[0], "name": "one"}, "spec": pair[1]}
    ),
    max_size=3,
)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(POLICIES, st.sampled_from(sorted(ENDS)), st.sampled_from(sorted(ENDS)), NUMBERS, PROTOCOLS, st.booleans())
def test_both_say_the_same(
    policies: list[Body], source: str, target: str, number: int, protocol: str, cilium: bool
) -> None:
    rules = made(policies, cilium=cilium)
    ours = decide(rules, end_of(ENDS[source]), end_of(ENDS[target]), number, protocol).allowed
    assert ours is passes(policies, ENDS[source], ENDS[target], number, protocol, cilium=cilium)

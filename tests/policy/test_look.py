"""The look decision: any matching rule allows, an empty list allows nobody, external users must be listed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.policy.look import Allowed, Asker, Decision, Refused, Why, may_look, reads_outside
from bot.policy.model import Look, LookRule, Policy

INCIDENTS, LEADS, DIRECT_CONVERSATION = "C0INCIDENTS", "G0LEADS", "D0REQUESTER"
REQUESTER = Asker("T0HOME", "U0REQUESTER")
GUEST = Asker("T0HOME", "U0GUEST", guest=True)
PARTNER = Asker("T0HOME", "U0PARTNER", stranger=True)


def _look(*rules: LookRule, **more: object) -> Look:
    return Look.model_validate({"rules": [one.model_dump(mode="json") for one in rules], **more})


def _why(decision: Decision) -> Why:
    assert isinstance(decision, Refused)
    return decision.why


@pytest.mark.parametrize("channel", [INCIDENTS, LEADS, DIRECT_CONVERSATION, None])
def test_by_default_everybody_of_the_workspace_may_look_at_everything(channel: str | None) -> None:
    look = Policy().look
    assert may_look(look, REQUESTER, channel, "prod-weu") == Allowed(1)
    assert _why(may_look(look, GUEST, channel, "prod-weu")) is Why.GUEST
    assert _why(may_look(look, PARTNER, channel, "prod-weu")) is Why.STRANGER


def test_no_rule_at_all_lets_nobody_look() -> None:
    assert _why(may_look(_look(), REQUESTER, INCIDENTS, "prod-weu")) is Why.CLUSTER


@pytest.mark.parametrize("field", ["channels", "people"])
def test_an_empty_list_is_nobody(field: str) -> None:
    look = Look.model_validate({"rules": [{"clusters": ["*"], field: []}]})
    assert isinstance(may_look(look, REQUESTER, INCIDENTS, "prod-weu"), Refused)


@pytest.mark.parametrize(
    ("glob", "cluster", "fits"),
    [
        ("prod-*", "prod-weu", True),
        ("PROD-*", "prod-weu", True),
        ("prod-weu", "PROD-WEU", True),
        ("prod-*", "preprod-weu", False),
        ("prod", "prod-weu", False),
        ("edge-nexus-0[12]", "edge-nexus-02", True),
        ("edge-nexus-0[12]", "edge-nexus-03", False),
    ],
)
def test_clusters_are_meant_by_their_names_in_any_case(glob: str, cluster: str, fits: bool) -> None:
    decision = may_look(_look(LookRule(clusters=(glob,))), REQUESTER, INCIDENTS, cluster)
    assert isinstance(decision, Allowed) == fits


def test_a_cluster_for_one_channel_is_refused_in_others_and_the_channel_is_named() -> None:
    look = _look(LookRule(clusters=("prod-*",), channels=(INCIDENTS,)))
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu") == Allowed(1)
    assert may_look(look, REQUESTER, LEADS, "prod-weu") == Refused(Why.PLACE, (INCIDENTS,))
    assert may_look(look, REQUESTER, DIRECT_CONVERSATION, "prod-weu") == Refused(Why.PLACE, (INCIDENTS,))


def test_app_home_and_direct_messages_are_one_place() -> None:
    look = _look(LookRule(clusters=("*",), channels=("direct",)))
    assert may_look(look, REQUESTER, DIRECT_CONVERSATION, "dev-shared") == Allowed(1)
    assert may_look(look, REQUESTER, None, "dev-shared") == Allowed(1)
    assert _why(may_look(look, REQUESTER, INCIDENTS, "dev-shared")) is Why.PLACE


def test_a_person_is_one_of_their_own_team() -> None:
    look = _look(LookRule(clusters=("*",), people=("T0HOME:U0REQUESTER",)))
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu") == Allowed(1)
    assert _why(may_look(look, Asker("T0OTHER", "U0REQUESTER"), INCIDENTS, "prod-weu")) is Why.PERSON


def test_a_group_lets_its_members_look() -> None:
    look = _look(LookRule(clusters=("*",), people=("S0ONCALL",)))
    member = Asker("T0HOME", "U0APPROVER", groups=frozenset({"S0ONCALL"}))
    assert may_look(look, member, INCIDENTS, "prod-weu") == Allowed(1)
    assert _why(may_look(look, REQUESTER, INCIDENTS, "prod-weu")) is Why.PERSON


def test_the_rule_that_says_yes_is_named_whichever_it_is() -> None:
    look = _look(LookRule(clusters=("prod-*",), channels=(LEADS,)), LookRule(clusters=("*",)))
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu") == Allowed(2)


def test_outsiders_in_a_listed_channel_are_held_by_the_rules_too() -> None:
    look = _look(LookRule(clusters=("dev-*",)), guests=[INCIDENTS], slack_connect=[LEADS])
    assert may_look(look, GUEST, INCIDENTS, "dev-shared") == Allowed(1)
    assert _why(may_look(look, GUEST, INCIDENTS, "prod-weu")) is Why.CLUSTER
    assert _why(may_look(look, GUEST, LEADS, "dev-shared")) is Why.GUEST
    assert may_look(look, PARTNER, LEADS, "dev-shared") == Allowed(1)
    assert _why(may_look(look, PARTNER, INCIDENTS, "dev-shared")) is Why.STRANGER


_CHANNELS = st.sampled_from([INCIDENTS, LEADS, "direct", "*"])
_PEOPLE = st.sampled_from(["*", "T0HOME:U0REQUESTER", "S0ONCALL"])
_RULES = st.builds(
    LookRule,
    clusters=st.lists(st.sampled_from(["prod-*", "*", "dev-shared"]), min_size=1, max_size=2).map(tuple),
    channels=st.lists(_CHANNELS, max_size=2).map(tuple),
    people=st.lists(_PEOPLE, max_size=2).map(tuple),
)
_LOOKS = st.builds(
    Look,
    rules=st.lists(_RULES, max_size=3).map(tuple),
    guests=st.lists(_CHANNELS, max_size=1).map(tuple),
    slack_connect=st.lists(_CHANNELS, max_size=1).map(tuple),
)


@given(
    look=_LOOKS,
    guest=st.booleans(),
    stranger=st.booleans(),
    groups=st.sampled_from([frozenset[str](), frozenset({"S0ONCALL"})]),
    channel=st.sampled_from([INCIDENTS, LEADS, DIRECT_CONVERSATION]),
    cluster=st.sampled_from(["prod-weu", "dev-shared"]),
)
def test_who_belongs_less_may_never_look_at_more(
    look: Look, guest: bool, stranger: bool, groups: frozenset[str], channel: str, cluster: str
) -> None:
    """The gate relies on it: what an outsider without groups may do, everybody may."""
    least = may_look(look, Asker("T0HOME", "U0REQUESTER", guest=True, stranger=True), channel, cluster)
    asked = may_look(look, Asker("T0HOME", "U0REQUESTER", guest, stranger, groups), channel, cluster)
    most = may_look(look, Asker("T0HOME", "U0REQUESTER", groups=frozenset({"S0ONCALL"})), channel, cluster)
    assert [isinstance(one, Allowed) for one in (least, asked, most)] == sorted(
        isinstance(one, Allowed) for one in (least, asked, most)
    )


def test_whom_people_may_ask_about_is_a_matter_of_the_rule_that_lets_them_look() -> None:
    look = _look(LookRule(clusters=("prod-*",), service_accounts=("shop/*",)))
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu", "shop/web") == Allowed(1)
    assert _why(may_look(look, REQUESTER, INCIDENTS, "prod-weu", "kube-system/coredns")) is Why.ACCOUNT
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu") == Allowed(1)


def test_without_a_word_in_the_policy_whoever_may_look_may_ask_about_every_account() -> None:
    look = _look(LookRule(clusters=("prod-*",)))
    assert may_look(look, REQUESTER, INCIDENTS, "prod-weu", "kube-system/coredns") == Allowed(1)
    assert _why(may_look(look, REQUESTER, INCIDENTS, "dev-shared", "shop/web")) is Why.CLUSTER


@pytest.mark.parametrize(
    ("look", "shared", "guests", "outside"),
    [
        (Look(), False, False, False),
        (Look(), True, False, True),
        (Look(), False, True, True),
        (Look(slack_connect=("C0SHARED",)), True, False, False),
        (Look(slack_connect=("C0OTHER",)), True, False, True),
        (Look(guests=("C0SHARED",)), False, True, False),
        (Look(guests=("C0SHARED",)), True, True, True),
        (Look(guests=("*",), slack_connect=("*",)), True, True, False),
    ],
)
def test_a_channel_is_outside_if_somebody_reads_along_who_may_not_look_there(
    look: Look, shared: bool, guests: bool, outside: bool
) -> None:
    assert reads_outside(look, "C0SHARED", shared=shared, guests=guests) is outside

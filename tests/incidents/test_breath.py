"""Which consecutive messages belong together, and which cluster they are about."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as some

from bot.incidents.breath import by_cluster
from bot.incidents.named import names_in, words_of
from bot.incidents.store import Incidents
from bot.store.connect import Connection
from handlers.model import Diagnosis, Finding, Ranked
from tests.bot import diagnoses

NAMES = some.lists(some.sampled_from(["", "prod-weu", "prod-eus2", "staging"]), max_size=12)


@given(NAMES)
def test_each_message_is_in_one_group_and_no_group_names_two_clusters(named: list[str]) -> None:
    groups = by_cluster(named)
    assert sorted(number for group in groups for number in group) == list(range(len(named)))
    for group in groups:
        assert len({named[number] for number in group} - {""}) <= 1
        assert group == sorted(group)


def test_what_names_no_cluster_belongs_to_what_was_said_before_it_and_the_first_words_to_what_follows() -> None:
    assert by_cluster(["", "prod-weu", "", "staging", ""]) == [[0, 1, 2], [3, 4]]
    assert by_cluster(["", ""]) == [[0, 1]]


def diagnosis(*findings: Finding) -> Diagnosis:
    return Diagnosis(diagnoses.TARGET, tuple(map(Ranked, findings)), (), (), 0.0)


def test_a_check_names_nodes_pods_and_namespaces_but_not_what_every_cluster_has() -> None:
    found = names_in(
        diagnosis(
            Finding("node-not-ready", "Node/aks-apps-123-vmss000002", ("it is not ready",)),
            Finding(
                "image-missing",
                "payments/Deployment/checkout-api",
                ("no image",),
                facts={"pod": "payments/checkout-api-7d9f-x2x"},
            ),
            Finding("dns-down", "kube-system/Deployment/coredns", ("it is down",)),
        )
    )
    assert found == ["aks-apps-123-vmss000002", "payments", "checkout-api", "checkout-api-7d9f-x2x"]


def test_a_plain_word_is_a_namespace_only_where_it_is_called_one() -> None:
    assert "payments" not in words_of("the payments team is angry")
    assert "payments" in words_of("pods in namespace payments crash")
    assert "payments" in words_of("payments/checkout-api-7d9f-x2x crashes")
    assert "aks-apps-123-vmss000002" in words_of("Node aks-apps-123-vmss000002: NotReady")


async def test_what_a_check_has_named_tells_its_cluster_and_what_two_have_named_tells_both(
    connection: Connection,
) -> None:
    incidents, team = Incidents(connection.redis), f"T{uuid4().hex}"
    await incidents.note_named(team, "prod-weu", ["aks-apps-123-vmss000002", "checkout-api"])
    await incidents.note_named(team, "prod-eus2", ["checkout-api"])
    said = "aks-apps-123-vmss000002 is gone and checkout-api crashes"
    assert dict(await incidents.clusters_named_in(team, said)) == {
        "aks-apps-123-vmss000002": ["prod-weu"],
        "checkout-api": ["prod-eus2", "prod-weu"],
    }
    assert await incidents.clusters_named_in(f"{team}-other", said) == []

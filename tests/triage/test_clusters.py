"""A cluster is found by whatever names it, and by nothing else."""

from __future__ import annotations

import pytest

from bot.triage.clusters import FleetNames, chosen
from handlers.fleet.clusters import FleetMember
from tests.bench.triage import FLEET

_ID = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/{}/providers/{}/{}"


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        ("prod-weu is down", "prod-weu"),
        ("PROD-WEU", "prod-weu"),
        ("prod_weu", "prod-weu"),
        ("prod weu has a problem", "prod-weu"),
        ("prodweu has a problem", "prod-weu"),
        (
            "/SUBSCRIPTIONS/x/resourcegroups/RG/providers/Microsoft.ContainerService/managedClusters/Prod-WEU",
            "prod-weu",
        ),
        ("https://prod-weu-dns-0c9e41fa.hcp.westeurope.azmk8s.io:443/api", "prod-weu"),
        ("MC_rg-prod-weu_prod-weu_westeurope is locked", "prod-weu"),
        ("cluster=payments-prod severity=1", "payments-prod"),
        ("`edge-nexus-01`", "edge-nexus-01"),
        ("prod-wue is down", "prod-weu"),
        ("paymets-prod is down", "payments-prod"),
        ("edge-nexus-03 is down", None),
        ("prod-weu-2 is down", None),
        ("prod-weu2 is down", None),
        ("dev shared a link", None),
        ("production is down", None),
        ("nothing named", None),
    ],
)
def test_a_name_is_found_in_each_spelling_and_no_other_name(text: str, cluster: str | None) -> None:
    assert chosen(FLEET.find(text)) == (cluster, ())


def test_a_slip_between_two_names_is_a_choice() -> None:
    assert chosen(FLEET.find("prod-eu2 is down")) == (None, ("prod-eus2", "prod-weu"))


def test_the_longer_of_two_names_is_meant() -> None:
    fleet = FleetNames(("prod", "prod-weu", "prod-weu-blue"))
    assert chosen(fleet.find("prod-weu-blue is down")) == ("prod-weu-blue", ())


def test_a_name_that_is_a_word_counts_beside_the_word_cluster_only() -> None:
    fleet = FleetNames(("test", "main"))
    assert fleet.find("this is a test of the main branch") == []
    assert chosen(fleet.find("cluster test is down")) == ("test", ())
    assert chosen(fleet.find("the test cluster is down")) == ("test", ())


def test_a_name_in_full_beats_one_inside_another_name() -> None:
    assert chosen(FLEET.find("prod-weu: the vnet dev-shared-hub does not answer")) == ("prod-weu", ())


def test_a_resource_group_with_one_cluster_names_it() -> None:
    kind = "Microsoft.ContainerService/managedClusters"
    ids = [_ID.format(group, kind, name) for group, name in (("shop", "a-one"), ("both", "b-one"), ("both", "b-two"))]
    fleet = FleetNames.of(FleetMember(id_.rpartition("/")[2], id_, kind, "westeurope", "x") for id_ in ids)
    vm = _ID.format("SHOP", "Microsoft.Compute/disks", "pvc-1")
    assert chosen(fleet.find(f"{vm} failed")) == ("a-one", ())
    assert fleet.find(_ID.format("both", "Microsoft.Compute/disks", "pvc-1")) == []


def test_evidence_ties_a_node_to_its_cluster() -> None:
    fleet = FleetNames(("prod-weu",), {"aks-apps-12345678-vmss": "prod-weu"})
    assert chosen(fleet.find("aks-apps-12345678-vmss000003 NotReady")) == ("prod-weu", ())

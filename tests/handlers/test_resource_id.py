"""Ids print as they came and compare in any case."""

import pytest

from handlers.resource_id import BadResourceId, ResourceId, same, within

SUB = "5a1c0000-0000-4000-8000-000000000001"
CLUSTER = f"/subscriptions/{SUB}/resourcegroups/Rg-1/providers/Microsoft.ContainerService/managedClusters/prod-weu"


def test_an_id_is_taken_apart_and_printed_as_it_came() -> None:
    one = ResourceId.parse(CLUSTER)
    assert str(one) == CLUSTER
    assert (one.subscription, one.resource_group, one.name) == (SUB, "Rg-1", "prod-weu")
    assert one.is_a("microsoft.containerservice/MANAGEDCLUSTERS")
    assert one.group_id == f"/subscriptions/{SUB}/resourceGroups/Rg-1"


@pytest.mark.parametrize(
    ("tail", "kind", "name"),
    [
        ("/agentPools/apps", "Microsoft.ContainerService/managedClusters/agentPools", "apps"),
        ("/providers/Microsoft.Authorization/locks/keep", "Microsoft.Authorization/locks", "keep"),
    ],
)
def test_children_and_extensions_have_their_own_type(tail: str, kind: str, name: str) -> None:
    one = ResourceId.parse(CLUSTER + tail)
    assert (one.type, one.name) == (kind, name)


def test_groups_and_subscriptions_are_resources_too() -> None:
    assert ResourceId.parse(f"/subscriptions/{SUB}/resourceGroups/rg").type.endswith("resourceGroups")
    assert ResourceId.parse(f"/subscriptions/{SUB}/").type.endswith("subscriptions")


@pytest.mark.parametrize(
    "text", ["", "prod-weu", "/subscriptions/nope", CLUSTER.rsplit("/", 1)[0], CLUSTER + "/agentPools", "/x" * 50]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(BadResourceId):
        ResourceId.parse(text)


def test_case_does_not_matter_and_prefixes_end_at_a_slash() -> None:
    assert same(CLUSTER, CLUSTER.upper() + "/")
    assert within(CLUSTER.upper(), CLUSTER + "/agentPools/x")
    assert not within(CLUSTER, CLUSTER + "2")
    assert not within(CLUSTER + "/agentPools/x", CLUSTER)

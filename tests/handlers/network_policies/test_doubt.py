"""When a dropped connection is no proof against a policy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from handlers.diagnose.network_policies.doubt import doubt
from handlers.diagnose.network_policies.paths import Dropped, Target, dropped, end_of
from handlers.evidence.policy_peers import OtherPolicies
from handlers.evidence.workloads.pods import WorkloadPod, read_workload_pod
from handlers.model import NotApplicable, Unavailable, Why
from tests.handlers.network_policies.world import made, policy

NONE = NotApplicable("nothing here has network policies of its own kind")
DENY_OUT, DENY_IN = policy(kinds=["Egress"], name="deny-out"), policy("data", kinds=["Ingress"], name="deny-in")


def pod(namespace: str, name: str, address: str) -> WorkloadPod:
    body = {"metadata": {"namespace": namespace, "name": name, "uid": name}, "status": {"podIP": address}}
    return read_workload_pod(body | {"spec": {"containers": []}})


def drop(*policies: dict[str, object]) -> Dropped:
    """From shop/web to data/db."""
    target = Target("data/db:5432", (), ((end_of(pod("data", "db", "10.244.2.13"), {}), 5432),))
    return next(dropped(made([*policies]), pod("shop", "web", "10.244.0.11"), [target], {}))


def others(*names: str, truncated: bool = False) -> OtherPolicies:
    return OtherPolicies(source="here", taken_at=datetime(2026, 11, 19, tzinfo=UTC), truncated=truncated, names=names)


def test_where_all_were_read_and_there_is_no_other_kind_a_drop_is_proof() -> None:
    assert doubt(drop(DENY_OUT), NONE) is None
    assert doubt(drop(DENY_OUT), others()) is None


def test_of_a_part_of_the_policies_none_is_blamed() -> None:
    told = doubt(drop(DENY_OUT), NONE, all_read=False)
    assert told is not None
    assert "only a part of the network policies was read" in str(told)


def test_what_could_not_be_read_is_said_as_it_was_refused() -> None:
    refused = Unavailable("the policies of Cilium", Why.DENIED, "403")
    assert doubt(drop(DENY_OUT), refused) is refused


@pytest.mark.parametrize(
    ("name", "is_doubtful"),
    [
        ("CiliumNetworkPolicy shop/allow", True),
        ("GlobalNetworkPolicy allow", True),
        ("policy shop/allow", True),  # lists often leave out the kind
        ("CiliumNetworkPolicy data/allow", False),  # it chooses pods of its own namespace, and shop drops it
        ("CiliumNetworkPolicy shop-next/allow", False),
    ],
)
def test_only_what_may_choose_the_end_that_drops_it_may_allow_it(name: str, is_doubtful: bool) -> None:
    assert (doubt(drop(DENY_OUT), others(name)) is not None) is is_doubtful


def test_where_both_ends_drop_it_both_must_be_in_doubt() -> None:
    here, there = "CiliumNetworkPolicy shop/out", "CiliumNetworkPolicy data/in"
    assert doubt(drop(DENY_OUT, DENY_IN), others(here)) is None
    assert doubt(drop(DENY_OUT, DENY_IN), others(there)) is None
    assert doubt(drop(DENY_OUT, DENY_IN), others(here, there)) is not None


def test_of_a_part_of_the_other_kinds_any_may_be_missing() -> None:
    assert doubt(drop(DENY_OUT), others("CiliumNetworkPolicy data/in", truncated=True)) is not None

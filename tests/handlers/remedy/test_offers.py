"""Offers for a diagnosis: only for roots, by remedies found in the package; a faulty remedy just loses its button."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Diagnosis, Finding, Ranked, Target, Unavailable, Why
from handlers.remedy.declare import remedy
from handlers.remedy.offers import Remedies
from handlers.remedy.plan import Forbidden, Plan
from handlers.resource_id import ResourceId
from tests.checking import GRAPH, LIBRARY
from tests.handlers.diagnose.bodies import CLUSTER, pool_id

ALL = Remedies.discover()
HIDDEN = Unavailable("the nodes", Why.DENIED, "403", "list nodes")


def diagnosis(*ranked: Ranked) -> Diagnosis:
    return Diagnosis(Target(ResourceId.parse(CLUSTER)), ranked, (), (), 1.0)


def failed_pool(*causes: tuple[str, str]) -> Ranked:
    return Ranked(Finding("nodepool-failed", pool_id("apps"), ("it is Failed",)), causes)


def test_every_remedy_is_found_by_reading_the_package() -> None:
    names = {one.name for one in ALL.all}
    assert names >= {
        "abort-operation",
        "reapply-machine",
        "reconcile-cluster",
        "reconcile-pool",
        "register-bridge-providers",
        "register-provider",
        "update-instances",
    }
    assert all(ALL.named(name) for name in names)
    assert ALL.named("reconcile") is None


def test_the_runbooks_name_exactly_the_remedies_of_their_codes() -> None:
    declared = {code: sorted(one.name for one in found) for code, found in ALL.by_code.items()}
    written = {code: sorted(book.remedies) for code, book in LIBRARY.items() if book.remedies}
    assert written == declared


def test_every_fact_that_a_remedy_needs_is_collected() -> None:
    for one in ALL.all:
        assert GRAPH.facts(one.needs).wanted, one.name


def test_only_a_root_is_offered_a_fix() -> None:
    assert [one.remedy for one in ALL.offers(diagnosis(failed_pool()), hidden())] == ["reconcile-pool"]
    explained = diagnosis(failed_pool(("quota-exceeded", CLUSTER)))
    assert ALL.offers(explained, {}) == ()
    assert ALL.missing(explained, {}) == ()


def test_a_cluster_that_is_well_costs_no_further_question() -> None:
    assert ALL.missing(diagnosis(), {}) == ()


def test_only_what_the_check_has_not_gathered_is_missing() -> None:
    asked = {need.kind for need in ALL.missing(diagnosis(failed_pool()), {ManagedCluster: HIDDEN, Nodes: HIDDEN})}
    assert asked == {AgentPools, Locks, DenyAssignments, WriterMay}


def test_a_fact_that_it_cannot_do_without_is_the_reason_and_names_the_grant() -> None:
    [offer] = ALL.offers(diagnosis(failed_pool()), hidden())
    assert offer.plan is None
    assert Forbidden("could not see the nodes: denied, 403", "grant list nodes to the bot, then check again") in (
        offer.forbidden
    )


def hidden() -> dict[type, Unavailable]:
    return dict.fromkeys((ManagedCluster, AgentPools, Nodes, Locks, DenyAssignments, WriterMay), HIDDEN)


@remedy(codes=("nodepool-failed",), writes=("x/write",))
def faulty(finding: Finding, locks: Locks | Unavailable) -> Iterator[Plan | Forbidden]:
    """Fall over."""
    if finding.facts["nothing"]:
        yield Forbidden("never said", "never done")


def test_a_remedy_that_fails_costs_its_button_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    both = replace(ALL, all=(faulty, *ALL.all))
    first, second = both.offers(diagnosis(failed_pool()), hidden())
    assert (first.remedy, first.plan) == ("faulty", None)
    assert "a fault in this remedy: KeyError" in first.forbidden[0].because
    assert second.remedy == "reconcile-pool"
    assert "remedy faulty crashed" in caplog.text

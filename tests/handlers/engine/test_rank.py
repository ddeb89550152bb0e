"""Roots first, each cause before what follows from it."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime

from handlers.engine.rank import rank
from handlers.model import Finding, Severity

CLUSTER = "/subscriptions/s/resourcegroups/g/providers/Microsoft.ContainerService/managedClusters/c"
POOL = f"{CLUSTER}/agentPools/p"
QUOTA = "/subscriptions/s/providers/Microsoft.Compute/locations/l/usages/cores"
EXPLAINS = {"quota": frozenset({"pool", "cluster"}), "pool": frozenset({"cluster"})}


def finding(code: str, subject: str, *affects: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code, subject, ("proof",), affects, severity)


def test_a_chain_is_ordered_from_its_root_whatever_the_order_of_finding() -> None:
    chain = [finding("quota", QUOTA, POOL, CLUSTER), finding("pool", POOL, CLUSTER), finding("cluster", CLUSTER)]
    for shuffled in itertools.permutations(chain):
        ranked = rank(shuffled, EXPLAINS)
        assert [(one.finding.code, [code for code, _ in one.explained_by]) for one in ranked] == [
            ("quota", []),
            ("pool", ["quota"]),
            ("cluster", ["quota", "pool"]),
        ]


def test_a_parent_is_explained_only_where_the_finding_says_so() -> None:
    """A cluster may have failed for a reason that Azure names, and a pool of it for another one."""
    ranked = rank([finding("cluster", CLUSTER), finding("pool", POOL)], EXPLAINS)
    assert all(one.root for one in ranked)
    ranked = rank([finding("cluster", CLUSTER), finding("pool", POOL, CLUSTER)], EXPLAINS)
    assert ranked[1].explained_by == (("pool", POOL),)


def test_ids_are_compared_in_any_case_and_printed_as_they_came() -> None:
    ranked = rank([finding("quota", QUOTA, POOL.upper()), finding("pool", POOL)], EXPLAINS)
    assert ranked[1].explained_by == (("quota", QUOTA),)


def test_a_cause_does_not_explain_what_it_does_not_affect() -> None:
    other = POOL.replace("agentPools/p", "agentPools/p2")
    ranked = rank([finding("quota", QUOTA, POOL), finding("pool", other)], EXPLAINS)
    assert all(one.root for one in ranked)


def test_among_roots_the_loud_and_the_far_reaching_come_first() -> None:
    ranked = rank(
        [
            finding("late", "/x", severity=Severity.WARNING),
            finding("alone", "/y"),
            finding("quota", QUOTA, POOL),
            finding("pool", POOL),
        ],
        EXPLAINS,
    )
    assert [one.finding.code for one in ranked] == ["quota", "alone", "late", "pool"]


def test_a_root_that_explains_an_error_comes_before_one_that_explains_warnings() -> None:
    explains = {"a-quiet-one": frozenset({"noise"}), "quota": frozenset({"pool"})}
    ranked = rank(
        [
            finding("a-quiet-one", "/q", "/n", "/m"),
            finding("noise", "/n", severity=Severity.WARNING),
            finding("noise", "/m", severity=Severity.WARNING),
            finding("quota", QUOTA, POOL),
            finding("pool", POOL),
        ],
        explains,
    )
    assert [one.finding.code for one in ranked if one.root] == ["quota", "a-quiet-one"]


def test_the_same_finding_twice_is_one() -> None:
    assert len(rank([finding("pool", POOL), finding("pool", POOL.upper())], EXPLAINS)) == 1


BOTH = {"a": frozenset({"b"}), "b": frozenset({"a"})}
MORNING, NOON = datetime(2026, 11, 18, 8, tzinfo=UTC), datetime(2026, 11, 18, 12, tzinfo=UTC)


def test_of_findings_that_would_explain_each_other_both_are_roots() -> None:
    ranked = rank([finding("a", "/x", "/y"), finding("b", "/y", "/x")], BOTH)
    assert {one.finding.code for one in ranked if one.root} == {"a", "b"}


def test_of_findings_that_would_explain_each_other_the_one_that_began_first_does() -> None:
    late, early = finding("a", "/x", "/y"), finding("b", "/y", "/x")
    ranked = rank([replace(late, began=NOON), replace(early, began=MORNING)], BOTH)
    assert [(one.finding.code, one.root) for one in ranked] == [("b", True), ("a", False)]
    ranked = rank([late, replace(early, began=MORNING)], BOTH)
    assert all(one.root for one in ranked)


def test_a_circle_of_three_has_roots_and_what_follows_from_it_keeps_its_cause() -> None:
    circle = {"a": frozenset({"b"}), "b": frozenset({"c", "end"}), "c": frozenset({"a"}), "end": frozenset[str]()}
    ranked = rank(
        [finding("a", "/x", "/y"), finding("b", "/y", "/z", "/e"), finding("c", "/z", "/x"), finding("end", "/e")],
        circle,
    )
    causes = {one.finding.code: [code for code, _ in one.explained_by] for one in ranked}
    assert causes == {"a": [], "b": [], "c": [], "end": ["b"]}


def test_a_lock_on_a_cluster_is_no_part_of_it() -> None:
    both = {"lock": frozenset({"cluster"}), "cluster": frozenset[str]()}
    lock = finding("lock", f"{CLUSTER}/providers/Microsoft.Authorization/locks/keep")
    assert all(one.root for one in rank([lock, finding("cluster", CLUSTER)], both))

"""How permissions and deny assignments are read: wildcards, exceptions, scopes above, and what was not seen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.evidence.permissions import EVERYONE, Permission, WriterMay, covers, read_denial
from handlers.model import Why

NOW = datetime(2026, 11, 18, 3, 7, tzinfo=UTC)
SUB = "/subscriptions/5a1c0000-0000-4000-8000-000000000001"
GROUP = f"{SUB}/resourceGroups/rg-one"
ME, OTHER = "0a000000-0000-4000-8000-000000000001", "0b000000-0000-4000-8000-000000000002"
WORDS = st.lists(st.sampled_from(["Microsoft.Compute", "virtualMachines", "read", "write", "a+b"]), min_size=1)


def may(*, unseen: Why | None = None, **at: tuple[Permission, ...]) -> WriterMay:
    """What it holds at some scopes; `unseen`: why the group's own permissions were not seen."""
    places = {"sub": SUB.lower(), "group": GROUP.lower()}
    held = {places[name]: permissions for name, permissions in at.items()}
    missing = {GROUP.lower(): unseen} if unseen else {}
    return WriterMay(source="GET permissions", taken_at=NOW, principal=ME, at=held, unseen=missing)


@given(WORDS)
def test_a_star_stands_for_anything_and_everything_else_for_itself(words: list[str]) -> None:
    action = "/".join(words)
    assert covers(("*",), action)
    assert covers((action.upper(),), action)
    assert covers((f"{words[0]}*",), action)
    assert covers((f"*{words[-1]}",), action)
    assert not covers((f"{action}/more",), action)
    assert not covers((), action)


@given(WORDS, WORDS)
def test_what_one_role_leaves_out_another_may_give(words: list[str], others: list[str]) -> None:
    action, other = "/".join(words), "/".join(others)
    without, only = Permission(("*",), (action,)), Permission((action,), ())
    assert may(sub=(without,)).do(action, SUB) is False
    assert may(sub=(without, only)).do(action, SUB) is True
    assert may(sub=(without,)).do(other, SUB) is (other.lower() != action.lower())


def test_what_is_held_above_holds_below_and_not_the_other_way_round() -> None:
    everything = (Permission(("*",), ()),)
    assert may(sub=everything, group=()).do("x/write", f"{GROUP}/providers/M.C/a/b") is True
    assert may(sub=(), group=everything).do("x/write", f"{GROUP.upper()}/providers/M.C/a/b") is True
    assert may(sub=(), group=everything).do("x/write", SUB) is False


@pytest.mark.parametrize("why", [Why.TIMEOUT, Why.ABSENT, Why.THROTTLED, Why.FAILED])
def test_what_was_not_seen_is_no_refusal(why: Why) -> None:
    assert may(sub=(), unseen=why).do("x/write", GROUP) is None
    assert may(sub=(Permission(("*",), ()),), unseen=why).do("x/write", GROUP) is True


def test_who_may_not_even_see_its_permissions_at_a_place_has_none_there() -> None:
    assert may(sub=(), unseen=Why.DENIED).do("x/write", GROUP) is False
    assert may(sub=(Permission(("*",), ()),), unseen=Why.DENIED).do("x/write", GROUP) is True


def test_a_subscription_that_may_not_be_looked_at_leaves_what_its_groups_tell() -> None:
    """Permissions at a scope are listed with what is inherited: a writer scoped to groups is known there."""
    scoped = WriterMay(source="", taken_at=NOW, principal=ME, at={GROUP.lower(): ()}, unseen={SUB.lower(): Why.DENIED})
    assert scoped.do("x/write", f"{GROUP}/providers/M.C/a/b") is False


def denial(principals: list[Any], excluded: list[Any] | None = None) -> Any:
    at = f"{GROUP}/providers/Microsoft.Authorization/denyAssignments/d1"
    properties = {
        "denyAssignmentName": "lockdown",
        "scope": GROUP,
        "permissions": [{"actions": ["*"], "notActions": ["*/read"]}],
        "principals": principals,
        "excludePrincipals": excluded or [],
    }
    return read_denial({"id": at, "name": "d1", "properties": properties})


ALL = {"id": EVERYONE, "type": "SystemDefined"}


@pytest.mark.parametrize(
    ("principals", "excluded", "who", "answer"),
    [
        ([ALL], [], ME, True),
        ([ALL], [], "", True),
        ([ALL], [{"id": ME.upper(), "type": "ServicePrincipal"}], ME, False),
        ([ALL], [{"id": OTHER, "type": "ServicePrincipal"}], ME, True),
        ([ALL], [{"id": OTHER, "type": "ServicePrincipal"}], "", None),
        ([ALL], [{"id": OTHER, "type": "Group"}], ME, None),
        ([{"id": OTHER, "type": "User"}], [], ME, False),
        ([{"id": OTHER, "type": "User"}], [], "", None),
        ([{"id": OTHER, "type": "Group"}], [], ME, None),
        ([{"id": ME, "type": "ServicePrincipal"}], [], ME, True),
    ],
)
def test_whom_a_deny_assignment_is_for(
    principals: list[Any], excluded: list[Any], who: str, answer: bool | None
) -> None:
    assert denial(principals, excluded).is_for(who) is answer


def test_it_denies_at_its_scope_and_below_but_for_its_exceptions() -> None:
    lockdown = denial([ALL])
    assert lockdown.denies("M.C/sets/write", f"{GROUP}/providers/M.C/sets/one")
    assert not lockdown.denies("M.C/sets/read", f"{GROUP}/providers/M.C/sets/one")
    assert not lockdown.denies("M.C/sets/write", f"{SUB}/resourceGroups/rg-one-more/providers/M.C/sets/one")

"""Five hundred healthy clusters of many shapes: no findings and nothing inconclusive."""

from __future__ import annotations

import pytest

from tests.worlds.expecting import smallest, wrong_with
from tests.worlds.shape import draw

CLUSTERS = 500


@pytest.mark.parametrize("seed", range(CLUSTERS))
async def test_a_healthy_cluster_is_clear(seed: int) -> None:
    shape = draw(seed)
    lines = await wrong_with(shape)
    if lines:
        less = await smallest(shape, wrong_with)
        told = "\n".join(lines)
        pytest.fail(f"world {seed}:\n{told}\nof its shape this is enough:\n{less}", pytrace=False)


def test_every_kind_of_cluster_is_among_them() -> None:
    """A shape that no seed draws would not be tested."""
    from tests.worlds import shape as kinds

    drawn = [draw(seed) for seed in range(CLUSTERS)]
    assert {one.network for one in drawn} == set(kinds.NETWORKS)
    assert {one.outbound for one in drawn} == set(kinds.OUTBOUND)
    assert {one.way for one in drawn} == {"", *kinds.WAYS}
    assert {one.allow_list for one in drawn} == {"", *kinds.ALLOW_LISTS}
    assert {(one.way, one.allow_list) for one in drawn if one.spoke} >= {(way, "") for way in kinds.WAYS}
    assert {one.allow_list for one in drawn if one.way} == {"", *kinds.ALLOW_LISTS}  # both at once
    assert {one.access for one in drawn} == set(kinds.ACCESS)
    assert {one.zone for one in drawn if one.private} == set(kinds.ZONES)
    assert {one.operation for one in drawn} == {"", *kinds.OPERATIONS}
    assert {pool.kind for one in drawn for pool in one.pools} == {"system", "availability-set", *kinds.USER_POOLS}
    for name in ("past", "guards", "inside", "oddities"):
        assert {text for one in drawn for text in getattr(one, name)} == set(getattr(kinds, name.upper()))
    assert {one.reach for one in drawn} == {"directly", "run-command", "out"}
    assert {(one.sku, one.hosted) for one in drawn} == {("Base", False), ("Automatic", False), ("Automatic", True)}
    assert {one.auth for one in drawn} == {"local", "entra", "azure-rbac"}
    assert any(one.legacy for one in drawn)
    assert any(one.stopped for one in drawn)

"""Kept objects contain no secrets, whatever their shape; objects without secrets are not even copied."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from handlers.clients.kube.clean import without_secrets
from handlers.clients.kube.listing import without_collector

LEAK = "password=hunter2hunter2"


class Named(NamedTuple):
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    times: tuple[Any, ...]
    notes: dict[str, str]
    made: str = field(init=False, default="here")


@dataclass
class Sums:
    by_node: defaultdict[str, list[str]]
    counted: Counter[str]


@pytest.mark.parametrize(
    "kept",
    [
        LEAK,
        ("a", LEAK),
        ["a", [LEAK]],
        frozenset({LEAK}),
        {"note": LEAK},
        {LEAK: 1},
        {"password": "correct horse battery"},
        {"env": [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}]},
        Named("a", LEAK),
        Frozen("a", (datetime(2026, 11, 1, tzinfo=UTC), timedelta(1), Decimal(1)), {"note": LEAK}),
        Sums(defaultdict(list, {"one": [LEAK]}), Counter({LEAK: 2})),
    ],
)
def test_no_shape_hides_a_secret(kept: Any) -> None:
    (clean,) = without_secrets([kept])
    assert type(clean) is type(kept)
    for secret in ("hunter2", "correct horse"):
        assert secret not in str(clean)
    assert "[redacted:" in str(clean)
    assert without_secrets([clean]) == [clean]


def test_what_holds_no_secret_is_handed_on_as_it_is() -> None:
    kept = [("web-1", "aks-apps-1-vmss000000", None, 1.5, True), {"app": "web-frontend"}]
    assert without_secrets(kept) is kept


def test_a_sum_still_works_as_what_it_was() -> None:
    sums = Sums(defaultdict(list, {"one": [LEAK]}), Counter({"a": 2}))
    (clean,) = without_secrets([sums])
    assert clean.by_node["other"] == []
    assert clean.counted["nobody"] == 0


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        gc.enable() if was_on else gc.disable()
        with without_collector():
            assert not gc.isenabled()
        assert gc.isenabled() is was_on
    finally:
        gc.enable() if before else gc.disable()

"""What a model knows is found by name, and what it does not know is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.triage.model.learned import Learned
from bot.triage.model.table import Table
from bot.triage.model.weights import FILE, Weights, packed

ROWS = {"w:quota": [712, 3, -40], "b:no more": [900], "s:subnet-full": [0, 79, 310], "": [1]}
WEIGHTS = Weights(("none", "subnet-full"), (0.5, -0.5), 0.25, ROWS, {"we \n": -7, "^": 30})


def test_a_row_is_found_by_its_name_alone() -> None:
    table = Table(ROWS.items())
    assert len(table) == len(ROWS)
    assert {name: list(table.get(name) or ()) for name in ROWS} == ROWS
    assert table.get("w:quotas") is None
    assert Table(()).get("w:quota") is None


def test_what_is_read_line_by_line_is_all_that_was_written(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(packed(WEIGHTS))
    read = Learned.load(file)
    assert (read.codes, read.bias, read.live_bias) == (WEIGHTS.codes, WEIGHTS.bias, WEIGHTS.live_bias)
    assert (len(read.features), len(read.live)) == (len(WEIGHTS.features), len(WEIGHTS.live))
    assert {name: list(read.features.get(name) or ()) for name in ROWS} == ROWS
    assert {name: list(read.live.get(name) or ()) for name in WEIGHTS.live} == {"we \n": [-7], "^": [30]}


def test_the_same_weights_make_the_same_file() -> None:
    turned = dict(reversed(ROWS.items())), dict(reversed(WEIGHTS.live.items()))
    assert packed(replace(WEIGHTS, features=turned[0], live=turned[1])) == packed(WEIGHTS)
    assert packed(replace(WEIGHTS, live_bias=0.26)) != packed(WEIGHTS)


def test_the_weights_are_a_small_part_of_the_package() -> None:
    assert FILE.stat().st_size <= 3_000_000

"""What a model knows is found by name, and what it does not know is not."""

from __future__ import annotations

import orjson

from bot.triage.learned import FILE, Learned
from bot.triage.table import Table

ROWS = {"w:quota": [712, 3, -40], "b:no more": [900], "s:subnet-full": [0, 79, 310], "": [1]}


def test_a_row_is_found_by_its_name_alone() -> None:
    table = Table(ROWS.items())
    assert len(table) == len(ROWS)
    assert {name: list(table.get(name) or ()) for name in ROWS} == ROWS
    assert table.get("w:quotas") is None
    assert Table(()).get("w:quota") is None


def test_what_is_read_line_by_line_is_all_that_was_written() -> None:
    written, read = orjson.loads(FILE.read_bytes()), Learned.load()
    assert (list(read.codes), list(read.bias), read.live_bias) == (
        written["codes"],
        written["bias"],
        written["live_bias"],
    )
    assert (len(read.features), len(read.live)) == (len(written["features"]), len(written["live"]))
    for name, row in list(written["features"].items())[::97]:
        assert list(read.features.get(name) or ()) == row
    for name, weight in list(written["live"].items())[::97]:
        assert list(read.live.get(name) or ()) == [weight]

"""The weights file that `make learn` writes and the bot reads: JSON lines, compressed with xz.

The first line names the codes; then one feature per line, an empty line, and one word run per line. `xz -dc` shows it.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

FILE = Path(__file__).parents[1] / "weights.jsonl.xz"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 4 << 20}]
"""Spelt out, so that the same weights give the same bytes. Who reads the file needs as much memory as its dictionary is
large; a larger one than 4 MB would save nothing."""
_END = b"\n"

Rows = Iterator[tuple[str, Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Weights:
    """The trained weights as stored; all but the biases in hundredths."""

    codes: tuple[str, ...]
    bias: tuple[float, ...]
    live_bias: float
    features: Mapping[str, Sequence[int]]
    """Of each: how rare it is (0 for what is shown), then a code's place and its weight, and so on."""
    live: Mapping[str, int]


def packed(weights: Weights) -> bytes:
    """The file's bytes: the same for the same weights in any order."""
    head = {"codes": weights.codes, "bias": weights.bias, "live_bias": weights.live_bias}
    features = (orjson.dumps([name, *row]) for name, row in sorted(weights.features.items()))
    live = (orjson.dumps([run, weight]) for run, weight in sorted(weights.live.items()))
    lines = [orjson.dumps(head), *features, b"", *live, b""]
    return lzma.compress(b"\n".join(lines), format=lzma.FORMAT_XZ, filters=_FILTERS)


def head(lines: Iterator[bytes]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(next(lines))
    return found


def rows(lines: Iterator[bytes]) -> Rows:
    """The features, or the word runs after them: line by line, because the whole would stay in memory."""
    for line in lines:
        if line == _END:
            return
        name, *row = orjson.loads(line)
        yield name, row


def opened(file: Path) -> io.BufferedReader:
    return io.BufferedReader(lzma.open(file))

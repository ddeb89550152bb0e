"""The sentence encoder: reads a message as a whole, in its order, where words alone leave it open what it is about.

Six layers of MiniLM, trained further on the messages under `runbooks/heard`: `make learn-encoder`, docs/decisions/0009.
It is loaded with the first message that needs it.
"""

from __future__ import annotations

import logging
import math
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from bot.triage.encoder.pieces import Pieces
from bot.triage.heard import NONE
from bot.triage.learned import Reading

log = logging.getLogger(__name__)

FILE = Path(__file__).with_name("model.onnx")
LEARNED = FILE.with_name("learned.txt")
"""The marks of the messages that it learned from, a line each: for who goes on, not for the bot."""
CODES, PIECES = "codes", "pieces"
"""What the file says of itself."""
IDS, MASK, OUT = "ids", "mask", "sums"
"""What goes in: a text's pieces, and which of them are not padding. What comes out: how much speaks for each code."""
MOST_PIECES, _LAST_PIECES = 128, 33
"""Of a longer text it sees the beginning and the end: there people say what they want, around what they paste."""
LONGEST = 1_200
"""Characters: of more it would see too little, and small talk would drown the problem. There words tell more."""
_STRANGE = 1 / 3
"""The share of pieces that it does not know from which on it has no say: another language, or drawings."""


class Encoder:
    """Any thread may ask it."""

    def __init__(self, file: Path = FILE) -> None:
        self._file, self._opening = file, Lock()
        self._opened: _Opened | None = None
        self._broken = False

    @classmethod
    @cache
    def ours(cls) -> Encoder:
        """The one that ships with the bot: one for all of a process."""
        return cls()

    def read(self, text: str) -> Reading | None:
        """What a text is about. To be given without names and ids: see `features.bare`. None: it cannot tell."""
        opened = self._open()
        return opened.read(text) if opened and len(text) <= LONGEST else None

    def _open(self) -> _Opened | None:
        with self._opening:
            if self._opened is None and not self._broken:
                try:
                    self._opened = _Opened(self._file)
                except Exception:
                    # Words alone tell most of it: that is better than no answer.
                    log.exception(
                        "messages are read by their words alone: the encoder cannot be loaded. Install the bot anew"
                    )
                    self._broken = True
            return self._opened


class _Opened:
    def __init__(self, file: Path) -> None:
        import onnxruntime  # a process that never needs it must not carry it

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        says = self._session.get_modelmeta().custom_metadata_map
        self._codes: list[str] = orjson.loads(says[CODES])
        self._pieces = Pieces(orjson.loads(says[PIECES]))

    def read(self, text: str) -> Reading | None:
        numbers = seen(self._pieces.numbers(text))
        if self._pieces.unknown_share(numbers) > _STRANGE:
            return None
        row = self._session.run([OUT], {IDS: [numbers], MASK: [[1] * len(numbers)]})[0][0].tolist()
        return _reading(dict(zip(self._codes, row, strict=True)))


def seen(numbers: list[int]) -> list[int]:
    """Of a text's pieces those that it looks at."""
    if len(numbers) <= MOST_PIECES:
        return numbers
    return [*numbers[: MOST_PIECES - _LAST_PIECES], *numbers[-_LAST_PIECES:]]


def _reading(sums: dict[str, float]) -> Reading:
    none = sums.pop(NONE)
    highest = max(sums.values())
    powers = {code: math.exp(one - highest) for code, one in sums.items()}
    ours = sum(powers.values())
    likeliest = sorted(powers, key=lambda code: (-powers[code], code))
    return Reading(math.log(ours) + highest - none, {code: powers[code] / ours for code in likeliest})

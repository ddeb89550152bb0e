"""How the time that reading takes grows with the text: whether twice the text costs twice the time."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable, Mapping
from functools import cache

TIMES = (1, 2, 4, 8)
LETTERS = 1_000
"""Of the shortest text: the longest is short enough for many patterns, and long enough for a square to show."""
SLACK = 3.0
"""Linear is 8, quadratic is 64: three times what is right is neither noise nor a square."""
UNNOTICED_S = 0.005
"""What takes less than this over the longest text holds nobody up, and its growth is mostly noise."""
LOOPS_PER_KB = 0.6
"""What a thousand letters may cost, in loops of `loop_s`: some 12 ms on a machine of 2025. It is several times what the
slowest path takes, and a fraction of what reading ahead at every word takes."""

_UNITS: Mapping[str, str] = {
    "letters": "a",
    "letters and quotes": "a'",
    "blanks": " ",
    "line ends": "\n",
    "capitals": "Aa",
    "digits": "1",
    "dots and hyphens": "a.b-",
    "addresses of mail": "a@b.",
    "assignments": 'key="a" b=c ',
    "underscores": "_a_",
    "stars": "**a",
    "backticks": "`a ",
    "brackets": "[(<{",
    "links": "[a](https://a.",
    "angle brackets": "<https://a|",
    "backslashes": "\\",
    "escaped line ends": "\\\\n",
    "escaped quotes": '\\"a',
    "escape sequences": "\x1b[1\x1b]0;",
    "Go errors": 'Code="X" Message="a ',
    "codes in brackets": "(ErrorCode) a ",
    "JSON": '{"code":"A","message":"',
    "ids": "/subscriptions/0/resourceGroups/MC_a_b_",
    "clusters": "prod-weu prod-wue ",
    "alerts": "[FIRING:1] resolved 3 open 2\n",
    "accents": "é ü",
    "emoji": "⚠ ✅",
    "commands": "az aks -n a kubectl -n ",
    "programs": "/curl /mysql -p ",
    "lists of arguments": '"curl", "-u", ',
    "what stands for trouble": "error: failed, timeout exceeded quota subnet exit status=1 ",
}


def shapes() -> dict[str, Callable[[int], str]]:
    """By name: a text of so many letters, and something behind it that ends no match."""
    made = {name: _repeated(unit) for name, unit in _UNITS.items()}
    noise = base64.b64encode(random.Random(7).randbytes(64_000)).decode()
    return made | {"base64": lambda letters: noise[:letters] + "!"}


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda letters: (unit * (letters // len(unit) + 1))[:letters] + "!"


def not_linear(read: Callable[[str], object], made: Callable[[int], str], letters: int = LETTERS) -> str:
    """How the time grew, if it grew faster than the text; empty where it did not."""
    texts = [made(times * letters) for times in TIMES]
    if _once_s(read, texts[-1]) < UNNOTICED_S:
        return ""
    for _ in range(3):  # another process may have taken the cache away
        took = [_took_s(read, text) for text in texts]
        if took[-1] <= SLACK * TIMES[-1] * took[0] + UNNOTICED_S:
            return ""
    return ", ".join(f"{times}×: {one * 1000:.1f} ms" for times, one in zip(TIMES, took, strict=True))


def all_too_dear(read: Callable[[str], object], letters: int = LETTERS) -> dict[str, str]:
    """The shapes over which a reading costs more per letter than it may: linear, but with a huge constant."""
    return {name: how for name, shape in shapes().items() if (how := too_dear(read, shape, letters))}


def too_dear(read: Callable[[str], object], made: Callable[[int], str], letters: int = LETTERS) -> str:
    """What the longest text cost, if that is too much; empty where it is not."""
    longest = TIMES[-1] * letters
    most_s = LOOPS_PER_KB * longest / 1000 * loop_s()
    took_s = _once_s(read, made(longest))
    took_s = took_s if took_s <= most_s else _took_s(read, made(longest))
    return f"{took_s * 1000:.0f} ms, not {most_s * 1000:.0f}" if took_s > most_s else ""


@cache
def loop_s() -> float:
    """What this machine takes for a million turns of a small loop, by which all other times are measured."""
    return min(_once_s(_loop, "") for _ in range(5))


def _loop(_: str) -> int:
    total = 0
    for number in range(1_000_000):
        total += number & 3
    return total


def all_not_linear(read: Callable[[str], object], letters: int = LETTERS) -> dict[str, str]:
    """The shapes over which a reading is not linear."""
    return {name: how for name, shape in shapes().items() if (how := not_linear(read, shape, letters))}


def _took_s(read: Callable[[str], object], text: str) -> float:
    """Processor time of this thread, the least of a few: whatever else the machine does is not in it."""
    least = float("inf")
    for _ in range(3):
        least = min(least, _once_s(read, text))
        if least > 0.1:
            break
    return least


def _once_s(read: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    read(text)
    return time.thread_time() - began

"""Measures whether parsing time grows linearly with text length."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable, Mapping
from functools import cache

TIMES = (1, 2, 4, 8)
LETTERS = 1_000
"""Length of the shortest text, chosen so that the longest is fast for many patterns but shows quadratic growth."""
SLACK = 3.0
"""The growth limit. Linear is 8, quadratic is 64: three times linear is more than noise and less than quadratic."""
UNNOTICED_S = 0.005
"""Anything faster than this on the longest text is harmless, and its measured growth is mostly noise."""
LOOPS_PER_KB = 0.6
"""The limit per 1,000 characters, in units of `loop_s`: some 12 ms on a machine of 2025. It is several times what the
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
    """By name: a text of this length, followed by something that prevents a match."""
    made = {name: _repeated(unit) for name, unit in _UNITS.items()}
    noise = base64.b64encode(random.Random(7).randbytes(64_000)).decode()
    return made | {"base64": lambda letters: noise[:letters] + "!"}


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda letters: (unit * (letters // len(unit) + 1))[:letters] + "!"


def not_linear(read: Callable[[str], object], made: Callable[[int], str], letters: int = LETTERS) -> str:
    """A description of the growth if it is superlinear, else empty."""
    texts = [made(times * letters) for times in TIMES]
    if _once_s(read, texts[-1]) < UNNOTICED_S:
        return ""
    for _ in range(3):  # another process may have evicted the cache
        took = [_took_s(read, text) for text in texts]
        if took[-1] <= SLACK * TIMES[-1] * took[0] + UNNOTICED_S:
            return ""
    return ", ".join(f"{times}×: {one * 1000:.1f} ms" for times, one in zip(TIMES, took, strict=True))


def all_too_dear(read: Callable[[str], object], letters: int = LETTERS) -> dict[str, str]:
    """The shapes for which parsing is linear but too slow per character."""
    return {name: how for name, shape in shapes().items() if (how := too_dear(read, shape, letters))}


def too_dear(read: Callable[[str], object], made: Callable[[int], str], letters: int = LETTERS) -> str:
    """The time for the longest text if it is too long, else empty."""
    longest = TIMES[-1] * letters
    most_s = LOOPS_PER_KB * longest / 1000 * loop_s()
    took_s = _once_s(read, made(longest))
    took_s = took_s if took_s <= most_s else _took_s(read, made(longest))
    return f"{took_s * 1000:.0f} ms, not {most_s * 1000:.0f}" if took_s > most_s else ""


@cache
def loop_s() -> float:
    """This machine's time for a million iterations of a small loop, the unit for all other times."""
    return min(_once_s(_loop, "") for _ in range(5))


def _loop(_: str) -> int:
    total = 0
    for number in range(1_000_000):
        total += number & 3
    return total


def all_not_linear(read: Callable[[str], object], letters: int = LETTERS) -> dict[str, str]:
    """The shapes for which parsing is not linear."""
    return {name: how for name, shape in shapes().items() if (how := not_linear(read, shape, letters))}


def _took_s(read: Callable[[str], object], text: str) -> float:
    """CPU time of this thread, the minimum of a few runs, to exclude other load on the machine."""
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

"""Redaction takes linear time for any text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from handlers.clients.redact import LONG, redact, redact_json, redact_off_loop, redact_text
from tests.linear.growth import loop_s

BASE = 5_000
"""Characters at 1×; if that is too fast to measure, the text is made longer first."""
MEASURABLE_S = 0.005
RATIO = 1.6
"""The limit for time per character at 8× relative to 1×: 1.5 allows for memory effects; quadratic would be 8."""
PARTS = (
    "a'",
    "@",
    "a@a",
    "a@a.",
    " ",
    "=",
    "a=",
    '"',
    "\\",
    '\\"',
    "--",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY----- x ",
    "-----END PRIVATE KEY----- ",
    "<a",
    "<password>",
    "eyJ.",
    "eyJpass",
    "eyJabcdefghij.",
    "Zm9v YmFy ",
    "name: x\n",
    "name: password\n",
    "password=",
    "password= ",
    "password: x\n",
    'password="',
    "password='",
    "token='x\n",
    'token=\\"',
    'token: "x \\" ',
    "pw=/subscriptions/",
    "{",
    '{"a":',
    "[",
    "://",
    "://a:",
    "://a@",
    "curl ",
    "curl -u ",
    "mysql -p",
    "login -p ",
    "--token ",
    "--token,",
    '"--token","',
    "Authorization: ",
    "authorization: bearer ",
    "bearer ",
    "cookie: a\n",
    "data:\n",
    "kind: Secret\ndata:\n a: b\n",
    "machine x login y password ",
    "password is ",
    "&s=",
    "?code=",
    "Q~",
    "==",
    "ghp_",
    "sk-",
    "key-",
    "MHcCAQEE",
    "IBADANBgkqhkiG9w0BAQEF",
    "cGFzc3dvcmQ9aHVudGVyMg== ",
    "password=x;a",
    "[redacted:",
    "secret: |\n  x\n",
    "pass:\n",
    "\u00fc@b.de ",
    "https://hooks.slack.com/services/",
    "x" * 64 + "\n",
    "\x00",
    "aws " + "A" * 40,
    "/curl ",
    "/mysql -p ",
    '"curl", "-u", ',
    "curl 'a' ",
    "docker 'curl a' ",
    "curl -d 'login a' ",
    "az sql -p ",
    "keytool -storepass ",
    "password ",
    "password\t",
    "password x1y2z3 ",
    "pw a!",
    "ENV pw x ",
    "client_secret a1b2c3 ",
    "password for a b: ",
    "password -> ",
    "password='a''",
    "password='='",
    "password=\u201c",
    "Password:\n",
    "| password | x1 ",
    "token: a: ",
    "secret: a/b ",
    "<https://a|password=",
    "<https://a?password=x|",
    "<a:password>x",
    "&lt;password&gt;",
    "[redacted:password]password=",
    "patch secret data:{",
)


MOST_LOOPS = 10
"""The limit for 16 kB in units of `loop_s`: about 200 ms, where the slowest case takes about 90."""
END = "@ x@y.de password: x"
"""An ending that triggers backtracking."""


@pytest.mark.parametrize("part", PARTS, ids=[repr(part)[:32] for part in PARTS])
def test_twice_the_text_takes_twice_the_time(part: str) -> None:
    size = BASE
    while seconds(redact_text, filled(part, size)) < MEASURABLE_S and size < 16 * BASE:
        size *= 4
    at_once, at_eight = (seconds(redact_text, filled(part, times * size)) / times for times in (1, 8))
    if at_eight > RATIO * at_once:
        # Once more, as exactly as it can be told: at 1×, 2×, 4× and 8×, the best of five.
        each = [seconds(redact_text, filled(part, times * size), 5) / times for times in (1, 2, 4, 8)]
        assert each[3] <= RATIO * max(each[0], MEASURABLE_S / 8), each


@pytest.mark.parametrize("part", PARTS, ids=[repr(part)[:32] for part in PARTS])
def test_a_text_that_is_read_in_the_loop_holds_it_up_for_a_moment_only(part: str) -> None:
    """Up to `LONG` it is no thread's."""
    text, most_s = filled(part, LONG - len(END)), MOST_LOOPS * loop_s()
    took = seconds(redact_text, text)
    assert min(took, seconds(redact_text, text, 5) if took > most_s else took) <= most_s


def test_a_megabyte_in_one_line_is_read() -> None:
    line = "error: token expired for user=bob key=value " * 24_000 + "password=hunter2hunter2"
    assert len(line) > 1_000_000
    assert "hunter2" not in redact_text(line)


def test_a_long_value_goes_to_its_end() -> None:
    for opened in ("password=", 'password="', "eyJ" + "a" * 20 + ".", "Authorization: Bearer ", "https://x:"):
        text = opened + "Ab1" * 50_000 + ("@host" if "://" in opened else "")
        assert "Ab1Ab1" not in redact_text(text), opened


@pytest.mark.parametrize("part", ["a'", "password= ", "eyJpass", "://a:"])
def test_a_tree_of_such_texts_is_no_slower(part: str) -> None:
    def of_many(size: int) -> float:
        tree = [f"{number} {filled(part, 4000)}" for number in range(size // 4000)]
        return seconds(redact, tree)

    size = 4 * BASE
    assert of_many(8 * size) / 8 <= RATIO * max(of_many(size), MEASURABLE_S / 2)


def test_json_in_json_in_json_is_read_once() -> None:
    body: object = {"message": "password=hunter2hunter2 " * 2000}
    for _ in range(6):
        body = {"message": json.dumps(body)}
    raw = json.dumps(body).encode()
    assert seconds(redact_json, raw) < 60 * seconds(redact_text, "password=hunter2hunter2 " * 2000)
    assert b"hunter2" not in redact_json(raw)[1]


async def test_a_long_text_is_read_beside_the_loop_and_says_the_same() -> None:
    for text in ("password=hunter2hunter2 ", "password=hunter2hunter2 " * (LONG // 8)):
        assert await redact_off_loop(text) == redact_text(text)


def filled(part: str, size: int) -> str:
    return part * (size // len(part)) + END


def seconds(call: Callable[[Any], object], what: Any, times: int = 2) -> float:
    """CPU time of this thread, the best of some runs: other work on the machine does not count."""
    return min(_once(call, what) for _ in range(times))


def _once(call: Callable[[Any], object], what: Any) -> float:
    started = time.thread_time()
    call(what)
    return time.thread_time() - started

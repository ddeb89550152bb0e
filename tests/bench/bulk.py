"""Long texts that people paste and share: logs, one line of JSON, base64, and texts designed to be slow."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from functools import cache

LETTERS = 60_000


def _log(chance: random.Random) -> str:
    """An application log."""
    level, number = chance.choice(("INFO", "WARN", "ERROR", "DEBUG")), chance.randrange(10**6)
    said = chance.choice(
        (
            f"GET /api/v1/orders/{number} 200 {number % 900}ms trace={chance.randrange(16**32):032x}",
            f"connection to 10.{number % 255}.0.7:5432 failed: timeout after 30s user=app db=orders",
            f"order {number} of user{number % 99}@contoso.com accepted, it's on its way",
            f"cache key=session:{chance.randrange(16**24):024x} hit=true size={number % 999}",
            f'{{"msg":"processed","order":{number},"took":{chance.random():.4f}}}',
        )
    )
    return f"2026-11-19T10:{number % 60:02}:{number % 59:02}Z {level} [http-{number % 64}] {said}"


def _kubelet(chance: random.Random) -> str:
    number, pod = chance.randrange(10**6), f"shop-api-{chance.randrange(16**9):09x}"
    said = chance.choice(
        (
            f'"SyncLoop (PLEG): event for pod" pod="shop/{pod}" event={{Type:ContainerStarted}}',
            f'"Error syncing pod" err="failed to \\"StartContainer\\" with CrashLoopBackOff" pod="shop/{pod}"',
            f'Readiness probe for "{pod}" failed: Get "http://10.244.0.{number % 255}:8080": dial tcp: i/o timeout',
            f'operationExecutor.MountVolume started for volume "kube-api-access-{number}" pod "{pod}"',
        )
    )
    return f"E1119 10:00:{number % 60:02}.{number:06} 1234 pod_workers.go:{number % 999}] {said}"


def _lines(line: Callable[[random.Random], str]) -> str:
    def lines() -> Iterator[str]:
        chance, length = random.Random(56), 0
        while length < LETTERS:
            told = line(chance)
            length += len(told) + 1
            yield told

    return "\n".join(lines())


def _json() -> str:
    rows = ({"id": n, "name": f"pod-{n}", "ip": f"10.0.0.{n % 255}", "message": 'all "good" here'} for n in range(700))
    return json.dumps(list(rows))[:LETTERS]


@cache
def bulk() -> dict[str, str]:
    """The texts by name."""
    return {
        "a log": _lines(_log),
        "a kubelet's log": _lines(_kubelet),
        "one line of JSON": _json(),
        "base64": base64.b64encode(random.Random(7).randbytes(LETTERS * 3 // 4)).decode(),
        "27,000 times a'": "x@contoso.com password " + "a'" * 27_000,
        "mail without an end": "a.b@" * (LETTERS // 4),
        "blanks": "key: " + " " * LETTERS + "!",
        "Go errors": 'Code="X" Message="' * (LETTERS // 18),
        "escaped quotes": '\\"code' * (LETTERS // 6),
    }

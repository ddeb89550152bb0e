"""The overhead of checking a large cluster, compared with just downloading and parsing its objects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import orjson

from tests.bench.figure import Figure
from tests.bench.inside_process import EVENTS_EACH, SERVICES_EACH

SIZES = (100, 1000, 5000)


def figures() -> Iterator[Figure]:
    measured = {nodes: _measured(nodes) for nodes in SIZES}
    for nodes, one in measured.items():
        told = f"{one['wall_s']:.2f} s against {one['plain_s']:.2f} s for {nodes} nodes, {nodes * 30} pods, "
        told += f"{int(nodes * SERVICES_EACH)} services, {nodes * EVENTS_EACH} events"
        yield Figure(f"check-vs-download-{nodes}", one["wall_s"] / one["plain_s"], "ratio", 1.6, told)
    extra = {nodes: one["peak_mb"] - one["idle_mb"] for nodes, one in measured.items()}
    told = ", ".join(f"{mb:.0f} MB at {nodes} nodes" for nodes, mb in extra.items())
    yield Figure("memory-above-idle", max(extra.values()), "MB", 150, told)
    yield Figure("memory-5000-vs-1000", extra[5000] / extra[1000], "ratio", 1.3, told)
    most = max(one["kinds"] for one in measured.values())
    yield Figure("kinds-listed", most, "kinds", 25, "of a healthy cluster: what is asked before anything is unwell")
    shares = {nodes: one["judged_s"] / one["wall_s"] for nodes, one in measured.items()}
    told = ", ".join(f"{share:.3f} at {nodes} nodes" for nodes, share in shares.items())
    yield Figure("judging-vs-check", max(shares.values()), "ratio", 0.3, told)


def _measured(nodes: int) -> dict[str, float]:
    serving = [sys.executable, "-m", "tests.bench.inside_process", str(nodes)]
    with subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("pipes were asked for")
        try:
            environment = server.stdout.readline()
            checking = [sys.executable, "-m", "tests.bench.inside_check", environment]
            done = subprocess.run(checking, check=True, capture_output=True)
            result: dict[str, float] = orjson.loads(done.stdout)
            return result
        finally:
            server.stdin.write("\n")
            server.stdin.flush()

"""The bot's performance when a whole company uses it at once, and its cost when idle."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from tests.bench.figure import Figure
from tests.bench.slack_load import FOR_S, PER_SECOND
from tests.bench.start import AKSBOT

ROUNDS, LOAD_ROUNDS = 5, 3
READY_WITHIN_S = 60
IMPORTS = "import bot.cli.serve"


def figures() -> Iterator[Figure]:
    with _line_first("tests.bench.slack_world") as told:
        environment = {**_clean(), **orjson.loads(told)}
        yield from _start(environment)
        yield from _load(environment)


def _start(environment: dict[str, str]) -> Iterator[Figure]:
    """Start both together, so that a busy machine slows both equally."""
    ready_s, imported_s, served_mb, imported_mb = [], [], [], []
    for _ in range(ROUNDS):
        with _serving(environment) as (_, process, took_s):
            ready_s.append(took_s)
            served_mb.append(_resident_mb(process.pid))
        took_s, mb = _imported(environment)
        imported_s.append(took_s)
        imported_mb.append(mb)
    told = f"{median(ready_s):.2f} s against {median(imported_s):.2f} s, medians of {ROUNDS}"
    yield Figure("serve-ready-vs-imports", median(ready_s) / median(imported_s), "ratio", 3, told)
    told = f"{median(served_mb):.0f} MB against {median(imported_mb):.0f} MB, medians of {ROUNDS}"
    yield Figure("serve-idle-vs-imports", median(served_mb) / median(imported_mb), "ratio", 1.3, told)


def _load(environment: dict[str, str]) -> Iterator[Figure]:
    secret = environment["SLACK_SIGNING_SECRET"]
    with (
        _serving(environment) as (url, process, _),
        _line_first("tests.bench.slack_empty", secret) as port,
    ):
        empty = f"http://127.0.0.1:{port.strip()}/slack/events"
        loading = [sys.executable, "-m", "tests.bench.slack_load", f"{url}/slack/events", empty, secret]
        rounds = [
            orjson.loads(subprocess.run(loading, check=True, capture_output=True).stdout) for _ in range(LOAD_ROUNDS)
        ]
        cpu_s = _cpu_s(process.pid)
    asked = PER_SECOND * FOR_S
    yield _acknowledged(rounds, cpu_s / asked / LOAD_ROUNDS)
    slowest = max(one["acked_s"][-1] for one in rounds)
    yield Figure("ack-slowest", slowest, "s", 1, f"of {LOAD_ROUNDS} times {asked}")
    lost = sum(len(one["unanswered"]) + one["wordless"] + len(one["refused"]) for one in rounds)
    drained_s = max(one["drained_s"] for one in rounds)
    told = f"of {LOAD_ROUNDS} times {asked}; the last answer came {drained_s:.1f} s after the last command"
    for one in rounds if lost else ():
        told += f"; without words {one['wordless']}, unanswered {one['unanswered'][:3]}, {one['refused'][:1]}"
    yield Figure("commands-lost", lost, "commands", 0, told)


def _acknowledged(rounds: list[dict[str, Any]], each_cpu_s: float) -> Figure:
    """The median round. In some rounds, the process checks every cluster again, which affects the slowest one
    percent; all ratios are reported."""
    ratios = sorted((_p99(one["acked_s"]) / _p99(one["empty_s"]), at) for at, one in enumerate(rounds))
    ratio, at = ratios[len(ratios) // 2]
    acked, plain = rounds[at]["acked_s"], rounds[at]["empty_s"]
    told = (
        f"{len(acked)} commands, {PER_SECOND} a second: p99 {_p99(acked) * 1000:.1f} ms against "
        f"{_p99(plain) * 1000:.1f} ms, medians {median(acked) * 1000:.1f} and {median(plain) * 1000:.1f} ms; "
        f"{each_cpu_s * 1000:.1f} ms of CPU for each, its answer included; "
        f"the median of {', '.join(f'{one:.2f}' for one, _ in ratios)}"
    )
    return Figure("ack-vs-empty", ratio, "ratio", 5, told)


def _p99(sorted_s: list[float]) -> float:
    return sorted_s[int(len(sorted_s) * 0.99)]


@contextmanager
def _line_first(module: str, *arguments: str) -> Iterator[str]:
    """A process that prints a line once it is ready, and stops when told to."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("pipes were asked for")
        try:
            yield process.stdout.readline()
        finally:
            process.stdin.write("\n")
            process.stdin.flush()


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[tuple[str, subprocess.Popen[bytes], float]]:
    """`aksbot serve`: its address, its process, and how long it took until it was ready."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        mine = {**environment, "AKSBOT_HTTP_PORT": str(port), "AKSBOT_DATA_DIR": folder}
        began = time.perf_counter()
        with subprocess.Popen([AKSBOT, "serve"], env=mine, cwd=folder, stderr=log) as process:
            try:
                url = f"http://127.0.0.1:{port}"
                while not _is_ready(url):
                    if process.poll() is not None or time.perf_counter() - began > READY_WITHIN_S:
                        raise RuntimeError(Path(folder, "log").read_text())
                    time.sleep(0.005)
                yield url, process, time.perf_counter() - began
            finally:
                process.terminate()
                process.wait(60)


def _imported(environment: dict[str, str]) -> tuple[float, float]:
    """How long a Python process takes to import what `serve` imports, and its memory use."""
    code = f"{IMPORTS}\nprint(open('/proc/self/status').read())"
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    return time.perf_counter() - began, _resident(done.stdout)


def _cpu_s(pid: int) -> float:
    """The CPU time of the process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    return _resident(Path(f"/proc/{pid}/status").read_text())


def _resident(status: str) -> float:
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _clean() -> dict[str, str]:
    """An environment without any settings."""
    own = ("AKSBOT_", "AZURE_", "REDIS_", "SLACK_")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}

"""Start-up time of the command line, which imports heavy libraries lazily."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.bench.figure import Figure

ROUNDS = 9
AKSBOT = str(Path(sys.executable).with_name("aksbot"))
HEAVY = "import azure.mgmt.containerservice.aio, azure.mgmt.monitor.aio, kubernetes.aio"


def figures() -> Iterator[Figure]:
    helped, imported = [], []
    for _ in range(ROUNDS):  # together, so that a busy machine slows both equally
        helped.append(_took_s([AKSBOT, "--help"], says="Usage: aksbot"))
        imported.append(_took_s([sys.executable, "-c", HEAVY]))
    ratio = median(helped) / median(imported)
    told = f"{median(helped) * 1000:.0f} ms against {median(imported) * 1000:.0f} ms, medians of {ROUNDS}"
    yield Figure("help-vs-imports", ratio, "ratio", 0.5, told)


def _took_s(command: list[str], says: str = "") -> float:
    began = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took_s = time.perf_counter() - began
    if says not in done.stdout:
        raise RuntimeError(f"{command} did not say {says!r}")
    return took_s

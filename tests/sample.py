"""Selects the sample of long randomized tests: it differs per commit, but is the same for everyone on that commit.

`AKSBOT_SAMPLE=<seed>` repeats the sample of an earlier run; every run prints its seed. `make soak` runs all.
"""

from __future__ import annotations

import os
import random
import subprocess
from functools import cache
from pathlib import Path
from zlib import crc32

VARIABLE = "AKSBOT_SAMPLE"
_HERE = Path(__file__).parent


@cache
def seed() -> str:
    """The seed from the environment, else from the commit; outside git, a constant."""
    return os.environ.get(VARIABLE) or _commit() or "1"


def takes(name: str, one_of: int) -> bool:
    """Whether this test is the one in this many that the run includes."""
    return crc32(f"{seed()} {name}".encode()) % one_of == 0


def dice(name: str) -> random.Random:
    """A random generator for samples of a fixed size, seeded per test."""
    return random.Random(f"{seed()} {name}")


def _commit() -> str:
    try:
        said = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=_HERE, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return said.stdout.strip()

"""Which part of the long walks a run takes: another one for each commit, the same one for all who test that commit.

`AKSBOT_SAMPLE=<seed>` takes the part of an earlier run again; every run prints its seed. `make soak` takes all.
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
    """The variable's, else the commit's; a tree that git does not know has always the same."""
    return os.environ.get(VARIABLE) or _commit() or "1"


def takes(name: str, one_of: int) -> bool:
    """Whether this is the one of so many that the run takes."""
    return crc32(f"{seed()} {name}".encode()) % one_of == 0


def dice(name: str) -> random.Random:
    """For samples of a fixed size; two tests throw different dice."""
    return random.Random(f"{seed()} {name}")


def _commit() -> str:
    try:
        said = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=_HERE, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return said.stdout.strip()

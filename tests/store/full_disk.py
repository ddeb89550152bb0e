"""A server whose disk is full: a small filesystem of the test's own, or a limit that the kernel sets for its files."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.store.connect import Connection

SMALL_KB = 4096


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A filesystem of a few megabytes; skips where this user may mount none."""
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={SMALL_KB}k", "tmpfs", str(folder))
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no program to mount a small disk with")
    if done.returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(("umount", "-l", str(folder)), check=True)


def fill(folder: Path) -> Path:
    """Take all that is left of the disk; the file that does."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return filler


def no_more_bytes(connection: Connection) -> None:
    """The kernel refuses whatever the server that runs now would add to its files."""
    if sys.platform != "linux":
        pytest.skip("only Linux limits the files of another process")
    assert connection.embedded
    pid = connection.embedded.pid
    assert pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

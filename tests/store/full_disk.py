"""A Redis server with a full disk: on a small test filesystem, or with a file size limit."""

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
    """A filesystem of a few megabytes; skips if this user cannot mount one."""
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
    """Fill the disk; returns the file."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return filler


def no_more_bytes(connection: Connection) -> None:
    """Make the kernel reject further writes to the running server's files."""
    if sys.platform != "linux":
        pytest.skip("only Linux limits the files of another process")
    assert connection.embedded
    pid = connection.embedded.pid
    assert pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

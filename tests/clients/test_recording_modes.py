"""A recording is readable only by its owner, regardless of the umask and existing files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from handlers.clients.recording.case import Recorder, Recording


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_new_file_is_readable_for_its_owner_alone(umask: int, tmp_path: Path) -> None:
    file = tmp_path / "case.zip"
    Recorder("x").save(file)
    assert oct(mode(file)) == oct(0o600)


def test_a_file_that_everybody_could_read_is_closed_to_others(umask: int, tmp_path: Path) -> None:
    file = tmp_path / "case.zip"
    file.write_bytes(b"longer than what is written now " * 1000)
    file.chmod(0o666)
    Recorder("x").save(file)
    assert oct(mode(file)) == oct(0o600)
    assert Recording.load(file).target == "x"

"""Runs command lines: in this process, or as a subprocess."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.cli import main as cli_main

PROGRAM = (sys.executable, "-c", "from bot.cli.main import main; main()")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a command."""

    code: int
    out: str
    err: str


Here = Callable[..., Ran]
Started = Callable[..., Awaitable[Ran]]


@pytest.fixture(autouse=True)
def _nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run in an empty folder, with no settings but the test's own."""
    for name in os.environ:
        if name.startswith(("AKSBOT_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    """Run a command line in this process."""

    def run(*words: str) -> Ran:
        code = cli_main.run(list(words))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def started(tmp_path: Path) -> Started:
    """Run a command line as a subprocess."""

    async def run(*words: str, environment: Mapping[str, str] = {}, given: bytes | None = None) -> Ran:
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            *words,
            cwd=tmp_path,
            env=clean_environment() | dict(environment),
            stdin=asyncio.subprocess.PIPE if given is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(given)
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    return run


def clean_environment() -> dict[str, str]:
    """This process's environment, as modified by the fixtures above, with the project importable."""
    return dict(os.environ) | {"PYTHONPATH": str(ROOT)}

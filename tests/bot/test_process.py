"""Top-level error handling: always a three-part message and an exit code; a traceback only on request."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from importlib.metadata import version

import pytest

from bot.cli import process
from handlers.problem import Exit, Problem
from tests.bot.conftest import PROGRAM, Here, Started, clean_environment


def nowhere() -> int:
    raise Problem("cannot do it", "there is nothing\x1b[2J", "do something else", code=Exit.UNAVAILABLE)


def broken() -> int:
    raise KeyError("limit")


def in_parallel() -> int:
    raise ExceptionGroup("tasks", [ValueError("a"), ExceptionGroup("more", [Problem("cannot", "why", "do")])])


def test_a_problem_is_told_in_three_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.run(nowhere, as_json=False, debug=False) == 69
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "cannot do it\n  why: there is nothing\n  do: do something else\n"


def test_for_a_program_it_is_one_object_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.run(nowhere, as_json=True, debug=False) == 69
    out, err = capsys.readouterr()
    assert json.loads(out)["error"].keys() == {"what", "why", "do"}
    assert err == ""


def test_a_problem_inside_of_parallel_tasks_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.run(in_parallel, as_json=False, debug=False) == 69
    assert capsys.readouterr().err.startswith("cannot\n  why: why\n")


def test_a_fault_of_ours_shows_no_traceback_but_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.run(broken, as_json=False, debug=False) == process.CRASHED
    err = capsys.readouterr().err
    assert "KeyError: 'limit'" in err
    assert "--debug" in err
    assert "Traceback" not in err


async def test_with_debug_the_traceback_is_there(started: Started) -> None:
    ran = await started("--debug", "runbooks", "show", "no-such-thing")
    assert ran.code == 64
    assert "Traceback" in ran.err
    assert "cannot show that runbook" in ran.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["check"], "Missing argument"),
        (["check", "prod-weu", "--area"], "requires an argument"),
        (["check", "prod-weu", "--output", "xml"], "xml"),
        (["check", "prod-weu", "--timeout", "0"], "greater than or equal to 1"),
        (["check", "prod-weu", "--nonsense"], "No such option: --nonsense"),
        (["runbooks"], "Missing command"),
    ],
)
def test_wrong_use_is_64_in_three_parts(here: Here, words: list[str], why: str) -> None:
    ran = here(*words)
    assert ran.code == 64
    assert ran.out == ""
    assert "cannot understand" in ran.err
    assert why in ran.err
    assert "--help" in ran.err


def test_wrong_use_is_an_object_where_json_was_asked_for(here: Here) -> None:
    ran = here("check", "prod-weu", "--nonsense", "--output", "json")
    assert ran.code == 64
    assert "--nonsense" in json.loads(ran.out)["error"]["why"]


def test_help_ends_with_0_and_nothing_at_all_with_64(here: Here) -> None:
    assert here("--help").code == 0
    assert here("check", "--help").code == 0
    ran = here()
    assert ran.code == 64
    assert "Usage: aksbot" in ran.out


def test_the_version_is_that_of_the_package(here: Here) -> None:
    ran = here("--version")
    assert (ran.code, ran.out) == (0, f"aksbot {version('aksbot')}\n")


async def test_the_package_can_be_run_as_a_module() -> None:
    one = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "--version", env=clean_environment(), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await one.communicate()
    assert (one.returncode, out.decode()) == (0, f"aksbot {version('aksbot')}\n")


async def test_nothing_heavy_is_imported_for_help() -> None:
    look = (
        "import sys; from bot.cli.main import run; run(['--help']); "
        "print(sorted({'azure', 'kubernetes', 'pydantic', 'rich', 'aiohttp', 'jinja2', 'yaml'} & set(sys.modules)))"
    )
    one = await asyncio.create_subprocess_exec(
        sys.executable, "-c", look, env=clean_environment(), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await one.communicate()
    assert out.decode().splitlines()[-1] == "[]"


async def test_a_reader_that_goes_away_is_no_error() -> None:
    theirs, ours = os.pipe()
    os.close(theirs)
    words = ("runbooks", "list", "--output", "json")
    one = await asyncio.create_subprocess_exec(
        *PROGRAM, *words, env=clean_environment(), stdout=ours, stderr=asyncio.subprocess.PIPE
    )
    os.close(ours)
    _, err = await one.communicate()
    assert one.returncode == process.BROKEN_PIPE
    assert err == b""

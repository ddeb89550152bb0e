"""The edge of the process: exit codes, error messages, Ctrl-C and broken pipes. No traceback by default."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

import typer

from bot.log_redaction import redact_logs
from bot.render.clean import clean, wrapped
from handlers.problem import Problem

INTERRUPTED = 130
BROKEN_PIPE = 141
CRASHED = 70
"""What a shell and sysexits.h expect for these."""

Act = Callable[[], int]

log = logging.getLogger("aksbot")


def run(act: Act, *, as_json: bool, debug: bool) -> int:
    """Run the command and return its exit code. Every failure gives a readable message."""
    redact_logs()
    _log_to_stderr(debug)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = act()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _stay_silent()
    except Exception as error:  # noqa: BLE001 - this is the edge of the process
        return _explain(error, as_json=as_json, debug=debug)
    return code


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the answer, including an error, is for a program."""
    return any(argument in ("--output", "-o") and two == "json" for argument, two in pairwise(arguments)) or (
        "--output=json" in arguments
    )


def print_problem(problem: Problem, *, as_json: bool) -> int:
    """Print what could not be done, why, and what to do."""
    if as_json:
        error = {"what": problem.what, "why": problem.why, "do": problem.do}
        sys.stdout.write(json.dumps({"error": error}) + "\n")
    else:
        sys.stderr.write(f"{clean(problem.what)}\n{_part('why', problem.why)}\n{_part('do', problem.do)}\n")
    return int(problem.code)


def problem_in(error: BaseException) -> Problem | None:
    """The Problem in an exception, or in the group that parallel tasks raised."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(problem_in, error.exceptions)), None)
    return None


def _part(label: str, text: str) -> str:
    return "\n".join(wrapped(f"{label}: {text}", indent="  ", hang=" " * (4 + len(label))))


def _explain(error: Exception, *, as_json: bool, debug: bool) -> int:
    problem = problem_in(error)
    if debug:
        log.error("the command ended with", exc_info=error)
    if problem:
        return _try_to_tell(problem, as_json=as_json, code=int(problem.code))
    unexpected = Problem(
        "cannot finish: aksbot itself failed",
        f"{type(error).__name__}: {error}"[:500],
        "run it again with --debug for the traceback, and report that",
    )
    return _try_to_tell(unexpected, as_json=as_json, code=CRASHED)


def _try_to_tell(problem: Problem, *, as_json: bool, code: int) -> int:
    try:
        print_problem(problem, as_json=as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        return _stay_silent()
    return code


def _stay_silent() -> int:
    """The reader of our output has exited. Python would complain again when it closes stdout."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return BROKEN_PIPE


def _log_to_stderr(debug: bool) -> None:
    """Logs are for --debug: in a terminal, the answer itself holds everything that matters."""
    if debug:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
        # Logging every header of every call would hide the rest.
        logging.getLogger("azure").setLevel(logging.WARNING)
    else:
        logging.getLogger().addHandler(logging.NullHandler())


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="Output for people or for programs.")]

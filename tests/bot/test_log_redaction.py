"""No log record of any logger contains a secret, regardless of its arguments and handlers."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bot.log_redaction import AUDIT, redact_logs

TYPED = "password=hunter2-Zq9"
PLANTED = "hunter2-Zq9"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a handler of the root logger writes."""
    redact_logs()
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def _raise() -> None:
    raise ValueError(f"cannot read {TYPED}")


@pytest.mark.parametrize("name", ["", "bot.app", "slack_bolt.AsyncApp", "slack_sdk.web.async_base_client", "asyncio"])
def test_a_secret_in_the_message_its_arguments_or_a_traceback_is_not_written(name: str, written: io.StringIO) -> None:
    log = logging.getLogger(name)
    level, log.level = log.level, logging.DEBUG
    log.warning("typed: %s", {"text": TYPED})
    log.warning(f"typed: {TYPED}")
    log.debug("%(body)s", {"body": TYPED})
    try:
        _raise()
    except ValueError as error:
        log.exception("failed")
        log.warning("failed", exc_info=error, stack_info=True)
    log.level = level
    assert written.getvalue().count("[redacted:password]") >= 5
    assert PLANTED not in written.getvalue()
    assert "in _raise" in written.getvalue(), "the traceback stays readable"


def test_arguments_that_do_not_fit_break_nothing(written: io.StringIO, capfd: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("bot.app").warning("%d of %d", TYPED)
    assert "do not fit" in written.getvalue()
    assert PLANTED not in written.getvalue() + capfd.readouterr().err


def test_a_line_of_the_audit_is_written_as_it_was_sealed(written: io.StringIO) -> None:
    line = f'{{"body":"{TYPED}"}}'
    logging.getLogger(AUDIT).info("%s", line)
    assert line in written.getvalue()


def test_a_command_redacts_its_log_from_the_start() -> None:
    code = (
        "import logging, bot.cli.process as process\n"
        f"process.run(lambda: logging.getLogger('x').warning('%s', {TYPED!r}) or 0, as_json=False, debug=True)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert "[redacted:password]" in ended.stderr
    assert PLANTED not in ended.stderr

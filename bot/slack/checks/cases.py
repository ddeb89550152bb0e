"""Answers that somebody called wrong, kept for whoever looks into them. What is in a report has been redacted."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from bot.address import Address
from bot.checks.recording import Record
from bot.report import report_json
from bot.report.events import Report
from handlers.clients.redact import redact_text
from handlers.problem import Problem

FOLDER = "wrong-answers"


def keep_case(data_dir: Path, request_id: str, report: Report, said_by: Address, comment: str = "") -> str:
    """The name of the file. The same answer is kept once, with what was said of it last."""
    folder = data_dir / FOLDER
    name = f"{_stem(request_id)}.json"
    case = {
        "cluster": str(report.diagnosis.target.id),
        "said_wrong_by": {"team": said_by.team, "channel": said_by.channel, "user": said_by.user},
        "comment": redact_text(comment),
        "report": json.loads(report_json.dump(report)),
    }
    beside = folder / f".{name}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(case, out, indent=2)
        beside.replace(folder / name)
    except OSError as refused:
        beside.unlink(missing_ok=True)
        raise _cannot_write(refused) from refused
    return name


async def keep_recording(data_dir: Path, request_id: str, cluster: str, record: Record) -> str:
    """The name of a file that `aksbot replay` reads; the newest one of an answer is kept."""
    name = f"{_stem(request_id)}.zip"
    file = data_dir / FOLDER / name
    beside = file.with_name(f".{name}.{os.getpid()}")
    try:
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        await record(cluster, beside)
        beside.replace(file)
    except OSError as refused:
        raise _cannot_write(refused) from refused
    finally:
        beside.unlink(missing_ok=True)
    return name


def _stem(request_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", request_id)[:80]


def _cannot_write(refused: OSError) -> Problem:
    why = refused.strerror or str(refused)
    return Problem("cannot keep the case", why, "see that aksbot may write to AKSBOT_DATA_DIR")

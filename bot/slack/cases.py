"""Answers that somebody called wrong, kept for whoever looks into them. What is in a report has been redacted."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from bot.events import Report
from bot.jobs import report_json
from bot.jobs.request import Place
from handlers.problem import Problem

FOLDER = "wrong-answers"


def keep_case(data_dir: Path, request_id: str, report: Report, said_by: Place) -> str:
    """The name of the file. The same answer is kept once."""
    folder = data_dir / FOLDER
    name = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', request_id)[:80]}.json"
    case = {
        "cluster": str(report.diagnosis.target.id),
        "said_wrong_by": {"team": said_by.team, "channel": said_by.channel, "user": said_by.user},
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
        why = refused.strerror or str(refused)
        raise Problem("cannot keep the case", why, "see that aksbot may write to AKSBOT_DATA_DIR") from refused
    return name

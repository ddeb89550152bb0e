"""`aksbot check` and `aksbot replay`."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from bot import settings
from bot.checks.check import check, check_target, engine_for, engine_for_recording, find
from bot.checks.clients import azure_access, clients, kube_access
from bot.checks.library import load
from bot.cli.process import print_problem
from bot.render.clean import width
from bot.render.json_report import as_dict
from bot.render.json_report import as_json as json_report
from bot.render.line import Line
from bot.render.report import report_lines
from bot.render.terminal import show_lines
from bot.render.verdict import verdict
from bot.render.watched import watched
from bot.report.events import Report, Selection
from handlers.clients.arm.reader import ArmReader
from handlers.clients.recording.case import Recorder, Recording
from handlers.model import State, Target
from handlers.problem import Exit, Problem
from handlers.question import read_question
from handlers.resource_id import BadResourceId, ResourceId
from runbooks.library import Library

EXITS = {State.CLEAR: Exit.CLEAR, State.FOUND: Exit.FOUND, State.INCONCLUSIVE: Exit.INCONCLUSIVE}


def check_cluster(
    cluster: str, scope: Selection, *, as_json: bool, record: Path | None, timeout_s: float | None
) -> int:
    """Check one cluster in Azure and print the report; the exit code is the verdict."""
    if record:
        must_be_writable(record)
    return asyncio.run(_check(cluster, scope, as_json=as_json, record=record, timeout_s=timeout_s))


def watch_cluster(
    cluster: str, scope: Selection, *, as_json: bool, record: Path | None, timeout_s: float | None, every_s: float
) -> int:
    """Check one cluster again and again until Ctrl-C; a report is printed in full where it differs from the last."""
    if record:
        do = "leave out --watch, or --record"
        raise Problem("cannot record while watching", "a recording holds one check", do, code=Exit.USAGE)
    if cluster.lower() == "all":
        do = "watch one of them by its name, or leave out --watch"
        raise Problem("cannot watch all clusters", "--watch is about one cluster", do, code=Exit.USAGE)
    asyncio.run(_watch(cluster, scope, as_json=as_json, timeout_s=timeout_s, every_s=every_s))
    return Exit.CLEAR


def replay_recording(file: Path, *, as_json: bool) -> int:
    """Check a recording; the network is not used."""
    return asyncio.run(_replay(file, as_json=as_json))


async def _check(cluster: str, scope: Selection, *, as_json: bool, record: Path | None, timeout_s: float | None) -> int:
    chosen = settings.load()
    library = load(chosen)
    limit_s = timeout_s or chosen.check_timeout_s
    engine = engine_for(library, scope, limit_s)
    recorder = Recorder() if record else None
    async with clients(azure_access(chosen), kube_access(chosen), recorder=recorder) as opened:
        asked = check(cluster, opened, engine, timeout_s=limit_s, detectors=scope.detectors, about=scope.about)
        report = await watched(cluster, asked)
    if recorder and record:
        recorder.target = str(report.diagnosis.target.id)
        recorder.about = str(scope.about or "")
        recorder.questions = engine.plan()[1]
        recorder.save(record)
    show(report, library, as_json=as_json)
    if record:
        sys.stderr.write(f"recorded, redacted, in {record}; `aksbot replay {record}` repeats it\n")
    return EXITS[report.diagnosis.state]


async def _watch(cluster: str, scope: Selection, *, as_json: bool, timeout_s: float | None, every_s: float) -> None:
    chosen = settings.load()
    library, limit_s = load(chosen), timeout_s or chosen.check_timeout_s
    engine = engine_for(library, scope, limit_s)
    before: object = None
    while True:
        try:
            # New clients each time: what they have read is kept for a while, and this is about what is so now.
            async with clients(azure_access(chosen), kube_access(chosen)) as opened:
                asked = check(cluster, opened, engine, timeout_s=limit_s, detectors=scope.detectors, about=scope.about)
                report = await watched(cluster, asked)
        except Problem as problem:
            if before is None:
                raise
            print_problem(problem, as_json=as_json)
        else:
            found = _found(report)
            _show_watched(report, library, as_json=as_json, changed=found != before)
            before = found
        sys.stdout.flush()
        await asyncio.sleep(every_s)


def _found(report: Report) -> object:
    """What makes two reports differ for a person: times and counts do not."""
    diagnosis = report.diagnosis
    unseen = frozenset(unavailable.wanted for unavailable in diagnosis.unseen)
    return diagnosis.state, frozenset(ranked.finding.key for ranked in diagnosis.findings), unseen


def _show_watched(report: Report, library: Library, *, as_json: bool, changed: bool) -> None:
    """For programs one line for each check."""
    if as_json:
        sys.stdout.write(json.dumps(as_dict(report, library)) + "\n")
        return
    at = f"{datetime.now(UTC):%H:%M:%S} UTC"
    if changed:
        show_lines([Line.of((at, "dim")), *report_lines(report, library, width()), Line()])
    else:
        show_lines([Line.of((f"{at} unchanged: ", "dim"), *verdict(report.diagnosis, library).pieces)])


async def _replay(file: Path, *, as_json: bool) -> int:
    chosen = settings.load()
    library = load(chosen)
    recording = Recording.load(file)
    engine = engine_for_recording(library, recording, chosen.check_timeout_s)
    async with clients(azure_access(chosen), kube_access(chosen), recording=recording) as opened:
        target = await _recorded_target(recording, opened.arm)
        report = await watched(target.name, check_target(target, opened, engine))
    show(report, library, as_json=as_json)
    return EXITS[report.diagnosis.state]


async def _recorded_target(recording: Recording, arm: ArmReader) -> Target:
    """The cluster's id; a recording written by hand may hold only a name."""
    try:
        cluster = ResourceId.parse(recording.target)
    except BadResourceId:
        cluster = (await find(recording.target, arm)).id
    about = read_question(recording.about.split()) if recording.about else None
    return Target(cluster, recording.recorded_at, about)


def show(report: Report, library: Library, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_report(report, library) + "\n")
    else:
        show_lines(report_lines(report, library, width()))


def must_be_writable(file: Path, what: str = "record") -> None:
    """Fail before the check, not after it. A file that did not exist does not exist afterwards either."""
    try:
        existed = file.exists()
        with file.open("ab"):
            pass
        if not existed:
            file.unlink()
    except OSError as refused:
        why = refused.strerror or str(refused)
        raise Problem(
            f"cannot {what} to {file}", why, "name a file in a folder you may write to", code=Exit.USAGE
        ) from refused

"""What does the control plane log? It is asked in words alone: errors in a log are no problem by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.control_plane_logs import ControlPlaneLogs, LogLine
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Target, Unavailable, Why
from handlers.question import Word
from handlers.resource_id import last_name

CODE = "api-server-logs"
MOST_SHOWN = 6
LONGEST = 300
_SAME = 40
"""Lines that begin alike, behind klog's own head, say the same about something else."""
_LONGEST_HEAD = 120


@diagnostic(codes=(CODE,), area="cluster", word=Word.LOGS)
def api_server_logs(
    target: Target, cluster: ManagedCluster, logs: ControlPlaneLogs | NotApplicable
) -> Iterator[Judgement]:
    """What the logs of the API server and the rest of the control plane say."""
    if target.about is None or target.about.word is not Word.LOGS:
        yield NotApplicable("nobody asked for the control plane's logs")
    elif isinstance(logs, NotApplicable):
        yield _finding(cluster, (logs.because,), {"kept": False})
    elif logs.never_written:
        detail = f"{logs.table} does not exist in {last_name(logs.workspace)}: nothing has arrived there yet"
        yield Unavailable("the control plane's logs", Why.ABSENT, detail)
    elif logs.lines:
        yield _logged(cluster, logs)
    elif logs.complete:
        asked, where = ", ".join(logs.components), last_name(logs.workspace)
        yield Clear(f"no error since {logs.since:%H:%M} UTC in the logs of {asked} (workspace {where})")


def _logged(cluster: ManagedCluster, logs: ControlPlaneLogs) -> Finding:
    by_component = Counter(line.component for line in logs.lines)
    counts = ", ".join(f"{name} {number}" for name, number in by_component.most_common())
    more = "at least " if logs.truncated else ""
    total = f"{more}{len(logs.lines)} errors since {logs.since:%H:%M} UTC: {counts}"
    kinds = _kinds(logs.lines)
    shown = [
        f"{times} × {line.component}, last at {line.at:%H:%M:%S} UTC: {line.message[:LONGEST]}"
        for line, times in kinds[:MOST_SHOWN]
    ]
    rest = [f"and {len(kinds) - MOST_SHOWN} more kinds of error"] if len(kinds) > MOST_SHOWN else []
    facts = {
        "kept": True,
        "workspace": last_name(logs.workspace),
        "workspace_id": logs.workspace,
        "workspace_guid": logs.workspace_id,
        "table": logs.table,
        "query": logs.query,
        "errors": len(logs.lines),
    }
    return _finding(cluster, (total, *shown, *rest), facts)


def _finding(cluster: ManagedCluster, because: tuple[str, ...], facts: dict[str, object]) -> Finding:
    return Finding(
        code=CODE,
        subject=cluster.id,
        severity=Severity.INFO,
        because=because,
        facts={
            **facts,
            "cluster": cluster.name,
            "cluster_id": cluster.id,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _kinds(lines: tuple[LogLine, ...]) -> list[tuple[LogLine, int]]:
    """The newest line of each kind, and how many there are of it; the most frequent first."""
    newest: dict[tuple[str, str], LogLine] = {}
    counted: Counter[tuple[str, str]] = Counter()
    for line in lines:
        kind = line.component, _kind(_said(line.message))
        newest.setdefault(kind, line)
        counted[kind] += 1
    return [(newest[kind], number) for kind, number in counted.most_common()]


def _kind(said: str) -> str:
    """A structured line has its sentence in quotes, and what it is about behind them."""
    if said.startswith('"'):
        return said[1:].partition('"')[0]
    return "".join(letter for letter in said if not letter.isdigit())[:_SAME]


def _said(message: str) -> str:
    """Without klog's head, `E1120 03:12:44.123456       1 file.go:12]`: its time differs in each line."""
    head, bracket, rest = message.partition("] ")
    return rest if bracket and len(head) < _LONGEST_HEAD else message

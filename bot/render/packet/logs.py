"""The control plane's logs in a support packet: the errors of the last hour, or how to have them kept."""

from __future__ import annotations

from collections.abc import Iterator

from bot.render.clean import one_line
from bot.render.packet.fenced import fenced
from bot.render.packet.material import Material
from bot.render.packet.timeline import utc
from bot.render.verdict import count
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.control_plane_logs import ControlPlaneLogs
from handlers.model import NotApplicable
from runbooks.library import FIX, Library

PAGE = "api-server-logs"


def as_markdown(material: Material, library: Library) -> str:
    """Only for a managed cluster: Azure runs no other control plane."""
    logs = material.fact(ControlPlaneLogs)
    told = _lines(logs) if logs else _none(material, library)
    return "\n".join([f"# Errors in the control plane's logs of {material.cluster}", "", *told, ""])


def _lines(logs: ControlPlaneLogs) -> Iterator[str]:
    yield f"- workspace: `{logs.workspace}` (workspace id `{logs.workspace_id}`), table {logs.table}"
    yield f"- since {utc(logs.since)}; of {', '.join(logs.components)}; the audit logs are not read"
    yield ""
    yield from fenced(logs.query, "kusto")
    yield ""
    if logs.never_written:
        yield "The table does not exist: nothing has arrived there yet."
    elif not logs.lines:
        yield "No errors."
    else:
        cut = " There are more: this is what was read." if logs.truncated else ""
        yield f"{count(len(logs.lines), 'error')}, newest first.{cut}"
        yield ""
        told = (f"{utc(line.at)} {line.level} {line.component} {line.pod}: {line.message}" for line in logs.lines)
        yield from fenced("\n".join(map(one_line, told)))


def _none(material: Material, library: Library) -> Iterator[str]:
    why = material.why_not(ControlPlaneLogs)
    yield f"They could not be read: {why.because if isinstance(why, NotApplicable) else why}."
    cluster = material.fact(ManagedCluster)
    if isinstance(why, NotApplicable) and cluster and PAGE in library:
        facts = {"cluster": cluster.name, "group": cluster.group, "subscription": cluster.subscription, "kept": False}
        yield ""
        yield library[PAGE].outline(FIX, facts)

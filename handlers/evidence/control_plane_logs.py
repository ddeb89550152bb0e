"""What the control plane has logged in the last hour, where a diagnostic setting sends its logs to Log Analytics.

Only the errors of its components are read, and never the audit logs: those hold who did what to which object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import Denied
from handlers.clients.log_analytics import LogAnalytics, NoSuchTable, QueryResult
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.lookups import WORKSPACE
from handlers.evidence.monitor import DiagnosticSetting, DiagnosticSettings
from handlers.evidence.wire import moment, need_text, text
from handlers.model import CannotSee, Evidence, NotApplicable, Target, Unavailable
from handlers.resource_id import last_name

COMPONENTS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "cloud-controller-manager",
    "cluster-autoscaler",
    "guard",
)
"""The categories that are read. Those of the audit, and of the storage drivers, are not among them."""
ALL_LOGS = "allLogs"
"""The category group that stands for every category."""
WINDOW = timedelta(hours=1)
MOST = 500
DEDICATED, SHARED = "AKSControlPlane", "AzureDiagnostics"
RUN = "Microsoft.OperationalInsights/workspaces/query/read"
_API = next(iter(WORKSPACE.values()))


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line."""

    at: datetime
    component: str
    level: str
    pod: str
    message: str


@dataclass(frozen=True, kw_only=True)
class ControlPlaneLogs(Evidence):
    """The errors in the logs of the control plane, newest first."""

    workspace: str
    workspace_id: str
    table: str
    query: str
    components: tuple[str, ...]
    """Those whose logs are sent there."""
    since: datetime
    lines: tuple[LogLine, ...]
    never_written: bool = False
    """The table does not exist: nothing has arrived yet."""


@collector(
    reads=(
        "Microsoft.OperationalInsights/workspaces/read",
        RUN,
        f"Microsoft.OperationalInsights/workspaces/query/{DEDICATED}/read",
        f"Microsoft.OperationalInsights/workspaces/query/{SHARED}/read",
    ),
    deadline_s=25,
)
async def control_plane_logs(
    target: Target, cluster: ManagedCluster, settings: DiagnosticSettings, arm: ArmReader, logs: LogAnalytics
) -> ControlPlaneLogs | NotApplicable:
    """the control plane's logs"""
    sending = next((setting for setting in settings.settings if components_of(setting) and setting.workspace), None)
    if sending is None:
        return NotApplicable(_nowhere(cluster, settings))
    body = (await arm.get(sending.workspace, _API)).body
    name, until = need_text(body, "properties", "customerId"), target.asked_at.replace(second=0, microsecond=0)
    asked, table = query_for(cluster.id, sending), DEDICATED if sending.dedicated else SHARED
    result = await _asked(logs, name, asked, until)
    return ControlPlaneLogs(
        source=f"{table} of workspace {last_name(sending.workspace)}",
        taken_at=result.taken_at if result else settings.taken_at,
        truncated=bool(result and (result.partial or len(result.rows) >= MOST)),
        workspace=sending.workspace,
        workspace_id=name,
        table=table,
        query=asked,
        components=components_of(sending),
        since=until - WINDOW,
        lines=tuple(line for row in result.rows if (line := _line(row))) if result else (),
        never_written=result is None,
    )


def components_of(setting: DiagnosticSetting) -> tuple[str, ...]:
    """The components of the control plane whose logs it sends."""
    return tuple(name for name in COMPONENTS if name in setting.sends or ALL_LOGS in setting.sends)


def query_for(cluster: str, setting: DiagnosticSetting) -> str:
    """Errors of these components of this cluster. Both tables also hold the logs of other clusters."""
    wanted = ", ".join(f'"{name}"' for name in components_of(setting))
    mine = f'_ResourceId =~ "{cluster}" and Category in ({wanted})'
    if setting.dedicated:
        return (
            f'{DEDICATED} | where {mine} and Level in~ ("ERROR", "FATAL") '
            f"| project TimeGenerated, Category, Level, PodName, Message | order by TimeGenerated desc | take {MOST}"
        )
    # klog begins each line with the first letter of its level.
    return (
        f'{SHARED} | where {mine} and (log_s startswith "E" or log_s startswith "F") '
        f"| project TimeGenerated, Category, pod_s, log_s | order by TimeGenerated desc | take {MOST}"
    )


async def _asked(logs: LogAnalytics, workspace: str, query: str, until: datetime) -> QueryResult | None:
    """None where the table does not exist yet. A 403 of Log Analytics names no permission."""
    try:
        return await logs.query(workspace, query, until - WINDOW, until)
    except NoSuchTable:
        return None
    except Denied as denied:
        raise CannotSee(_with_grant(denied.unavailable)) from denied


def _with_grant(unavailable: Unavailable) -> Unavailable:
    return replace(unavailable, grant=unavailable.grant or RUN)


def _nowhere(cluster: ManagedCluster, settings: DiagnosticSettings) -> str:
    elsewhere = [setting for setting in settings.settings if components_of(setting)]
    if elsewhere:
        where = ", ".join(f"{setting.name} sends them to {last_name(setting.to)}" for setting in elsewhere)
        return f"the control plane's logs of {cluster.name} are not in Log Analytics: {where}"
    return f"no diagnostic setting of {cluster.name} sends the control plane's logs anywhere"


def _line(row: Mapping[str, Any]) -> LogLine | None:
    at = moment(text(row, "TimeGenerated"))
    if at is None:
        return None
    message = text(row, "Message") or text(row, "log_s")
    level = text(row, "Level") or ("FATAL" if message.startswith("F") else "ERROR")
    return LogLine(at, text(row, "Category"), level, text(row, "PodName") or text(row, "pod_s"), message)

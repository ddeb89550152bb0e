"""A check whose answers are kept: the same question again, in a file that `aksbot replay` diagnoses anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.checks.check import Beside, check, engine_for
from bot.checks.clients import clients
from bot.checks.runner import LIMIT_S
from bot.report.events import EVERYTHING, Report
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem
from runbooks.library import Library

if TYPE_CHECKING:
    from handlers.clients.recording.case import Recorder

Record = Callable[[str, Path], Awaitable[None]]
"""Ask everything about a cluster anew, and write the redacted answers into this file; or raise a Problem."""


def azure_recorder(azure: AzureAccess, kube: KubeAccess, library: Library, timeout_s: float) -> Record:
    """Records with a way to Azure of its own: what others remember of Azure would be missing in the file.

    Every question is asked, whatever was asked before, and the file names them: a replay asks the same ones.
    """

    async def record(cluster: str, file: Path) -> None:
        _, recorder = await recorded_check(cluster, azure, kube, library, timeout_s)
        await asyncio.to_thread(recorder.save, file)

    return record


async def recorded_check(
    cluster: str | ClusterRef,
    azure: AzureAccess,
    kube: KubeAccess,
    library: Library,
    timeout_s: float,
    beside: Beside | None = None,
) -> tuple[Report, Recorder]:
    """One whole check, and all that was asked and answered in it. Raises a Problem where there is none."""
    from handlers.clients.recording.case import Recorder

    recorder = Recorder()
    engine = engine_for(library, EVERYTHING, timeout_s)
    try:
        async with (
            asyncio.timeout(LIMIT_S),
            clients(azure, kube, recorder=recorder) as opened,
            aclosing(check(cluster, opened, engine, timeout_s=timeout_s, fresh=True, beside=beside)) as events,
        ):
            async for event in events:
                if isinstance(event, Report):
                    recorder.target = str(event.diagnosis.target.id)
                    recorder.questions = engine.plan()[1]
                    return event, recorder
    except TimeoutError as late:
        why = f"the check took longer than {LIMIT_S:g} s"
        raise Problem("cannot record the case", why, "try again in a minute") from late
    raise AssertionError("a check ends with a report")

"""Whether an operation runs on a cluster, as its check has found: somebody may want to hear of its end."""

from __future__ import annotations

from handlers.diagnose.provisioning_in_progress import NOTHING_RUNS
from handlers.model import Diagnosis, Outcome

_CODE = "provisioning-in-progress"


def operation_runs(diagnosis: Diagnosis) -> bool:
    """For less long than is usual, which is clear, or for longer. Where that could not be seen, nobody knows."""
    asked = (check for check in diagnosis.checks if _CODE in check.codes)
    return any(
        check.outcome is Outcome.FOUND or (check.outcome is Outcome.CLEAR and check.why != NOTHING_RUNS)
        for check in asked
    )

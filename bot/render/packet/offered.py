"""Where a support packet is offered: under a finding whose page says to hand it to Azure support."""

from __future__ import annotations

from handlers.model import Finding
from runbooks.head import BadRunbook
from runbooks.library import FIX, Runbook

SAYS_SO = "/aks support"


def is_offered(finding: Finding, runbook: Runbook | None) -> bool:
    """Whether the steps for this very finding name the command: some of a page's branches need no support."""
    if runbook is None or SAYS_SO not in runbook.sections[FIX]:
        return False
    try:
        return SAYS_SO in runbook.render(FIX, finding.facts)
    except BadRunbook:
        return True

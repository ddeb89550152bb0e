"""What the buttons and windows of fixes carry: which proposal, of which plan, on which cluster, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from bot.slack.kit import limits

FIX, APPROVE, DECLINE, SHOW, GLASS, STOP = (
    "fix",
    "fix_approve",
    "fix_decline",
    "fix_show",
    "fix_glass",
    "fix_stop",
)
"""The action ids. `FIX` is numbered, by cause and by remedy: `fix_0_0`."""
AUDIT_OLDER = "audit_older"
FIX_PATTERN = re.compile(rf"^{FIX}_\d+_\d+$")
ASK_VIEW, GLASS_VIEW, SHOW_VIEW = "fix_ask", "fix_break_glass", "fix_plan"
DECLINE_VIEW = "fix_decline_why"
REASON_BLOCK, REASON = "fix_reason", "reason"


@dataclass(frozen=True, slots=True)
class PressedFix:
    """`digest` is of the plan that was shown: an approval is for that one and no other."""

    proposal: str
    digest: str
    cluster: str
    channel: str = ""
    thread_ts: str = ""

    def dump(self) -> str:
        values = [self.proposal, self.digest, self.cluster[: limits.BUTTON_VALUE // 2], self.channel, self.thread_ts]
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> PressedFix:
        """What somebody else has put there is no proposal of ours, and is answered so."""
        try:
            values = json.loads(text)
            proposal, digest, cluster, channel, thread_ts = (str(value) for value in values)
        except (ValueError, TypeError):
            return cls("", "", "")
        return cls(proposal, digest, cluster, channel, thread_ts)

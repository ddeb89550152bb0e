"""What people see of support packets."""

from __future__ import annotations

from functools import partial
from typing import Any

from bot.checks.support.packets import Packet
from bot.slack.support import view
from handlers.problem import Problem
from tests.bot.packets import ACTIVITY, asked, entry, material, packed

FOUND = material(asked(ACTIVITY, {"value": [entry("one", "Failed", 30, "no room")]}))
WHOLE = Packet(packed(FOUND), FOUND.report, 0)
IN_PART = Packet(packed(FOUND), FOUND.report, 3)
NOWHERE = Problem("cannot find a cluster called prod-wue", "Azure lists none", "check the name; nearest is prod-weu")

SUPPORT: dict[str, partial[Any]] = {
    "support-collecting": partial(view.collecting, "prod-weu"),
    "support-made": partial(view.made, WHOLE, "U0REQUESTER"),
    "support-made-in-part": partial(view.made, IN_PART, "U0REQUESTER"),
    "support-failed": partial(view.failed, "prod-wue", NOWHERE),
}

"""What the lists about fixes say: what can be done, what waits, what was done."""

from __future__ import annotations

from datetime import datetime

from bot.render.verdict import count
from bot.slack.fixes.text import LONGEST
from bot.slack.kit.escaping import code, plain

OPEN_TITLE = "Open requests"
NOTHING_TO_FIX = "Nothing here has a fix."
NOTHING_OPEN = "No fix is waiting or running."
NOT_ALL = "Not all of them fit here; an answer shows those for its causes."
LOOKING = "Looking at what can be done …"
AUDIT_TITLE = "Audit"
REQUEST = "the request"
UNREADABLE = "this record cannot be read"
UNREADABLE_AUDIT = "Its records cannot be read: something else stands in their place."
NO_RECORDS = "Nothing has been recorded yet about clusters that you may look at."
AUDIT_HERE = "Reading the audit …"
VERIFY = "`aksbot audit verify` says how they become possible again"
OLDER, OLDER_RECORDS = "Older", "Older records."
ALL_OF_IT = (
    "Only you see this. All that you may see as a file: `/aks audit` in a direct message to me; all there is: "
    "`aksbot audit export`."
)


def fixes_of(cluster: str) -> str:
    return f"What can be done about {code(cluster)}"


def open_until(moment: datetime) -> str:
    return f"open until {moment:%H:%M} UTC"


def audit_state(records: int, broken: str) -> str:
    if broken:
        return f":rotating_light: *The audit is broken:* {plain(broken, LONGEST)}. Fixes are refused; {VERIFY}."
    return f"{count(records, 'record')}, whole."


def set_aside(told: str) -> str:
    return f"An earlier audit was broken, and was set aside {told}"


def looked_at(number: int) -> str:
    return f"Looked through {number} records; *{OLDER}* goes on from there."

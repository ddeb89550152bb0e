"""What is said about changes, in Slack only."""

from __future__ import annotations

from bot.slack.kit.escaping import code

LOOKING = "Reading the activity log …"
FORM = "Say for which cluster: `/aks changes &lt;cluster&gt; [2h]`. Without a time it is the last 24 h."


def rest_in_file(number: int, name: str) -> str:
    return f"… and {number} older ones: all of them are in {code(name)} in this thread."

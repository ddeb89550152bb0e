"""What is said about a cluster's history, in Slack only."""

from __future__ import annotations

from bot.slack.kit.escaping import code

LOOKING = "Looking what is known of it …"
FORM = "Say for which cluster: `/aks history &lt;cluster&gt;`"


def rest_in_file(number: int, name: str) -> str:
    return f"… and {number} older ones: all of them are in {code(name)} in this thread."

"""What is said about a channel's default cluster."""

from __future__ import annotations

from bot.slack.kit.escaping import code

USAGE = "`/aks default &lt;cluster&gt;` sets it, `/aks default none` takes it away."
NONE_SET = f"This channel has no default cluster: `/aks check` without a name offers a list. {USAGE}"
WAS_NONE = f"This channel had no default cluster, so nothing has changed. {USAGE}"


def is_set(cluster: str) -> str:
    return f"The default cluster of this channel is {code(cluster)}: `/aks check` without a name checks it. {USAGE}"


def already(cluster: str) -> str:
    return f"{code(cluster)} is the default cluster of this channel already."


def was_set(cluster: str, before: str | None) -> str:
    instead = f", instead of {code(before)}" if before else ""
    what_for = "`/aks check` without a name checks it"
    return f"The default cluster of this channel is now {code(cluster)}{instead}: {what_for}."


def was_cleared(before: str) -> str:
    return f"This channel has no default cluster any more (it was {code(before)})."


SET_BY = "Set by "


def looking_at_default(cluster: str) -> str:
    return f"Checking {code(cluster)}, the default cluster of this channel: the answer comes here."


def another(cluster: str) -> str:
    return f"{code(cluster)} is being checked, the default cluster of this channel. Another one?"

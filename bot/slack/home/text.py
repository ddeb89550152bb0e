"""The sentences of App Home."""

from __future__ import annotations

from bot.render.verdict import count
from bot.slack.kit.escaping import code, plain

FLEET, APPROVALS, RECENT = "Clusters", "Open approvals", "Recent checks"
REFRESH, CHECK = "Refresh", "Check"
LOADING = "Looking at your clusters …"
NO_APPROVALS = "No approvals are open."
NO_RECENT = "No cluster that you may view was checked in the last days. `/aks check` checks one."
NO_FLEET = (
    "There is no cluster that you may view. Either none exists, my identity may not read it, or the policy hides it "
    "from you."
)
NO_MEMORY = "The recent checks cannot be shown: Redis is not reachable. Press *Refresh* in a minute."
APPROVALS_AWAY = (
    "Open approvals can be neither shown nor approved: Redis is not reachable. Press *Refresh* in a minute; if that "
    "does not help, check the Redis server."
)
APPROVALS_NOT_TOLD = "Whether approvals are open cannot be shown."
NO_ANSWER = "NO ANSWER"
HERE = "the answer"
UNTIL = " · open until "
ONLY_YOU = "only you saw the answer"
HINT = "`/aks check &lt;cluster&gt;` checks in a channel; `/aks help` shows what else I do."

LIGHTS = {"trouble": ":red_circle:", "moving": ":large_yellow_circle:", "stopped": ":white_circle:"}


def summary(total: int, counted: list[tuple[str, int]]) -> str:
    """`8 clusters: 1 Failed, 1 Stopped, 6 healthy`."""
    parts = ", ".join(f"{number} {plain(state, 40)}" for state, number in counted)
    return f"*{count(total, 'cluster')}*: {parts}"


def state_line(light: str, name: str, state: str, place: str) -> str:
    return f"{LIGHTS[light]} *{code(name)}* · *{plain(state, 60)}*\n{plain(place, 200)}"


def well(number: int) -> str:
    return f"In the state Succeeded ({number})"


def taken_at(time: str) -> str:
    return f"As of about {time}. This list may lag by minutes; checks read the live state."


def more_in_trouble(number: int) -> str:
    return f"… and {number} more with problems; `/aks clusters` lists them."


def more_well(number: int) -> str:
    return f"… and {number} more"


def more_recent(number: int) -> str:
    return f"{count(number, 'older check')} not shown."


def checking(cluster: str) -> str:
    return f"Checking {code(cluster)}: the answer will be under *Messages*, above."

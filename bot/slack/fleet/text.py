"""What is said about the fleet."""

from __future__ import annotations

from bot.render.verdict import count

CHECK_THEM = "`/aks check all` checks them all, `/aks check &lt;cluster&gt;` one."
WAITS = "waits"
NOT_CHECKED = "could not be checked"
CHECKING = "Checking all of your clusters …"
NOTHING_TO_CHECK = "There is no cluster here that you may check."
FOR = "For "


def so_far(done: int, number: int) -> str:
    return f"{done} of {count(number, 'cluster')} checked"


def all_checked(number: int) -> str:
    return "The one cluster is checked" if number == 1 else f"All {number} clusters are checked"


def failed(number: int) -> str:
    return f"{number} could not be checked" if number else ""


def left_out(number: int) -> str:
    return f"{count(number, 'more cluster')} left out: so many are not checked at once."

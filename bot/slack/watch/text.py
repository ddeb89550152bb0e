"""What is said to somebody who waits for something to end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.render.verdict import count
from bot.slack.kit.escaping import code, plain, span

STOP = "Stop watching"
GONE = "Nobody waits for that any more."
NONE = "Nobody here waits for anything. `/aks watch &lt;cluster&gt;` tells you when what is wrong or runs there ends."
LISTED = "*What I watch*"
STOPPED_BY = "Stopped by "
FOR = "For "
_AGAIN = "Say `/aks watch {}` to go on."


def watching(cluster: str, waits_for: Sequence[str], longest: timedelta) -> str:
    what = "; ".join(plain(item, 150) for item in waits_for)
    line = f":eyes: I watch {code(cluster)}: {what}."
    return f"{line} I post here once when it is over, or after {span(longest)} that it is not."


def runs(state: str) -> str:
    """As Azure calls it."""
    return f"it is {state}"


def nothing_to_wait_for(cluster: str) -> str:
    what = f":large_green_circle: No check finds anything wrong with {code(cluster)}, and nothing runs there"
    return f"{what}: there is nothing to wait for."


def cannot_tell(cluster: str) -> str:
    what = f"I cannot watch {code(cluster)}: nothing wrong was found, but not everything could be seen, so I could not"
    return f"{what} tell when it ends. `/aks check {plain(cluster, 80)}` says what is missing."


def known(cluster: str) -> str:
    return f"I watch {code(cluster)} here already, and say when it is over."


def too_many(number: int) -> str:
    return f"I watch {count(number, 'cluster')} already, and no more at a time. `/aks watch` lists them; stop one."


def over(cluster: str, after: timedelta) -> str:
    return f":white_check_mark: *Over after {span(after)}:* what you waited for on {code(cluster)}"


def now_clear(found_nothing: str) -> str:
    """`6 checks found nothing there now.`"""
    return f"{plain(found_nothing, 150)} there now."


def now_found(titles: Sequence[str]) -> str:
    return f"But something else is wrong there now: {', '.join(plain(title, 150) for title in titles)}."


NOW_UNCLEAR = "Whether anything else is wrong there could not be seen in full."


def gave_up(cluster: str, after: timedelta) -> str:
    return f":hourglass: *Not over after {span(after)}:* I stop watching {code(cluster)}."


def still(waits_for: Sequence[str], cluster: str) -> str:
    what = "; ".join(plain(item, 150) for item in waits_for)
    return f"It is still so: {what}. {_AGAIN.format(plain(cluster, 80))}"


def unseen(why: str, cluster: str) -> str:
    return f"I could not see whether it is over: {plain(why, 300)}. {_AGAIN.format(plain(cluster, 80))}"


NOT_SEEN = "not everything could be looked at"


def stopped(cluster: str) -> str:
    return f":octagonal_sign: I watch {code(cluster)} no more."


def ended(cluster: str) -> str:
    """What becomes of the message about a watch."""
    return f":eyes: I watched {code(cluster)}; how it ended stands below."


def listed(cluster: str, lasts: timedelta) -> str:
    return f"{code(cluster)} for {span(lasts)}"

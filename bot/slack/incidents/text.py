"""What is said in incident channels, where nobody asked."""

from __future__ import annotations

from datetime import datetime

from bot.render.verdict import count
from bot.slack.kit.escaping import code, escape, plain
from bot.slack.kit.sentences import named

QUIET_HERE, SNOOZE = "Mute this thread", "Snooze 4 h"
ALLOW, REFUSE = "Allow", "Do not read it"
PICK_PLACEHOLDER = "Choose a cluster"
SILENCED = "Muted in this thread. `@aksbot check &lt;cluster&gt;` still works."
GONE = "There is no such incident any more: nothing was heard of it for days."
NO_CLUSTER = "Which cluster is it about? I check the one that you choose."
SEVERAL = "Which of these clusters is meant? I check the one that you choose."
NO_CHECK_EXISTS = "No check exists for this: it is recognised by the text alone."
RECOGNISED_ONLY = "Recognised, not verified."
LOOKS_AGAIN = "I check again from time to time, and say so when it is over."
CONFIRMED, FOUND = "Confirmed", "Found"
TRIES_AGAIN = "I try again from time to time."


def suspected(title: str, cluster: str) -> str:
    return f":eyes: *{plain(title, 200)}* on {code(cluster)}? Checking now."


def confirmed(title: str, cluster: str) -> str:
    return f":red_circle: *{CONFIRMED}: {plain(title, 200)}* on {code(cluster)}"


def proved(word: str, effect: str, do: str) -> str:
    """What does not work and why, and what to do: of what was reported, or of something else."""
    mark = ":red_circle:" if word == CONFIRMED else ":large_orange_circle:"
    return f"{mark} *{word}: {named(effect)}*" + (f"\n{named(do)}" if do else "")


def not_confirmed(title: str, cluster: str) -> str:
    return f":large_green_circle: *Not confirmed: {plain(title, 200)}* on {code(cluster)}. {LOOKS_AGAIN}"


def found_instead(title: str, cluster: str) -> str:
    """What was proved where something else was reported."""
    return f":large_orange_circle: *{FOUND}: {plain(title, 200)}* on {code(cluster)}"


def reported_not_confirmed(title: str) -> str:
    return f"Reported as *{plain(title, 200)}*, which the check did not confirm."


def reported_not_checked(title: str) -> str:
    return f"Reported as *{plain(title, 200)}*, which could not be checked. The answer says what could not be seen."


def could_not_check(title: str, cluster: str) -> str:
    what = f":white_circle: *Could not check: {plain(title, 200)}* on {code(cluster)}."
    return f"{what} The answer below says what could not be seen, and why. {TRIES_AGAIN}"


def no_check(title: str, cluster: str, runbook: str) -> str:
    what = f":white_circle: *{plain(title, 200)}* on {code(cluster)}. {RECOGNISED_ONLY}"
    return f"{what} {NO_CHECK_EXISTS} {_says(runbook)}"


def beside_it(title: str, why: str, runbook: str) -> str:
    what = f":white_circle: It also reads like *{plain(title, 200)}*: {plain(why, 300)}."
    return f"{what} {RECOGNISED_ONLY} {_says(runbook)}"


def _says(runbook: str) -> str:
    return f"`/aks runbook {escape(runbook)}` says what to do."


def merged_not_confirmed(title: str, cluster: str) -> str:
    what = f":link: *Not confirmed: {plain(title, 200)}* on {code(cluster)}"
    return f"{what}. What was found there is an incident that is known already"


def closed(title: str, cluster: str, *, proved: bool) -> str:
    return f":white_check_mark: *{'Over' if proved else 'Never confirmed'}: {plain(title, 200)}* on {code(cluster)}"


def merged(title: str, cluster: str) -> str:
    return f":link: *{plain(title, 200)}* on {code(cluster)} has the cause of an incident that is known already"


def closed_line(cluster: str, *, proved: bool) -> str:
    if not proved:
        return f":white_check_mark: A check of {code(cluster)} finds nothing of it: this incident is closed."
    return f":white_check_mark: A check of {code(cluster)} finds it no more: this incident is closed."


def back_line(cluster: str, rounds: int) -> str:
    times = f" (round {rounds})" if rounds > 3 else ""
    return f":repeat: It is reported again{times}. Checking {code(cluster)} now."


def found_since(title: str, cluster: str, proof: str) -> str:
    line = f":mag: A later check of {code(cluster)} found: *{plain(title, 200)}*"
    return f"{line}. {plain(proof, 400)}" if proof else line


MERGED_LINE = "This is the same incident as another one, so I go on in its thread."


def known_elsewhere(title: str, cluster: str) -> str:
    return f"*{plain(title, 200)}* on {code(cluster)} is known already, so I answer in its thread."


def checked_elsewhere(cluster: str) -> str:
    return f"A problem of {code(cluster)} is known already, so I answer in its thread."


def apart(cluster: str) -> str:
    return f"This thread is about another cluster, so I answer about {code(cluster)} in a thread of its own."


def cause_in_effect(effect: str, said: str) -> str:
    return f"• *{named(effect)}*: {plain(said, 400)}" if said else f"• *{named(effect)}*"


def cause(title: str, said: str) -> str:
    return f"• *{plain(title, 200)}*: {plain(said, 400)}" if said else f"• *{plain(title, 200)}*"


def cause_itself(said: str) -> str:
    """Where its title stands right above."""
    return plain(said, 400)


def recognised_by(why: str) -> str:
    return f"Recognised by {plain(why, 300)}"


def reports(number: int) -> str:
    return count(number, "report")


def over(minutes: int, moment: datetime) -> str:
    """Beside the tick; who had it checked follows."""
    return f"Over since the check at {moment:%H:%M} UTC, {_lasted(minutes)} after the first report"


def _lasted(minutes: int) -> str:
    if minutes < 1:
        return "less than a minute"
    hours, rest = divmod(minutes, 60)
    parts = [count(hours, "hour")] * bool(hours) + [count(rest, "minute")] * bool(rest)
    return " ".join(parts)


OVER_BY, OVER_BY_ITSELF = ", in a check that was asked for by ", ", when I looked again."
REPORTED_BY, REPORTED_TOO = "Reported by ", "Also reported by "
ALSO_IN, IT_IS_IN, THREAD = "Also in ", "It is in ", "its thread"
BY = "By "


# What is asked.


def check_for(cluster: str, name: str) -> str:
    """A button's label: plain text."""
    return f"Check {cluster} for {name}?"


def check(cluster: str) -> str:
    """A button's label: plain text."""
    return f"Check {cluster}"


def reads_like(title: str, name: str) -> str:
    return f"This reads like *{plain(title, 200)}* · {code(name)}."


def no_fleet(what: str, why: str, do: str) -> str:
    return plain(f"I cannot tell which cluster it is about: {what}, {why}. {do}", 900)


def allow_posts(app: str) -> str:
    who = plain(app, 80) or "this app"
    return f"A post of *{who}* reads like an incident. *Allow posts from {who}?* I read an app's posts only if I may."


def allowed(app: str) -> str:
    return f"Allowed: I read the posts of *{plain(app, 80) or 'this app'}* from now on, in every channel."


def refused(app: str) -> str:
    return f"Refused: I do not read the posts of *{plain(app, 80) or 'this app'}*."


ALREADY_DECIDED = "Someone has decided that already."


# What is said on arrival.


def arrived(auto_check: bool) -> str:
    does = "I check it and answer in a thread" if auto_check else "I offer to check it, in a thread"
    return (
        "I read along here. When someone or an alert speaks of a problem of one of our clusters that I recognise, "
        f"{does}; else I am quiet. `stop` in a thread silences me there, and `/aks help` says what else I can do."
    )


# Muting.

MUTE_USAGE = (
    "Say `/aks mute &lt;code&gt; &lt;cluster&gt; until &lt;date or 4h&gt; &lt;reason&gt;`, "
    "or `/aks unmute &lt;code&gt; &lt;cluster&gt;`."
)
NOTHING_MUTED = f"Nothing is muted. {MUTE_USAGE}"
MUTED_NOW = "Muted; `/aks check` still works:"


def cannot_mute(why: str) -> str:
    return f"I cannot mute that: {plain(why, 300)}. {MUTE_USAGE}"


def no_such_cluster(cluster: str) -> str:
    return f"there is no cluster {cluster[:80]}; /aks clusters lists them"


def nobody_may_mute(ask: str) -> str:
    return f"I cannot mute that: the policy lets nobody mute anything. Ask {plain(ask, 200)}."


def muted(name: str, cluster: str, until: datetime, reason: str) -> str:
    return f"{code(name)} on {code(cluster)} until {_moment(until)}: {plain(reason, 200)}"


def is_muted(name: str, cluster: str, until: datetime, reason: str) -> str:
    what = f"{code(name)} on {code(cluster)} is muted until {_moment(until)}"
    return f"{what}: {plain(reason, 200)}. `/aks check` still works."


def snoozed(names: list[str], cluster: str, until: datetime) -> str:
    what = ", ".join(map(code, names))
    return f"Muted until {_moment(until)}: {what} on {code(cluster)}. `/aks check` still works."


SNOOZE_REASON = "snoozed in its thread"


def unmuted(name: str, cluster: str) -> str:
    return f"{code(name)} on {code(cluster)} is not muted any more."


def was_not_muted(name: str, cluster: str) -> str:
    return f"{code(name)} on {code(cluster)} was not muted. {MUTE_USAGE}"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


# Alerts over HTTP.


def alert(title: str, source: str) -> str:
    return f":rotating_light: *{plain(title, 200)}* · {plain(source, 40)}"


def alerts_refused(count: int, most: int, largest: int) -> str:
    """Without a count where the request was too large to be read."""
    what = f"{count:,} alerts in one request were refused" if count else "A request with alerts was refused"
    why = f"at most {most:,} are taken in" if count else f"it has more than {largest // 1024} kB"
    return (
        f":warning: {what}: {why}. None of them is shown here, and who sends them does not try again: set `max_alerts` "
        "in the webhook of Alertmanager to fewer, or `group_by` more labels."
    )

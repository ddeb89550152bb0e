"""What is said about a message that somebody wants to have triaged."""

from __future__ import annotations

from bot.render.verdict import count
from bot.slack.kit.escaping import code, plain, sentence

TITLE = "Triage"
NO_TEXT = "There is no text in that message, so I cannot recognise anything in it."
UNKNOWN = "I recognise no problem in that message: no runbook knows its text."
NO_CLUSTER = "No cluster that you may look at is named in it. Which one shall I check?"
ONLY_RECOGNISED = "Recognised by its text alone; a check proves it, or finds something else."


def recognised(title: str, name: str) -> str:
    return f"*{plain(title, 300)}* · {code(name)}"


def whole_runbook(name: str) -> str:
    return f"`/aks runbook {plain(name, 100)}` shows what to do about it, once a check has proved it."


def named(clusters: list[str]) -> str:
    return f"It names {', '.join(code(cluster) for cluster in clusters)}."


def and_more(number: int) -> str:
    those = "that one" if number == 1 else "those"
    return f"It names {count(number, 'more cluster')}; say `/aks check &lt;cluster&gt;` for {those}."


def check(cluster: str) -> str:
    """A button's label: plain text."""
    return f"Check {cluster}"


def looking_at(cluster: str) -> str:
    return f"Checking {code(cluster)}: the answer comes in the thread of that message."


def no_fleet(what: str, why: str, do: str) -> str:
    return plain(f"So I cannot tell which cluster it names: {what}, {why}. {sentence(do)}.", 900)

"""The view of *Triage this*: what a message is about, and buttons to check the clusters it names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.slack.inbound import replies, triage_text
from bot.slack.kit import escaping
from bot.slack.kit.fleet_rows import value_of
from bot.slack.kit.message import AnswerMessages, Block, Message, Pressed, actions, button, context, section
from bot.triage.explain import explain
from bot.triage.named import named_clusters
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from runbooks.library import Library

CALLBACK = "triage_this"
CHECK = "triage_check"
"""The action ids are numbered: `triage_check_0`. The block's id holds the thread in which to answer."""
MOST_NAMED = 5


def triaged(
    pasted: str,
    library: Library,
    seen: Sequence[FleetMember] | Problem | Message,
    thread_ts: str,
) -> AnswerMessages:
    """`seen`: the clusters that the person may view, or why there are none."""
    head, thread = _recognised(pasted, library)
    blocks = [*head, *_clusters(pasted, seen, thread_ts)]
    return AnswerMessages(Message(_spoken(blocks), tuple(blocks)), thread)


def thread_of(block_id: str) -> str:
    return block_id.partition(":")[2]


def _recognised(pasted: str, library: Library) -> tuple[list[Block], tuple[Message, ...]]:
    if not pasted.strip():
        return [section(triage_text.NO_TEXT)], ()
    explanation = explain(pasted, library)
    if not explanation.matches:
        return [section(triage_text.UNKNOWN)], ()
    best = explanation.matches[0].runbook
    text = [section(triage_text.recognised(best.title, best.code)), context(triage_text.ONLY_RECOGNISED)]
    return text, (replies.recognised(explanation, briefly=True),)


def _clusters(pasted: str, seen: Sequence[FleetMember] | Problem | Message, thread_ts: str) -> list[Block]:
    if isinstance(seen, Message):
        return list(seen.blocks)
    if isinstance(seen, Problem):
        return [section(triage_text.no_fleet(seen.what, seen.why, seen.do))]
    named = named_clusters(pasted, seen)
    if not named:
        return list(replies.picker(seen, None, said=triage_text.NO_CLUSTER, thread_ts=thread_ts).blocks)
    shown = named[:MOST_NAMED]
    buttons = [_check(member, number, seen) for number, member in enumerate(shown)]
    more = [context(triage_text.and_more(len(named) - len(shown)))] if len(named) > len(shown) else []
    text = section(triage_text.named([member.name for member in shown]))
    return [text, actions(*buttons) | {"block_id": f"{CHECK}:{thread_ts}"}, *more]


def _check(member: FleetMember, number: int, seen: Sequence[FleetMember]) -> Block:
    value = value_of(member, seen)
    label = triage_text.check(member.name if value == member.name else f"{member.name} ({member.group})")
    return button(label, f"{CHECK}_{number}", Pressed("", value), primary=number == 0)


def _spoken(blocks: Sequence[Block]) -> str:
    """For notifications: the first sentence of each block."""
    text = [block["text"]["text"] for block in blocks if block["type"] == "section"]
    return escaping.fits(" ".join(text).replace("*", ""), 500)
